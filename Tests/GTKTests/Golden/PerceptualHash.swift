import Foundation
import Vitrine
import VitrineTesting

/// What a picture looks like in 250 bits and its mean colour, after "pHash" (Zauner, 2010).
///
/// The picture is shrunk to 32x32 pixels, as brightness and two differences of colour. Of each plane's cosine transform
/// the lowest coefficients have two bits: whether each is clearly above zero, and whether it is clearly below. So
/// plain surfaces have stable bits too, and colours count, unlike with one bit for each.
struct PerceptualHash: Equatable {
  private(set) var bits: [Bool]
  /// Red, green and blue, from 0 to 255.
  private(set) var mean: [Int]

  private static let side = 32
  /// The absolute value above which a coefficient counts: waves of less than one level do not.
  private static let threshold = 16.0
  /// The coefficients of a plane: columns and rows from the lowest.
  private static let ranges = [(columns: 8, rows: 8), (columns: 8, rows: 4), (columns: 8, rows: 4)]

  /// Makes the hash of an opaque picture.
  init(_ bitmap: Bitmap) {
    let pixels = Self.shrink(bitmap)
    let count = Double(pixels.count)
    let sum = pixels.reduce(SIMD3<Double>(repeating: 0), +)
    mean = [sum.x, sum.y, sum.z].map { Int(($0 / count).rounded()) }
    let brightness = pixels.map { 0.299 * $0.x + 0.587 * $0.y + 0.114 * $0.z }
    let blue = zip(pixels, brightness).map { $0.z - $1 }
    let red = zip(pixels, brightness).map { $0.x - $1 }
    bits = zip([brightness, blue, red], Self.ranges).flatMap { plane, range in
      (0..<range.rows).flatMap { row in
        (0..<range.columns).flatMap { column -> [Bool] in
          // The mean is kept apart.
          guard row + column > 0 else { return [] }
          let value = Self.coefficient(plane, column, row)
          return [value > Self.threshold, value < -Self.threshold]
        }
      }
    }
  }

  /// Reads a line of a file; `nil` if it is no hash.
  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: " ")
    guard parts.count == 2, parts[1].count == 6, let color = Int(parts[1], radix: 16) else { return nil }
    let digits = parts[0].compactMap(\.hexDigitValue)
    guard digits.count == 63 else { return nil }
    bits = Array(digits.flatMap { digit in [8, 4, 2, 1].map { digit & $0 != 0 } }.prefix(250))
    mean = [color >> 16, color >> 8 & 255, color & 255]
  }

  /// The hash as a line of a file.
  var text: String {
    let padded = bits + [false, false]
    let digits = stride(from: 0, to: padded.count, by: 4).map { start in
      String(padded[start..<start + 4].reduce(0) { $0 << 1 | ($1 ? 1 : 0) }, radix: 16)
    }
    return digits.joined() + " " + String(format: "%02x%02x%02x", mean[0], mean[1], mean[2])
  }

  /// The differences that go unnoticed: edges that are smoothed another way, other roundings.
  static let tolerance = (bits: 8, mean: 3)

  /// Returns the number of bits and of levels of the mean in which two hashes differ.
  func distance(to other: PerceptualHash) -> (bits: Int, mean: Int) {
    (zip(bits, other.bits).count { $0 != $1 }, zip(mean, other.mean).map { abs($0 - $1) }.max() ?? 0)
  }

  /// True if the pictures look the same.
  func resembles(_ other: PerceptualHash) -> Bool {
    let distance = distance(to: other)
    return distance.bits <= Self.tolerance.bits && distance.mean <= Self.tolerance.mean
  }

  /// Returns the means of 32x32 parts of a picture.
  private static func shrink(_ bitmap: Bitmap) -> [SIMD3<Double>] {
    var parts = [SIMD3<Double>](repeating: .zero, count: side * side)
    var weights = [Double](repeating: 0, count: side * side)
    // A pixel on the border of parts belongs to all of them, by its share.
    let (columns, rows) = (shares(bitmap.width), shares(bitmap.height))
    for y in 0..<bitmap.height {
      for x in 0..<bitmap.width {
        let pixel = bitmap[x, y]
        let color = SIMD3(Double(pixel.x), Double(pixel.y), Double(pixel.z))
        for (row, height) in rows[y] {
          for (column, width) in columns[x] {
            parts[row * side + column] += color * (width * height)
            weights[row * side + column] += width * height
          }
        }
      }
    }
    return zip(parts, weights).map { $0 / $1 }
  }

  /// Returns, for each pixel of a line, the parts in which it lies, and how much of it.
  private static func shares(_ length: Int) -> [[(part: Int, share: Double)]] {
    let scale = Double(side) / Double(length)
    return (0..<length).map { pixel in
      let (start, end) = (Double(pixel) * scale, Double(pixel + 1) * scale)
      return (Int(start)...min(side - 1, Int(end))).compactMap { part in
        let share = min(end, Double(part + 1)) - max(start, Double(part))
        return share > 1e-9 ? (part, share) : nil
      }
    }
  }

  private static func coefficient(_ plane: [Double], _ column: Int, _ row: Int) -> Double {
    var sum = 0.0
    for y in 0..<side {
      for x in 0..<side { sum += plane[y * side + x] * cosines[column][x] * cosines[row][y] }
    }
    return sum
  }

  /// The orthonormal waves of the cosine transform.
  private static let cosines = (0..<8).map { wave in
    (0..<side).map { place in
      let height = ((wave == 0 ? 1.0 : 2.0) / Double(side)).squareRoot()
      return height * cos(Double.pi * (Double(place) + 0.5) * Double(wave) / Double(side))
    }
  }
}

/// What a picture of a widget looks like: as a whole, in its middle, where icons and rings are, and in a corner, which
/// shows its shape.
struct GoldenHash: Equatable {
  let parts: [PerceptualHash]

  /// Makes the hash of an opaque picture.
  init(_ picture: Bitmap) {
    let (width, height) = (picture.width, picture.height)
    parts = [
      PerceptualHash(picture),
      PerceptualHash(picture.part(x: width / 4, y: height / 4, width: width / 2, height: height * 3 / 4)),
      PerceptualHash(picture.part(x: 0, y: 0, width: width / 3, height: height / 3)),
    ]
  }

  /// Reads a line of a file; `nil` if it is no hash.
  init?(_ text: some StringProtocol) {
    let words = text.split(separator: " ")
    let parts = stride(from: 0, to: words.count - 1, by: 2).map { PerceptualHash("\(words[$0]) \(words[$0 + 1])") }
    guard words.count == 6, !parts.contains(nil) else { return nil }
    self.parts = parts.compactMap(\.self)
  }

  /// The hash as a line of a file.
  var text: String { parts.map(\.text).joined(separator: " ") }

  /// True if the pictures look the same.
  func resembles(_ other: GoldenHash) -> Bool { zip(parts, other.parts).allSatisfy { $0.resembles($1) } }

  /// The differences in bits and in levels of the mean colours.
  func differences(from other: GoldenHash) -> String {
    zip(["the whole", "its middle", "its corner"], zip(parts, other.parts)).map { name, pair in
      let distance = pair.0.distance(to: pair.1)
      return "\(name): \(distance.bits) bits, \(distance.mean) levels"
    }.joined(separator: "; ")
  }
}

extension Bitmap {
  fileprivate func part(x: Int, y: Int, width: Int, height: Int) -> Bitmap {
    .pixels(width: width, height: height, alpha: alpha) { self[x + $0, y + $1] }
  }
}
