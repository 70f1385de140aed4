import VitrineRuntime

/// A picture in about 25 bytes, to show while the image loads.
///
/// ```swift
/// let hash = ThumbHash(thumbnail)
/// page.placeholder = hash.base64             // "1QcSHQRnh493V4dIh4eXh1h4kJUI"
///
/// let placeholder = try ThumbHash(base64: text).bitmap
/// ```
/// It keeps the aspect ratio, the average colour, the coarse shapes and transparency: a few coefficients of a cosine
/// transform, four bits each. The format is Evan Wallace's, <https://evanw.github.io/thumbhash/>.
public struct ThumbHash: Hashable, Sendable, CustomStringConvertible {
  /// The bytes, at most 25.
  public let bytes: [UInt8]

  /// The longer side of ``bitmap``.
  private static let shownSide = 32.0

  /// Checks a hash of unknown origin.
  ///
  /// - Throws: ``ImageError`` of code `.corrupt`, if the bytes are no hash: too few, too many, or without a shape.
  public init(bytes: some Sequence<UInt8>) throws(ImageError) {
    // One more than the longest hash, so that a stranger's bytes are not all read.
    self.bytes = Array(bytes.prefix(26))
    guard self.bytes.count >= 5 else {
      throw ImageError(.corrupt, "a ThumbHash has at least 5 bytes, and these are \(self.bytes.count)")
    }
    let header = Header(self.bytes)
    guard (1...7).contains(header.shortSide), header.shortSide <= header.longSide || !header.hasAlpha else {
      throw ImageError(.corrupt, "a ThumbHash without a shape")
    }
    guard self.bytes.count == header.byteCount else {
      throw ImageError(.corrupt, "a ThumbHash of \(header.byteCount) bytes, and these are \(self.bytes.count)")
    }
  }

  /// Checks a hash in base64, with or without padding; `-` and `_` may stand for `+` and `/`.
  ///
  /// - Throws: ``ImageError`` of code `.corrupt`.
  public init(base64 text: String) throws(ImageError) {
    let digits = text.utf8.prefix(40).map { byte -> UInt8 in
      switch byte {
      case UInt8(ascii: "-"): UInt8(ascii: "+")
      case UInt8(ascii: "_"): UInt8(ascii: "/")
      default: byte
      }
    }
    let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - digits.count % 4) % 4)
    guard let data = Data(base64Encoded: Data(digits + padding)) else {
      throw ImageError(.corrupt, "the ThumbHash is not base64")
    }
    try self.init(bytes: data)
  }

  /// Makes the hash of an image.
  ///
  /// The image is resized to at most 100 pixels on its longer side, and at least 32 on the other if it has as many, and
  /// converted to sRGB first. Complexity: O(pixels).
  public init(_ bitmap: Bitmap) {
    bytes = Self.encode(bitmap.reducedForHashing().straightened(), of: (bitmap.width, bitmap.height))
  }

  /// The bytes in base64, with padding.
  public var base64: String { Data(bytes).base64EncodedString() }

  /// A Boolean value that indicates whether the image has transparent parts.
  package var hasAlpha: Bool { Header(bytes).hasAlpha }

  /// The approximate ratio of the image's width to its height.
  public var aspectRatio: Double {
    let header = Header(bytes)
    let ratio = Double(header.longSide) / Double(header.shortSide)
    return header.isLandscape ? ratio : 1 / ratio
  }

  /// The average colour of the visible pixels.
  public var averageColor: PixelColor {
    let header = Header(bytes)
    let alpha = header.hasAlpha ? Double(bytes[5] & 15) / 15 : 1
    let pixel = PixelMath.bytes(Self.color(header.l, header.p, header.q, alpha) * 255)
    return PixelColor(red: pixel.x, green: pixel.y, blue: pixel.z, alpha: pixel.w)
  }

  /// The picture, with 32 pixels on its longer side: enough to be enlarged smoothly.
  public var bitmap: Bitmap { decoded() }

  /// The ``base64``.
  public var description: String { base64 }
}

extension ThumbHash {
  /// The first five bytes.
  private struct Header {
    /// The averages of the lightness, from 0 to 1, and of yellow less blue and red less green, from -1 to 1.
    let l, p, q: Double
    let lScale, pScale, qScale: Double
    let hasAlpha: Bool
    let isLandscape: Bool
    /// The number of coefficients of lightness along the shorter side.
    let shortSide: Int

    init(_ bytes: [UInt8]) {
      let first = Int(bytes[0]) | Int(bytes[1]) << 8 | Int(bytes[2]) << 16
      let second = Int(bytes[3]) | Int(bytes[4]) << 8
      l = Double(first & 63) / 63
      p = Double(first >> 6 & 63) / 31.5 - 1
      q = Double(first >> 12 & 63) / 31.5 - 1
      lScale = Double(first >> 18 & 31) / 31
      hasAlpha = first >> 23 != 0
      shortSide = second & 7
      pScale = Double(second >> 3 & 63) / 63
      qScale = Double(second >> 9 & 63) / 63
      isLandscape = second >> 15 != 0
    }

    /// The same along the longer side.
    var longSide: Int { hasAlpha ? 5 : 7 }

    /// The coefficients of lightness, across and down; there are at least three each.
    var grid: Grid {
      let (long, short) = (max(3, longSide), max(3, shortSide))
      return isLandscape ? Grid(across: long, down: short) : Grid(across: short, down: long)
    }

    var byteCount: Int {
      let count = grid.places.count + 2 * Grid.color.places.count + (hasAlpha ? Grid.alpha.places.count : 0)
      return (hasAlpha ? 6 : 5) + (count + 1) / 2
    }
  }

  /// A triangle of coefficients of low frequencies.
  private struct Grid {
    let across: Int
    let down: Int

    static let color = Grid(across: 3, down: 3)
    static let alpha = Grid(across: 5, down: 5)

    /// The frequencies in order, without the average.
    var places: [(x: Int, y: Int)] {
      (0..<down).flatMap { y in
        // Row `y` has those with x / across + y / down below 1.
        ((y == 0 ? 1 : 0)..<across).filter { $0 * down < across * (down - y) }.map { (x: $0, y: y) }
      }
    }
  }

  /// Returns red, green, blue and alpha from 0 to 1.
  private static func color(_ l: Double, _ p: Double, _ q: Double, _ alpha: Double) -> SIMD4<Float> {
    let blue = l - 2 / 3 * p
    let red = (3 * l - blue + q) / 2
    let color = SIMD4(red, red - q, blue, alpha)
    return SIMD4<Float>(color.clamped(lowerBound: SIMD4(repeating: 0), upperBound: SIMD4(repeating: 1)))
  }

  /// Returns the cosines of the first frequencies at each place of a side.
  private static func cosines(_ frequencies: Int, _ count: Int) -> [[Double]] {
    (0..<frequencies).map { frequency in
      let step = Double.pi / Double(count) * Double(frequency)
      return (0..<count).map { cos(step * (Double($0) + 0.5)) }
    }
  }

  // MARK: Decoding

  private func decoded() -> Bitmap {
    let header = Header(bytes)
    let ratio = aspectRatio
    let width = Int((ratio > 1 ? Self.shownSide : Self.shownSide * ratio).rounded())
    let height = Int((ratio > 1 ? Self.shownSide / ratio : Self.shownSide).rounded())
    var next = header.hasAlpha ? 12 : 10
    func coefficients(_ grid: Grid, _ scale: Double) -> [Double] {
      grid.places.map { _ in
        defer { next += 1 }
        return (Double(bytes[next / 2] >> UInt8(next % 2 * 4) & 15) / 7.5 - 1) * scale
      }
    }
    let l = coefficients(header.grid, header.lScale)
    // More colour than was measured makes up for losses by rounding.
    let p = coefficients(.color, header.pScale * 1.25)
    let q = coefficients(.color, header.qScale * 1.25)
    let alpha = header.hasAlpha ? Double(bytes[5] & 15) / 15 : 1
    let a = header.hasAlpha ? coefficients(.alpha, Double(bytes[5] >> 4) / 15) : []
    // All channels at once: the average, then the coefficients of each frequency across and down.
    var factors = [[SIMD4<Double>]](repeating: [SIMD4](repeating: SIMD4(), count: 7), count: 7)
    factors[0][0] = SIMD4(header.l, header.p, header.q, alpha)
    let channels = [
      (l, header.grid), (p, .color), (q, .color), (a, header.hasAlpha ? .alpha : Grid(across: 0, down: 0)),
    ]
    for (channel, (values, grid)) in channels.enumerated() {
      for (value, place) in zip(values, grid.places) { factors[place.y][place.x][channel] = 2 * value }
    }
    let (across, down) = (Self.cosines(7, width), Self.cosines(7, height))
    let kind: Bitmap.Alpha = header.hasAlpha ? .straight : .opaque
    return Bitmap.writing(width: width, height: height, alpha: kind, colorSpace: .sRGB) { pixels in
      var line = [SIMD4<Double>](repeating: SIMD4(), count: 7)
      for y in 0..<height {
        for x in 0..<7 {
          line[x] = SIMD4()
          for frequency in 0..<7 { line[x] += factors[frequency][x] * down[frequency][y] }
        }
        for x in 0..<width {
          var sum = SIMD4<Double>()
          for frequency in 0..<7 { sum += line[frequency] * across[frequency][x] }
          let color = Self.color(sum.x, sum.y, sum.z, sum.w)
          pixels.store(PixelMath.bytes(color * 255), at: (y * width + x) * 4)
        }
      }
    }
  }

  // MARK: Encoding

  /// The coefficients of one channel, those after the average from 0 to 1.
  private struct Channel {
    var mean = 0.0
    var scale = 0.0
    var values: [Double] = []

    init(_ levels: [Double], width: Int, height: Int, _ grid: Grid) {
      let (across, down) = (cosines(grid.across, width), cosines(grid.down, height))
      func coefficient(_ place: (x: Int, y: Int)) -> Double {
        var sum = 0.0
        for y in 0..<height {
          var line = 0.0
          for x in 0..<width { line += levels[y * width + x] * across[place.x][x] }
          sum += line * down[place.y][y]
        }
        return sum / Double(width * height)
      }
      mean = coefficient((0, 0))
      let found = grid.places.map(coefficient)
      scale = found.map(abs).max() ?? 0
      values = found.map { scale > 0 ? 0.5 + 0.5 / scale * $0 : $0 }
    }
  }

  /// The image is small, with straight alpha or opaque, and stands for one of another size.
  private static func encode(_ bitmap: Bitmap, of size: (width: Int, height: Int)) -> [UInt8] {
    let (width, height) = (bitmap.width, bitmap.height)
    let pixels = (0..<height).flatMap { y in (0..<width).map { SIMD4<Double>(bitmap[$0, y]) / 255 } }
    // Colours count as far as they are visible.
    let total = pixels.reduce(SIMD4<Double>()) { $0 + SIMD4($1.x * $1.w, $1.y * $1.w, $1.z * $1.w, $1.w) }
    let average = total.w > 0 ? total / total.w : SIMD4()
    let hasAlpha = pixels.contains { $0.w < 1 }
    let colors = pixels.map { pixel in
      var color = average * (1 - pixel.w) + pixel * pixel.w
      color.w = pixel.w
      return color
    }
    let most = hasAlpha ? 5 : 7
    func side(_ length: Int) -> Int {
      max(1, Int((Double(most * length) / Double(max(size.width, size.height))).rounded()))
    }
    let (across, down) = (side(size.width), side(size.height))
    let grid = Grid(across: max(3, across), down: max(3, down))
    func channel(_ grid: Grid, _ level: (SIMD4<Double>) -> Double) -> Channel {
      Channel(colors.map(level), width: width, height: height, grid)
    }
    let l = channel(grid) { ($0.x + $0.y + $0.z) / 3 }
    let p = channel(.color) { ($0.x + $0.y) / 2 - $0.z }
    let q = channel(.color) { $0.x - $0.y }
    let a = hasAlpha ? channel(.alpha) { $0.w } : nil
    func bits(_ value: Double, _ most: Double, _ shift: Int) -> Int {
      Int(min(max(value.rounded(), 0), most)) << shift
    }
    let isLandscape = size.width > size.height
    let first =
      bits(63 * l.mean, 63, 0) | bits(31.5 + 31.5 * p.mean, 63, 6) | bits(31.5 + 31.5 * q.mean, 63, 12)
      | bits(31 * l.scale, 31, 18) | (hasAlpha ? 1 << 23 : 0)
    let second =
      (isLandscape ? down : across) | bits(63 * p.scale, 63, 3) | bits(63 * q.scale, 63, 9)
      | (isLandscape ? 1 << 15 : 0)
    var bytes = [first, first >> 8, first >> 16, second, second >> 8].map { UInt8(truncatingIfNeeded: $0) }
    if let a { bytes.append(UInt8(bits(15 * a.mean, 15, 0) | bits(15 * a.scale, 15, 4))) }
    for (index, value) in (l.values + p.values + q.values + (a?.values ?? [])).enumerated() {
      let digit = UInt8(bits(15 * value, 15, 0))
      if index % 2 == 0 { bytes.append(digit) } else { bytes[bytes.count - 1] |= digit << 4 }
    }
    return bytes
  }
}
