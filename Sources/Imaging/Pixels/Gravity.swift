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

  /// Returns the place of a part of an image, or of an image on a canvas, in whole pixels.
  ///
  /// Halves are rounded to even numbers. A smart gravity counts as the centre here.
  ///
  /// - Parameters:
  ///   - part: The size of the part.
  ///   - whole: The size of the image or the canvas.
  ///   - ratio: The factor of distances of 1 and more. Defaults to 1.
  ///   - overflows: A Boolean value that indicates whether the part may reach beyond the edges. Defaults to `false`.
  /// - Returns: The position of the part's first pixel.
  func origin(
    of part: (width: Double, height: Double),
    in whole: (width: Double, height: Double),
    ratio: Double = 1,
    overflows: Bool = false,
  ) -> (x: Double, y: Double) {
    let (x, y): (Double, Double)
    switch self {
    case .focus(let focusX, let focusY):
      x = Self.even(whole.width * focusX) - (part.width / 2).rounded(.down)
      y = Self.even(whole.height * focusY) - (part.height / 2).rounded(.down)
    case .place(let place, let offsetX, let offsetY):
      let anchor = place.anchor
      x = Self.origin(part.width, whole.width, anchor.x, Self.distance(offsetX, whole.width, ratio))
      y = Self.origin(part.height, whole.height, anchor.y, Self.distance(offsetY, whole.height, ratio))
    case .smart:
      x = Self.origin(part.width, whole.width, 0.5, 0)
      y = Self.origin(part.height, whole.height, 0.5, 0)
    }
    func clamped(_ value: Double, _ part: Double, _ whole: Double) -> Double {
      overflows ? min(max(value, 1 - part), whole - 1) : max(0, min(value, whole - part))
    }
    return (clamped(x, part.width, whole.width), clamped(y, part.height, whole.height))
  }

  private static func origin(_ part: Double, _ whole: Double, _ anchor: Double, _ distance: Double) -> Double {
    switch anchor {
    case 0: distance
    case 1: whole - part - distance
    default: even((whole - part + 1) / 2) + distance
    }
  }

  /// Returns a distance in pixels; below 1 it is a fraction.
  static func distance(_ distance: Double, _ side: Double, _ ratio: Double) -> Double {
    even(abs(distance) < 1 ? distance * side : distance * ratio)
  }

  static func even(_ number: Double) -> Double { number.rounded(.toNearestOrEven) }

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
