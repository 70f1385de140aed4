import VitrineImaging
import VitrineRuntime

/// A drawing at the size at which it is drawn.
struct SVGCanvas {
  var byteCount: Int
  /// Pixels for a unit of the drawing's nominal size.
  var scales: (x: Double, y: Double)
}

/// Estimates the surface that librsvg draws a pattern's tile into, which may be larger than the picture.
///
/// Transforms, and the sizes of shapes other than rectangles, are not taken into account.
struct SVGPatterns {
  private struct Tile {
    var width: Double
    var height: Double
    /// Fractions of what is filled instead of the drawing's units.
    var isRelative: Bool
  }

  private var tiles: [Tile] = []
  private var (widest, highest) = (0.0, 0.0)
  /// The size of the drawing's own units: of its `viewBox`.
  private var view: (width: Double, height: Double)?

  /// Adds a start tag.
  mutating func add(_ tag: ByteReader) {
    if view == nil, let start = tag.attribute("viewBox") {
      var numbers = SVGNumbers(tag, from: start)
      let values = (0..<4).map { _ in numbers.next() ?? 0 }
      if values[2] > 0, values[3] > 0 { view = (values[2], values[3]) }
    }
    let (width, height) = (Self.number("width", tag), Self.number("height", tag))
    guard tag.isNamed("pattern") else {
      if tag.isNamed("rect") || tag.isNamed("image") || tag.isNamed("use") {
        (widest, highest) = (max(widest, width), max(highest, height))
      }
      return
    }
    tiles.append(Tile(width: width, height: height, isRelative: !tag.contains("userSpaceOnUse")))
  }

  /// Returns the bytes of the largest tile.
  func byteCount(_ canvas: SVGCanvas, nominal: (width: Double, height: Double)) -> Int {
    let units = view ?? nominal
    let (width, height) = (nominal.width * canvas.scales.x, nominal.height * canvas.scales.y)
    let scale = (x: width / units.width, y: height / units.height)
    let filled = (width: max(width, widest * scale.x), height: max(height, highest * scale.y))
    let areas = tiles.map { tile in
      let (x, y) = tile.isRelative ? (filled.width, filled.height) : (scale.x, scale.y)
      return Self.side(tile.width * x) * Self.side(tile.height * y)
    }
    // One more is made of it for the parts that repeat.
    return Int(8 * (areas.max() ?? 0))
  }

  /// Returns a surface's side, which cairo limits; numbers without an end count as that limit.
  private static func side(_ length: Double) -> Double { length < 32_766 ? length + 1 : 32_767 }

  private static func number(_ name: StaticString, _ tag: ByteReader) -> Double {
    guard let start = tag.attribute(name) else { return 0 }
    var numbers = SVGNumbers(tag, from: start)
    let number = abs(numbers.next() ?? 0)
    return tag.byte(at: numbers.offset) == UInt8(ascii: "%") ? number / 100 : number
  }
}
