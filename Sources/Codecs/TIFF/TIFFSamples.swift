import CVitrineTIFF
import VitrineImaging
import VitrineRuntime

/// How the samples of a page that libtiff does not convert, or not rightly, become red, green and blue.
struct TIFFSamples {
  private enum Kind {
    /// Floating point of 32 bits, of which 0 to 1 are taken as encoded values.
    case float(isGray: Bool, isWhiteZero: Bool)
    /// Cyan, magenta, yellow and black of 16 bits.
    case inks
    /// CIE L*a*b* (TIFF 6.0, section 23), or as ICC profiles have it.
    case lab(isICC: Bool)
  }

  private let kind: Kind
  /// The samples of a pixel, and their bytes.
  private let count: Int
  private let size: Int
  /// The index of the sample of coverage; `nil` without one.
  private let alpha: Int?

  /// Returns `nil` for a page that libtiff converts.
  init?(_ page: vitrine_tiff_info) {
    let bits = unsafe page.bits
    (count, size) = unsafe (Int(page.samples), Int(bits) / 8)
    let colors: Int
    switch unsafe (page.photometric, page.sample_format) {
    case (0, 3) where bits == 32, (1, 3) where bits == 32:
      (kind, colors) = unsafe (.float(isGray: true, isWhiteZero: page.photometric == 0), 1)
    case (2, 3) where bits == 32: (kind, colors) = (.float(isGray: false, isWhiteZero: false), 3)
    case (5, 1) where bits == 16: (kind, colors) = (.inks, 4)
    case (8, 1) where bits == 8 || bits == 16, (8, 2) where bits == 8 || bits == 16:
      (kind, colors) = (.lab(isICC: false), 3)
    case (9, 1) where bits == 8 || bits == 16: (kind, colors) = (.lab(isICC: true), 3)
    default: return nil
    }
    guard count >= colors, count <= 8, unsafe page.is_separate == 0 || count == 1 else { return nil }
    if case .inks = kind, unsafe page.ink_set != 1 { return nil }
    // 1 is premultiplied alpha, 2 is straight alpha.
    let hasAlpha = unsafe count > colors && page.extra_samples > 0 && [1, 2].contains(page.extra_sample)
    if case .inks = kind { alpha = nil } else { alpha = hasAlpha ? colors : nil }
  }

  var hasAlpha: Bool { alpha != nil }

  /// The bytes of a row of pixels.
  func rowSize(width: Int) -> Int { width.multipliedSaturating(by: count * size) }

  /// Converts the first `pixelCount` pixels from `samples` into `pixels`, as R, G, B, A in memory order.
  func convert(_ samples: Span<UInt8>, into pixels: inout [UInt32], count pixelCount: Int) {
    let stride = count * size
    for index in 0..<pixelCount {
      let pixel = samples.extracting(index * stride..<(index + 1) * stride)
      var color = color(pixel)
      if let alpha { color.w = coverage(pixel, alpha) }
      let (low, high) = (UInt32(color.x) | UInt32(color.y) << 8, UInt32(color.z) | UInt32(color.w) << 8)
      pixels[index] = UInt32(littleEndian: low | high << 16)
    }
  }

  private func color(_ pixel: Span<UInt8>) -> SIMD4<UInt8> {
    switch kind {
    case .float(let isGray, let isWhiteZero):
      let levels = SIMD4<UInt8>(
        Self.level(pixel, 0),
        Self.level(pixel, isGray ? 0 : 1),
        Self.level(pixel, isGray ? 0 : 2),
        255,
      )
      return isWhiteZero ? SIMD4(255 &- levels.x, 255 &- levels.y, 255 &- levels.z, 255) : levels
    case .inks:
      // As libtiff converts samples of 8 bits.
      let light = SIMD4<UInt32>(Self.light(pixel, 0), Self.light(pixel, 1), Self.light(pixel, 2), 255)
      let black = SIMD4<UInt32>(repeating: Self.light(pixel, 3))
      var color = SIMD4<UInt8>(truncatingIfNeeded: (light &* black) / 255)
      color.w = 255
      return color
    case .lab(let isICC): return Self.lab(pixel, size, isICC: isICC)
    }
  }

  private func coverage(_ pixel: Span<UInt8>, _ index: Int) -> UInt8 {
    if case .float = kind { return Self.level(pixel, index) }
    return size == 1 ? pixel[index] : UInt8((UInt32(Self.word(pixel, index)) * 255 + 32_767) / 65_535)
  }

  /// Loads a sample of 16 bits.
  private static func word(_ pixel: Span<UInt8>, _ index: Int) -> UInt16 {
    // Any bits are a number, and the span checks the bounds in every build.
    unsafe pixel.bytes.unsafeLoadUnaligned(fromByteOffset: 2 * index, as: UInt16.self)
  }

  /// Returns what an ink of 16 bits lets through, from 0 to 255.
  private static func light(_ pixel: Span<UInt8>, _ index: Int) -> UInt32 {
    255 - (UInt32(word(pixel, index)) * 255 + 32_767) / 65_535
  }

  /// Returns a sample of floating point as a level.
  private static func level(_ pixel: Span<UInt8>, _ index: Int) -> UInt8 {
    // Any bits are a number, and the span checks the bounds in every build.
    let value = unsafe pixel.bytes.unsafeLoadUnaligned(fromByteOffset: 4 * index, as: Float.self)
    // NaN fails both comparisons.
    return value >= 1 ? 255 : value > 0 ? UInt8(value * 255 + 0.5) : 0
  }

  // MARK: L*a*b*

  private static func lab(_ pixel: Span<UInt8>, _ size: Int, isICC: Bool) -> SIMD4<UInt8> {
    func number(_ index: Int) -> Float {
      let sample = size == 1 ? Int(pixel[index]) : Int(word(pixel, index))
      let (whole, unit): (Float, Float) = size == 1 ? (255, 1) : (isICC ? 65_280 : 65_535, 256)
      if index == 0 { return Float(sample) * 100 / whole }
      if isICC { return Float(sample) / unit - 128 }
      return Float(size == 1 ? Int(Int8(truncatingIfNeeded: sample)) : Int(Int16(truncatingIfNeeded: sample))) / unit
    }
    // CIE 15, 8.2.1: the white of D50, as ICC's connection space has it.
    let y = (number(0) + 16) / 116
    let cubed = SIMD3<Float>(y + number(1) / 500, y, y - number(2) / 200)
    let xyz = SIMD3<Float>(linear(cubed.x) * 0.96422, linear(cubed.y), linear(cubed.z) * 0.82521)
    // To the primaries of sRGB, adapted to D65 by Bradford's method.
    let rgb = SIMD3<Float>(
      3.1338561 * xyz.x - 1.6168667 * xyz.y - 0.4906146 * xyz.z,
      -0.9787684 * xyz.x + 1.9161415 * xyz.y + 0.0334540 * xyz.z,
      0.0719453 * xyz.x - 0.2289914 * xyz.y + 1.4052427 * xyz.z,
    )
    return SIMD4(encoded(rgb.x), encoded(rgb.y), encoded(rgb.z), 255)
  }

  private static func linear(_ value: Float) -> Float {
    value > 6 / 29 ? value * value * value : (value - 16 / 116) * 3 * (36 / 841)
  }

  /// Returns linear light as a level of sRGB (IEC 61966-2-1), clamped.
  private static func encoded(_ light: Float) -> UInt8 {
    levels[Int(min(1, max(0, light)) * Float(levels.count - 1) + 0.5)]
  }

  /// The levels of light in steps that are finer than the darkest levels are apart.
  private static let levels: [UInt8] = (0...16_384).map { step in
    let light = Double(step) / 16_384
    let value = light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
    return UInt8((value * 255).rounded())
  }
}
