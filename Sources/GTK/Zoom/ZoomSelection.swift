import Vitrine

/// The part of a picture that the user chooses: a rectangle in pixels of the upright picture, with fractions.
struct ZoomSelection: Equatable {
  /// A rectangle in any pixels.
  struct Box: Equatable {
    var left: Double
    var top: Double
    var right: Double
    var bottom: Double

    var width: Double { right - left }
    var height: Double { bottom - top }
  }

  /// The edges that are moved together; none for all of the rectangle.
  struct Edges: OptionSet {
    let rawValue: Int

    static let left = Edges(rawValue: 1)
    static let top = Edges(rawValue: 2)
    static let right = Edges(rawValue: 4)
    static let bottom = Edges(rawValue: 8)

    /// The shape of the pointer over them, by its name in style sheets.
    var cursor: String {
      switch self {
      case [.left], [.right]: "ew-resize"
      case [.top], [.bottom]: "ns-resize"
      case [.left, .top], [.right, .bottom]: "nwse-resize"
      case [.right, .top], [.left, .bottom]: "nesw-resize"
      default: "move"
      }
    }
  }

  /// The beginning of a drag.
  struct Grip {
    let edges: Edges
    /// The rectangle at the beginning, on the screen.
    let box: Box
  }

  /// The distance from an edge at which it is gripped, in points.
  static let reach = 12.0

  var box: Box

  /// Returns the part in whole pixels of a picture, at least one.
  func part(ofWidth width: Int, height: Int) -> PixelRegion {
    let (x, y) = (min(Int(box.left.rounded()), width - 1), min(Int(box.top.rounded()), height - 1))
    return PixelRegion(
      x: x,
      y: y,
      width: max(1, min(Int(box.right.rounded()), width) - x),
      height: max(1, min(Int(box.bottom.rounded()), height) - y),
    )
  }
}

extension ZoomSelection.Box {
  init(_ one: ZoomGeometry.Point, _ other: ZoomGeometry.Point) {
    self.init(
      left: min(one.x, other.x),
      top: min(one.y, other.y),
      right: max(one.x, other.x),
      bottom: max(one.y, other.y),
    )
  }

  /// Returns the edges within reach of a point; `nil` if it is farther outside.
  func edges(at point: ZoomGeometry.Point, reach: Double) -> ZoomSelection.Edges? {
    guard point.x >= left - reach, point.x <= right + reach, point.y >= top - reach, point.y <= bottom + reach else {
      return nil
    }
    var edges: ZoomSelection.Edges = []
    // A small rectangle can be moved, too.
    let (across, down) = (min(reach, width / 3), min(reach, height / 3))
    if point.x < left + across { edges.insert(.left) } else if point.x > right - across { edges.insert(.right) }
    if point.y < top + down { edges.insert(.top) } else if point.y > bottom - down { edges.insert(.bottom) }
    return edges
  }

  /// Returns the rectangle moved by a distance, within bounds.
  func moved(x: Double, y: Double, within bounds: Self) -> Self {
    let across = min(max(x, bounds.left - left), bounds.right - right)
    let down = min(max(y, bounds.top - top), bounds.bottom - bottom)
    return Self(left: left + across, top: top + down, right: right + across, bottom: bottom + down)
  }

  /// Returns the rectangle with some edges moved by a distance, within bounds.
  ///
  /// - Parameters:
  ///   - edges: The edges; none for all.
  ///   - x: The distance to the right.
  ///   - y: The distance downwards.
  ///   - bounds: The bounds.
  ///   - least: The least width and height.
  ///   - ratio: The width over the height; `nil` for any.
  /// - Returns: The rectangle.
  func dragged(
    _ edges: ZoomSelection.Edges,
    x: Double,
    y: Double,
    within bounds: Self,
    least: Double,
    ratio: Double?,
  ) -> Self {
    guard !edges.isEmpty else { return moved(x: x, y: y, within: bounds) }
    var new = self
    let (wide, high) = (min(least, bounds.width), min(least, bounds.height))
    if edges.contains(.left) { new.left = max(bounds.left, min(left + x, right - wide)) }
    if edges.contains(.right) { new.right = min(bounds.right, max(right + x, left + wide)) }
    if edges.contains(.top) { new.top = max(bounds.top, min(top + y, bottom - high)) }
    if edges.contains(.bottom) { new.bottom = min(bounds.bottom, max(bottom + y, top + high)) }
    guard let ratio else { return new }
    return new.shaped(ratio, edges, within: bounds)
  }

  /// Returns the rectangle with a ratio, after its edges were moved: the other edges give way, from the middle for a single edge.
  private func shaped(_ ratio: Double, _ edges: ZoomSelection.Edges, within bounds: Self) -> Self {
    let (isAcross, isDown) = (!edges.isDisjoint(with: [.left, .right]), !edges.isDisjoint(with: [.top, .bottom]))
    // The room that the rectangle has, from the edges that stay.
    let middle = ((left + right) / 2, (top + bottom) / 2)
    let roomAcross =
      isAcross
      ? (edges.contains(.left) ? right - bounds.left : bounds.right - left)
      : 2 * min(middle.0 - bounds.left, bounds.right - middle.0)
    let roomDown =
      isDown
      ? (edges.contains(.top) ? bottom - bounds.top : bounds.bottom - top)
      : 2 * min(middle.1 - bounds.top, bounds.bottom - middle.1)
    let wanted = isAcross && isDown ? max(width, height * ratio) : isAcross ? width : height * ratio
    let wide = min(wanted, roomAcross, roomDown * ratio)
    let high = wide / ratio
    var new = self
    if !isAcross {
      (new.left, new.right) = (middle.0 - wide / 2, middle.0 + wide / 2)
    } else if edges.contains(.left) {
      new.left = right - wide
    } else {
      new.right = left + wide
    }
    if !isDown {
      (new.top, new.bottom) = (middle.1 - high / 2, middle.1 + high / 2)
    } else if edges.contains(.top) {
      new.top = bottom - high
    } else {
      new.bottom = top + high
    }
    return new
  }

  /// Returns a rectangle of a ratio around the same place, of the same area where the bounds have room for that.
  func reshaped(_ ratio: Double, within bounds: Self) -> Self {
    let wide = min((width * height * ratio).squareRoot(), bounds.width, bounds.height * ratio)
    let (x, y) = ((left + right) / 2, (top + bottom) / 2)
    let new = Self(left: x - wide / 2, top: y - wide / ratio / 2, right: x + wide / 2, bottom: y + wide / ratio / 2)
    return new.moved(x: 0, y: 0, within: bounds)
  }
}
