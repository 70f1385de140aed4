import VitrineImaging
import VitrineRuntime

/// Estimates how many dashes librsvg makes of a document's longest line, which it holds all at once.
struct SVGDashes {
  /// Measured with librsvg 2.54 and cairo 1.16.
  private static let bytesPerDash = 130
  /// The length assumed for a `stroke-dasharray` that cannot be read.
  private static let shortest = 0.1

  /// The length of a dash with its gap, of the shortest pattern in the document; `nil` without any.
  private var period: Double?
  /// An upper bound of the longest line's length, in the units of the dashes: transforms apply to both alike.
  private var length = 0.0

  /// The bytes of the dashes of the longest line.
  var byteCount: Int {
    guard let period else { return 0 }
    let count = length / period
    return count < 1e15 ? Int(count).multipliedSaturating(by: Self.bytesPerDash) : .max
  }

  /// Adds a start tag, or the text of a style sheet.
  mutating func add(_ text: ByteReader, isTag: Bool) {
    var start = text.firstOffset(of: "stroke-dasharray", from: 0)
    while let found = start {
      if let value = text.value(from: found + 16) { addPattern(text, from: value) }
      start = text.firstOffset(of: "stroke-dasharray", from: found + 16)
    }
    if isTag { length = max(length, Self.length(of: text)) }
  }

  private mutating func addPattern(_ text: ByteReader, from start: Int) {
    var numbers = SVGNumbers(text, from: start)
    if text.matches("none", at: numbers.offset) { return }
    var (sum, count) = (0.0, 0)
    while let number = numbers.next() {
      sum += abs(number)
      count += 1
      numbers.skipUnit()
    }
    if count == 0 { sum = Self.shortest }
    // Nothing but zeros is a line without dashes. A pattern of an odd number of lengths is repeated. Two lengths make a
    // dash.
    guard sum > 0 else { return }
    period = min(period ?? .infinity, count < 2 ? sum * 2 : sum * 2 / Double(count + count % 2))
  }

  /// Returns an upper bound of the length of a shape's outline.
  private static func length(of tag: ByteReader) -> Double {
    if let start = tag.attribute("d") { return SVGPath(tag, from: start).length }
    // The sides of a rectangle, the circumference of a circle, the differences of points.
    var numbers = SVGNumbers(tag)
    var sum = 0.0
    while numbers.find() {
      if let number = numbers.next() { sum += abs(number) }
    }
    return 2 * .pi * sum
  }
}

/// The length of a path's polygon of control points, which no curve of it exceeds.
private struct SVGPath {
  private(set) var length = 0.0
  private var (x, y) = (0.0, 0.0)
  private var (firstX, firstY) = (0.0, 0.0)
  /// The distance of the last control point, which smooth curves mirror.
  private var handle = 0.0

  init(_ text: ByteReader, from start: Int) {
    var numbers = SVGNumbers(text, from: start)
    var command = UInt8(ascii: "L")
    while let byte = text.byte(at: numbers.offset), byte != 0x22, byte != 0x27 {
      if byte | 0x20 == UInt8(ascii: "z") {
        move(firstX, firstY)
        numbers.offset += 1
      } else if byte >= 0x41, byte | 0x20 != UInt8(ascii: "e") {
        command = byte
        numbers.offset += 1
      } else if let number = numbers.next() {
        segment(command, number, &numbers)
        // Further points are ends of lines.
        if command | 0x20 == UInt8(ascii: "m") { command = command == UInt8(ascii: "m") ? 0x6C : 0x4C }
      } else {
        numbers.offset += 1
      }
    }
  }

  private mutating func segment(_ command: UInt8, _ first: Double, _ numbers: inout SVGNumbers) {
    let isRelative = command >= 0x61
    let (startX, startY) = isRelative ? (x, y) : (0, 0)
    switch command | 0x20 {
    case UInt8(ascii: "m"):
      // Nothing is drawn.
      (x, y) = (startX + first, startY + (numbers.next() ?? 0))
      (firstX, firstY) = (x, y)
    case UInt8(ascii: "h"): move(startX + first, y)
    case UInt8(ascii: "v"): move(x, startY + first)
    case UInt8(ascii: "a"):
      // The radii grow where they are too short for the distance.
      length += 4 * .pi * max(abs(first), abs(numbers.next() ?? 0))
      for _ in 0..<3 { _ = numbers.next() }
      let before = length
      move(startX + (numbers.next() ?? 0), startY + (numbers.next() ?? 0))
      length += 4 * .pi * (length - before)
    default:
      let lower = command | 0x20
      let pairs = lower == UInt8(ascii: "c") ? 3 : lower == UInt8(ascii: "s") || lower == UInt8(ascii: "q") ? 2 : 1
      let mirrored = lower == UInt8(ascii: "s") || lower == UInt8(ascii: "t") ? handle : 0
      length += 2 * mirrored
      var last = move(startX + first, startY + (numbers.next() ?? 0))
      for _ in 1..<pairs { last = move(startX + (numbers.next() ?? 0), startY + (numbers.next() ?? 0)) }
      handle = lower == UInt8(ascii: "t") ? mirrored + last : last
    }
  }

  /// Moves to a point, and returns how far away it was.
  @discardableResult
  private mutating func move(_ newX: Double, _ newY: Double) -> Double {
    let distance = abs(newX - x) + abs(newY - y)
    length += distance
    (x, y) = (newX, newY)
    return distance
  }
}
