import VitrineRuntime

/// The radii of an image's four corners.
///
/// ```swift
/// .roundedCorners(radius: 16)
/// .roundedCorners(CornerRadii(topLeft: 16, topRight: 16))
/// ```
/// Fractions are of the shorter side. Radii that do not fit beside one another on a side shrink, all by the same
/// factor.
public struct CornerRadii: Hashable, Sendable, CustomStringConvertible {
  /// The radius of the top left corner.
  public var topLeft: Length
  /// The radius of the top right corner.
  public var topRight: Length
  /// The radius of the bottom right corner.
  public var bottomRight: Length
  /// The radius of the bottom left corner.
  public var bottomLeft: Length

  /// Makes four equal radii.
  public init(_ radius: Length) {
    self.init(topLeft: radius, topRight: radius, bottomRight: radius, bottomLeft: radius)
  }

  /// Makes four radii, by default sharp corners.
  public init(
    topLeft: Length = .zero,
    topRight: Length = .zero,
    bottomRight: Length = .zero,
    bottomLeft: Length = .zero,
  ) {
    (self.topLeft, self.topRight, self.bottomRight, self.bottomLeft) = (topLeft, topRight, bottomRight, bottomLeft)
  }

  var all: [Length] { [topLeft, topRight, bottomRight, bottomLeft] }

  /// The radii, clockwise from the top left, or the only one: `16px`.
  public var description: String {
    Set(all).count == 1 ? topLeft.description : all.map(\.description).joined(separator: " ")
  }
}

/// A rectangle with rounded corners, in pixels.
///
/// The coverage of a pixel is the part of its area inside: exact along rows, the mean of 16 lines down.
struct RoundedRectangle {
  /// A part of a row in which coverage changes from pixel to pixel.
  struct Edge {
    var start: Int
    var coverage: [Float]
  }

  private let left: Double
  private let top: Double
  private let right: Double
  private let bottom: Double
  /// Clockwise from the top left.
  private let radii: [Double]

  /// Makes the shape of a whole image.
  init(_ radii: CornerRadii, width: Int, height: Int, _ context: ProcessingContext) throws(ImageError) {
    var lengths: [Double] = []
    for radius in radii.all { lengths.append(try context.pixels(radius, of: min(width, height), "radius")) }
    let (w, h) = (Double(width), Double(height))
    let sums = [
      (w, lengths[0] + lengths[1]), (w, lengths[2] + lengths[3]), (h, lengths[1] + lengths[2]),
      (h, lengths[3] + lengths[0]),
    ]
    let factor = sums.reduce(1) { $1.1 > $1.0 ? min($0, $1.0 / $1.1) : $0 }
    self.init(left: 0, top: 0, right: w, bottom: h, radii: lengths.map { $0 * factor })
  }

  private init(left: Double, top: Double, right: Double, bottom: Double, radii: [Double]) {
    (self.left, self.top, self.right, self.bottom, self.radii) = (left, top, right, bottom, radii)
  }

  /// Returns the shape inside, all around by `width` pixels; `nil` if nothing is left.
  func inset(by width: Double) -> RoundedRectangle? {
    guard right - left > 2 * width, bottom - top > 2 * width else { return nil }
    return RoundedRectangle(
      left: left + width,
      top: top + width,
      right: right - width,
      bottom: bottom - width,
      radii: radii.map { max(0, $0 - width) },
    )
  }

  /// True if it is the rectangle itself.
  var isSharp: Bool { radii.allSatisfy { $0 == 0 } }

  /// Fills `coverage`, one element a pixel, for a row of pixels; returns the pixels that are wholly inside.
  func cover(_ y: Int, _ coverage: inout [Float]) -> Range<Int> {
    for index in coverage.indices { coverage[index] = 0 }
    // Where a row has straight ends, one line says it all.
    let isStraight = straight.contains(Double(y)) && straight.contains(Double(y + 1))
    let count = isStraight ? 1 : 16
    let spans = (0..<count).compactMap { line in span(at: Double(y) + (Double(line) + 0.5) / Double(count)) }
    var (first, end) = (0, spans.count < count ? 0 : coverage.count)
    for span in spans {
      first = max(first, Int(span.lowerBound.rounded(.up)))
      end = min(end, Int(span.upperBound.rounded(.down)))
    }
    let inside = first..<max(first, end)
    for span in spans {
      let touched = Int(span.lowerBound.rounded(.down))..<min(coverage.count, Int(span.upperBound.rounded(.up)))
      // What is wholly inside comes afterwards.
      let left = touched.lowerBound..<min(max(touched.lowerBound, inside.lowerBound), touched.upperBound)
      let right = max(left.upperBound, min(inside.upperBound, touched.upperBound))..<touched.upperBound
      for part in [left, right] {
        for x in part {
          let length = min(Double(x + 1), span.upperBound) - max(Double(x), span.lowerBound)
          coverage[x] += Float(length / Double(count))
        }
      }
    }
    for x in inside { coverage[x] = 1 }
    return inside
  }

  /// The height at which both sides are straight.
  private var straight: ClosedRange<Double> {
    let (first, last) = (top + max(radii[0], radii[1]), bottom - max(radii[2], radii[3]))
    return first <= last ? first...last : first...first
  }

  /// Returns the part of a horizontal line that is inside.
  private func span(at y: Double) -> Range<Double>? {
    guard y > top, y < bottom else { return nil }
    func indent(_ upper: Double, _ lower: Double) -> Double {
      if y < top + upper { return upper - Self.half(upper, top + upper - y) }
      if y > bottom - lower { return lower - Self.half(lower, y - (bottom - lower)) }
      return 0
    }
    let (start, end) = (left + indent(radii[0], radii[3]), right - indent(radii[1], radii[2]))
    return start < end ? start..<end : nil
  }

  /// Half the chord of a circle at a distance from its centre.
  private static func half(_ radius: Double, _ distance: Double) -> Double {
    max(0, radius * radius - distance * distance).squareRoot()
  }
}
