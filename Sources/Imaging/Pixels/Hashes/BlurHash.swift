import VitrineRuntime

/// A blurred picture in some 30 characters, to show while the image loads.
///
/// ```swift
/// let hash = try BlurHash(thumbnail, columns: 4, rows: 3)
/// page.placeholder = hash.string             // "LEHV6nWB2yk8pyo0adR*.7kCMdnj"
///
/// let placeholder = try BlurHash(text).bitmap(width: 32, height: 24)
/// ```
/// It keeps a few coefficients of a cosine transform of light, in digits of base 83. It does not keep the aspect ratio,
/// nor transparency: ``ThumbHash`` does. The format is Wolt's, <https://blurha.sh>.
public struct BlurHash: Hashable, Sendable, CustomStringConvertible {
  /// The characters.
  public let string: String
  /// The number of components across, from 1 to 9.
  package let columns: Int
  /// The number of components down, from 1 to 9.
  package let rows: Int
  /// The values of the digits.
  private let digits: [Int]

  /// The longest side of a decoded hash, in pixels.
  private static let longestSide = 1024
  /// The digits of base 83, which need no escape in JSON.
  private static let alphabet = Array(
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8
  )
  private static let values: [UInt8: Int] = Dictionary(
    uniqueKeysWithValues: alphabet.enumerated().map { ($1, $0) }
  )

  /// Checks a hash of unknown origin.
  ///
  /// - Throws: ``ImageError`` of code `.corrupt`, if the text is no hash: an unknown character, the wrong length, or
  ///   a digit that is out of range.
  public init(_ string: String) throws(ImageError) {
    // The longest hash has 166 characters.
    let characters = Array(string.utf8.prefix(167))
    var digits: [Int] = []
    for character in characters {
      guard let digit = Self.values[character] else {
        throw ImageError(.corrupt, "the BlurHash has a character that is no digit of base 83")
      }
      digits.append(digit)
    }
    guard digits.count >= 6, digits[0] < 81 else {
      throw ImageError(.corrupt, "a BlurHash has at least 6 characters and at most 9x9 components")
    }
    (columns, rows) = (digits[0] % 9 + 1, digits[0] / 9 + 1)
    guard digits.count == 4 + 2 * columns * rows else {
      throw ImageError(
        .corrupt,
        "a BlurHash of \(columns)x\(rows) components has \(4 + 2 * columns * rows) characters, and not \(digits.count)",
      )
    }
    self.digits = digits
    self.string = string
    guard number(2, 4) < 1 << 24, (1..<columns * rows).allSatisfy({ number(4 + 2 * $0, 2) < 19 * 19 * 19 }) else {
      throw ImageError(.corrupt, "the BlurHash has a component that is out of range")
    }
  }

  /// Makes the hash of an image.
  ///
  /// The image is resized to at most 100 pixels on its longer side, and at least 32 on the other if it has as many,
  /// converted to sRGB and laid over white first.
  /// Complexity: O(pixels).
  ///
  /// - Parameters:
  ///   - bitmap: The image.
  ///   - columns: The number of components across. Defaults to 4.
  ///   - rows: The number of components down. Defaults to 3.
  /// - Throws: ``ImageError`` of code `.invalidSize`, if a number is not within 1...9.
  public init(_ bitmap: Bitmap, columns: Int = 4, rows: Int = 3) throws(ImageError) {
    guard (1...9).contains(columns), (1...9).contains(rows) else {
      throw ImageError(.invalidSize, "a BlurHash has 1 to 9 components on a side, and not \(columns)x\(rows)")
    }
    digits = Self.encode(bitmap.reducedForHashing().flattenedOverWhite(), columns, rows)
    string = String(decoding: digits.map { Self.alphabet[$0] }, as: UTF8.self)
    (self.columns, self.rows) = (columns, rows)
  }

  /// The average colour.
  public var averageColor: PixelColor { PixelColor(UInt32(number(2, 4))) }

  /// Returns the picture at a size.
  ///
  /// Complexity: O(pixels).
  ///
  /// - Parameters:
  ///   - width: The width in pixels, from 1 to 1,024.
  ///   - height: The height in pixels, from 1 to 1,024.
  ///   - punch: The factor of the contrast. Defaults to 1.
  /// - Returns: An opaque bitmap in sRGB.
  /// - Throws: ``ImageError`` of code `.invalidSize`.
  public func bitmap(width: Int, height: Int, punch: Double = 1) throws(ImageError) -> Bitmap {
    guard (1...Self.longestSide).contains(width), (1...Self.longestSide).contains(height) else {
      throw ImageError(
        .invalidSize,
        "a BlurHash is shown at 1 to \(Self.longestSide) pixels, and not \(width)x\(height)",
      )
    }
    guard abs(punch) < 1e6 else {
      throw ImageError(.invalidSize, "the factor of the contrast, \(punch), is not between -1000000 and 1000000")
    }
    let light = components(punch)
    let (across, down) = (Self.cosines(columns, width), Self.cosines(rows, height))
    return Bitmap.writing(width: width, height: height, alpha: .opaque, colorSpace: .sRGB) { pixels in
      for y in 0..<height {
        // The rows' components at this height.
        let line = (0..<columns).map { column in
          (0..<rows).reduce(SIMD4<Double>()) { $0 + light[$1 * columns + column] * down[$1][y] }
        }
        for x in 0..<width {
          var sum = SIMD4<Double>()
          for column in 0..<columns { sum += line[column] * across[column][x] }
          let color = SIMD4(Self.level(sum.x), Self.level(sum.y), Self.level(sum.z), 255)
          pixels.store(color, at: (y * width + x) * 4)
        }
      }
    }
  }

  /// The ``string``.
  public var description: String { string }
}

extension BlurHash {
  /// Returns the number that digits stand for.
  private func number(_ first: Int, _ count: Int) -> Int {
    digits[first..<first + count].reduce(0) { $0 * 83 + $1 }
  }

  /// Returns the components, in linear light.
  private func components(_ punch: Double) -> [SIMD4<Double>] {
    let most = Double(digits[1] + 1) / 166 * punch
    let average = averageColor
    return [Self.light(SIMD4(average.red, average.green, average.blue, 255))]
      + (1..<columns * rows).map { index in
        let number = number(4 + 2 * index, 2)
        let steps = SIMD4(Double(number / 361), Double(number / 19 % 19), Double(number % 19), 9) / 9 - 1
        return SIMD4(Self.squared(steps.x), Self.squared(steps.y), Self.squared(steps.z), 0) * most
      }
  }

  private static func encode(_ bitmap: Bitmap, _ columns: Int, _ rows: Int) -> [Int] {
    let (width, height) = (bitmap.width, bitmap.height)
    let (across, down) = (cosines(columns, width), cosines(rows, height))
    var components = [SIMD4<Double>](repeating: SIMD4(), count: columns * rows)
    for y in 0..<height {
      let line = (0..<width).map { light(bitmap[$0, y]) }
      for column in 0..<columns {
        var sum = SIMD4<Double>()
        for x in 0..<width { sum += line[x] * across[column][x] }
        for row in 0..<rows { components[row * columns + column] += sum * down[row][y] }
      }
    }
    for index in components.indices { components[index] *= (index == 0 ? 1 : 2) / Double(width * height) }
    let rest = components.dropFirst()
    let most = rest.map { max(abs($0.x), abs($0.y), abs($0.z)) }.max() ?? 0
    let step = min(max(Int((most * 166 - 0.5).rounded(.down)), 0), 82)
    var digits = [columns - 1 + (rows - 1) * 9, rest.isEmpty ? 0 : step]
    func append(_ number: Int, _ count: Int) {
      let divisors = (0..<count).reversed().map { power in (0..<power).reduce(1) { product, _ in product * 83 } }
      digits += divisors.map { number / $0 % 83 }
    }
    let average = components[0]
    append(Int(level(average.x)) << 16 | Int(level(average.y)) << 8 | Int(level(average.z)), 4)
    let unit = Double(step + 1) / 166
    for component in rest {
      func nineteenth(_ value: Double) -> Int {
        let part = value / unit
        let root = part < 0 ? -(-part).squareRoot() : part.squareRoot()
        return min(max(Int((root * 9 + 9.5).rounded(.down)), 0), 18)
      }
      append((nineteenth(component.x) * 19 + nineteenth(component.y)) * 19 + nineteenth(component.z), 2)
    }
    return digits
  }

  /// Returns the cosines of the first frequencies at each place of a side, which the format measures from its start.
  private static func cosines(_ frequencies: Int, _ count: Int) -> [[Double]] {
    (0..<frequencies).map { frequency in
      (0..<count).map { cos(.pi * Double(frequency) * Double($0) / Double(count)) }
    }
  }

  private static func squared(_ value: Double) -> Double { value < 0 ? -value * value : value * value }

  private static func light(_ pixel: SIMD4<UInt8>) -> SIMD4<Double> {
    let levels = TransferCurve.sRGB.levels
    return SIMD4(Double(levels[Int(pixel.x)]), Double(levels[Int(pixel.y)]), Double(levels[Int(pixel.z)]), 1)
  }

  /// The light from which on each level but the first is the nearest.
  private static let starts = (0..<255).map { level in
    let middle = (Double(level) + 0.5) / 255
    return middle <= 0.04045 ? middle / 12.92 : pow((middle + 0.055) / 1.055, 2.4)
  }

  /// Encodes light as sRGB.
  private static func level(_ light: Double) -> UInt8 {
    // A search in a table takes a tenth of the time of a power.
    var level = 0
    for step in [128, 64, 32, 16, 8, 4, 2, 1] where light >= starts[level + step - 1] { level += step }
    return UInt8(level)
  }
}
