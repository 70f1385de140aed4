/// The part of an image that stays, or the place of an image on a larger one.
package enum Gravity: Sendable, Hashable {
  /// An edge, a corner or the centre, by the name that imgproxy gives it.
  package enum Place: String, Sendable, Hashable, CaseIterable {
    case center = "ce"
    case top = "no"
    case bottom = "so"
    case right = "ea"
    case left = "we"
    case topRight = "noea"
    case topLeft = "nowe"
    case bottomRight = "soea"
    case bottomLeft = "sowe"

    /// Finds the place with imgproxy's name, or with the initials of a compass: `se` is `soea`.
    package init?(name: String) {
      let place = Place(rawValue: name) ?? Place.allCases.first { $0.initials == name }
      guard let place else { return nil }
      self = place
    }

    /// The first letters of the syllables of the name.
    private var initials: String {
      rawValue.enumerated().reduce(into: "") { if $1.offset % 2 == 0 { $0.append($1.element) } }
    }

    /// The place as a point of the unit square.
    package var anchor: Anchor {
      Anchor(
        x: rawValue.hasSuffix("we") ? 0 : rawValue.hasSuffix("ea") ? 1 : 0.5,
        y: rawValue.hasPrefix("no") ? 0 : rawValue.hasPrefix("so") ? 1 : 0.5,
      )
    }
  }

  /// A place and a distance from there: towards the inside, or from the centre to the right and down.
  ///
  /// Distances below 1 are fractions of the width and the height.
  case place(Place, x: Double, y: Double)
  /// The point around which the image is cropped, as fractions of its width and height.
  case focus(x: Double, y: Double)
  /// The part that shows the most.
  case smart

  /// The centre.
  package static let center = Gravity.place(.center, x: 0, y: 0)

  /// The gravity in the syntax of URLs.
  var text: String {
    switch self {
    case .place(let place, let x, let y) where (x, y) == (0, 0): place.rawValue
    case .place(let place, let x, let y): "\(place.rawValue):\(DecimalText.of(x)):\(DecimalText.of(y))"
    case .focus(let x, let y): "fp:\(DecimalText.of(x)):\(DecimalText.of(y))"
    case .smart: "sm"
    }
  }
}
