import CVitrineKernels

/// The inner loops over pixels.
///
/// Every caller checks that the memory it passes is as long as `count` says.
///
/// They are plain loops over unsafe pointers with vector types, which compile to the same code as C. Checked spans
/// cost four times as much here (27.8 ms against 7.4 for 8 megapixels). With AVX2 the two slowest run in C, 1.6 and
/// 3.3 times as fast. The loops here are for all other processors and give the same bits.
struct PixelKernels {
  /// The fastest kernels for this processor.
  static let best = PixelKernels(isNative: vitrine_kernels_are_native() != 0)
  /// The Swift loops on every processor, for tests.
  static let scalar = PixelKernels(isNative: false)

  let isNative: Bool

  /// True if rows should stay bytes until they are added.
  ///
  /// With AVX2 the conversion is one instruction; without it each tap needs a conversion that takes four times as
  /// long as the addition.
  var prefersBytes: Bool { isNative }

  /// The element type of the rows of ``combine(_:of:weights:taps:into:count:)``.
  enum Element {
    case byte, short, float

    var size: Int {
      switch self {
      case .byte: 1
      case .short: 2
      case .float: 4
      }
    }
  }

  /// Adds weighted rows of bytes or floats, element by element: the filter along columns.
  ///
  /// `count`, a multiple of four, is the number of elements of a row; `taps` is the number of rows and weights.
  func combine(
    _ rows: UnsafeMutablePointer<UnsafeRawPointer?>,
    of element: Element,
    weights: UnsafePointer<Float>,
    taps: Int,
    into line: UnsafeMutablePointer<Float>,
    count: Int,
  ) {
    if isNative {
      switch element {
      case .byte: unsafe vitrine_combine_bytes(rows, weights, taps, line, count)
      case .short: preconditionFailure("weights of shorts are shorts")
      case .float: unsafe vitrine_combine_floats(rows, weights, taps, line, count)
      }
      return
    }
    // All loaded elements are within the rows, whose length is a multiple of four.
    switch element {
    case .byte:
      unsafe Self.combine(rows, weights, taps, line, count, size: element.size) {
        unsafe SIMD16<Float>($0.loadUnaligned(as: SIMD16<UInt8>.self))
      } four: {
        unsafe SIMD4<Float>($0.loadUnaligned(as: SIMD4<UInt8>.self))
      }
    case .short: preconditionFailure("weights of shorts are shorts")
    case .float:
      unsafe Self.combine(rows, weights, taps, line, count, size: element.size) {
        unsafe $0.loadUnaligned(as: SIMD16<Float>.self)
      } four: {
        unsafe $0.loadUnaligned(as: SIMD4<Float>.self)
      }
    }
  }

  @inline(__always)
  private static func combine(
    _ rows: UnsafeMutablePointer<UnsafeRawPointer?>,
    _ weights: UnsafePointer<Float>,
    _ taps: Int,
    _ line: UnsafeMutablePointer<Float>,
    _ count: Int,
    size: Int,
    sixteen: (UnsafeRawPointer) -> SIMD16<Float>,
    four: (UnsafeRawPointer) -> SIMD4<Float>,
  ) {
    let target = UnsafeMutableRawPointer(line)
    var index = 0
    while index &+ 16 <= count {
      var sum = SIMD16<Float>()
      for tap in 0..<taps {
        guard let row = unsafe rows[tap] else { continue }
        unsafe sum += sixteen(row + index &* size) * weights[tap]
      }
      unsafe target.storeBytes(of: sum, toByteOffset: index &* 4, as: SIMD16<Float>.self)
      index &+= 16
    }
    while index < count {
      var sum = SIMD4<Float>()
      for tap in 0..<taps {
        guard let row = unsafe rows[tap] else { continue }
        unsafe sum += four(row + index &* size) * weights[tap]
      }
      unsafe target.storeBytes(of: sum, toByteOffset: index &* 4, as: SIMD4<Float>.self)
      index &+= 4
    }
  }

  /// Adds weighted pixels of a line: the filter along rows.
  ///
  /// `count` is the number of pixels of `output`.
  func filterAcross(
    _ line: UnsafeMutablePointer<Float>,
    weights: FilterWeights,
    into output: UnsafeMutablePointer<Float>,
    count: Int,
  ) {
    let source = UnsafeRawPointer(line)
    let target = UnsafeMutableRawPointer(output)
    unsafe weights.weights.withUnsafeBufferPointer { taps in
      guard let firstTap = taps.baseAddress else { return }
      if isNative {
        unsafe vitrine_filter_across(line, weights.starts, weights.counts, firstTap, weights.stride, output, count)
        return
      }
      for x in 0..<count {
        // `starts` plus `counts` stays within the line, by the construction of the weights.
        let pixels = unsafe source + weights.starts[x] &* 16
        let first = unsafe firstTap + x &* weights.stride
        let most = weights.counts[x]
        var (even, odd) = (SIMD4<Float>(), SIMD4<Float>())
        var tap = 0
        while tap &+ 2 <= most {
          unsafe even += pixels.loadUnaligned(fromByteOffset: tap &* 16, as: SIMD4<Float>.self) * first[tap]
          unsafe odd += pixels.loadUnaligned(fromByteOffset: tap &* 16 &+ 16, as: SIMD4<Float>.self) * first[tap &+ 1]
          tap &+= 2
        }
        if tap < most {
          unsafe even += pixels.loadUnaligned(fromByteOffset: tap &* 16, as: SIMD4<Float>.self) * first[tap]
        }
        unsafe target.storeBytes(of: even + odd, toByteOffset: x &* 16, as: SIMD4<Float>.self)
      }
    }
  }
}

// Loops that take little time have no version in C.
extension PixelKernels {
  /// Adds bytes to sums.
  ///
  /// A sum has room for 65,536 rows and more.
  static func add(_ source: UnsafeRawBufferPointer, into sums: UnsafeMutablePointer<UInt32>, count: Int) {
    guard let start = source.baseAddress else { return }
    let target = UnsafeMutableRawPointer(sums)
    var index = 0
    while index &+ 16 <= count {
      let bytes = unsafe start.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
      let old = unsafe target.loadUnaligned(fromByteOffset: index &* 4, as: SIMD16<UInt32>.self)
      unsafe target.storeBytes(
        of: old &+ SIMD16<UInt32>(truncatingIfNeeded: bytes),
        toByteOffset: index &* 4,
        as: SIMD16<UInt32>.self,
      )
      index &+= 16
    }
    while index < count {
      unsafe sums[index] &+= UInt32(start.load(fromByteOffset: index, as: UInt8.self))
      index &+= 1
    }
  }

  /// Adds colours times their coverage, and coverage times 255, to sums, pixel by pixel.
  static func addPremultiplied(_ source: UnsafeRawBufferPointer, into sums: UnsafeMutablePointer<UInt32>, count: Int) {
    guard let start = source.baseAddress else { return }
    let target = UnsafeMutableRawPointer(sums)
    for index in 0..<count {
      let pixel = SIMD4<UInt32>(
        truncatingIfNeeded: unsafe start.loadUnaligned(fromByteOffset: index &* 4, as: SIMD4<UInt8>.self)
      )
      var factor = SIMD4<UInt32>(repeating: pixel.w)
      factor.w = 255
      let old = unsafe target.loadUnaligned(fromByteOffset: index &* 16, as: SIMD4<UInt32>.self)
      unsafe target.storeBytes(of: old &+ pixel &* factor, toByteOffset: index &* 16, as: SIMD4<UInt32>.self)
    }
  }

  /// Averages sums over blocks of `factor` pixels (the last may be smaller) to floats from 0 to 255.
  static func average(
    _ sums: UnsafeMutablePointer<UInt32>,
    width: Int,
    factor: Int,
    rows: Int,
    into line: UnsafeMutablePointer<Float>,
    isPremultiplied: Bool,
  ) {
    let source = UnsafeRawPointer(sums)
    let target = UnsafeMutableRawPointer(line)
    let unit: Float = isPremultiplied ? 1 / 255 : 1
    var x = 0
    var output = 0
    while x < width {
      let end = min(x &+ factor, width)
      let scale = unit / Float((end &- x) &* rows)
      var sum = SIMD4<Float>()
      while x < end {
        // Below 2^31 for up to 33,000 rows of 65,025, so they convert in one instruction as signed numbers.
        let value = unsafe source.loadUnaligned(fromByteOffset: x &* 16, as: SIMD4<Int32>.self)
        sum += SIMD4<Float>(value)
        x &+= 1
      }
      unsafe target.storeBytes(of: sum * scale, toByteOffset: output &* 16, as: SIMD4<Float>.self)
      output &+= 1
    }
  }

  /// Averages sums in floats over blocks of `factor` pixels; the last may be smaller.
  static func average(
    _ sums: UnsafeMutablePointer<Float>,
    width: Int,
    factor: Int,
    rows: Int,
    into line: UnsafeMutablePointer<Float>,
  ) {
    let source = UnsafeRawPointer(sums)
    let target = UnsafeMutableRawPointer(line)
    for (output, start) in Swift.stride(from: 0, to: width, by: factor).enumerated() {
      let end = min(start + factor, width)
      var sum = SIMD4<Float>()
      for x in start..<end { unsafe sum += source.loadUnaligned(fromByteOffset: x &* 16, as: SIMD4<Float>.self) }
      unsafe target.storeBytes(
        of: sum / Float((end - start) * rows),
        toByteOffset: output &* 16,
        as: SIMD4<Float>.self,
      )
    }
  }

  /// Converts bytes to floats.
  static func widen(_ source: UnsafeRawBufferPointer, into line: UnsafeMutablePointer<Float>, count: Int) {
    guard let start = source.baseAddress else { return }
    for index in 0..<count &* 4 {
      unsafe line[index] = Float(start.load(fromByteOffset: index, as: UInt8.self))
    }
  }

  /// Converts bytes to floats, colours times their coverage.
  static func premultiply(_ source: UnsafeRawBufferPointer, into line: UnsafeMutablePointer<Float>, count: Int) {
    guard let start = source.baseAddress else { return }
    let target = UnsafeMutableRawPointer(line)
    for index in 0..<count {
      let pixel = SIMD4<Float>(unsafe start.loadUnaligned(fromByteOffset: index &* 4, as: SIMD4<UInt8>.self))
      var factor = SIMD4<Float>(repeating: pixel.w / 255)
      factor.w = 1
      unsafe target.storeBytes(of: pixel * factor, toByteOffset: index &* 16, as: SIMD4<Float>.self)
    }
  }

  /// Adds linear light of 0 to 255, times coverage if there is any, to sums.
  static func addLinear(
    _ source: UnsafeRawBufferPointer,
    into sums: UnsafeMutablePointer<Float>,
    count: Int,
    hasAlpha: Bool,
  ) {
    guard let start = source.baseAddress else { return }
    let target = UnsafeMutableRawPointer(sums)
    unsafe TransferCurve.sRGB.levels.withUnsafeBufferPointer { table in
      for index in 0..<count {
        let pixel = unsafe start.loadUnaligned(fromByteOffset: index &* 4, as: SIMD4<UInt8>.self)
        // A byte is below the table's 256.
        var light = unsafe SIMD4(table[Int(pixel.x)], table[Int(pixel.y)], table[Int(pixel.z)], 1)
        light *= hasAlpha ? Float(pixel.w) : 255
        let old = unsafe target.loadUnaligned(fromByteOffset: index &* 16, as: SIMD4<Float>.self)
        unsafe target.storeBytes(of: old + light, toByteOffset: index &* 16, as: SIMD4<Float>.self)
      }
    }
  }

  /// Rounds pixels of 0 to 255 to bytes with straight alpha; the contents of `line` are lost.
  static func round(
    _ line: UnsafeMutablePointer<Float>,
    into output: UnsafeMutableRawPointer,
    count: Int,
    layout: PixelLayout,
  ) {
    let source = UnsafeMutableRawPointer(line)
    if layout == .colorAndAlpha { unsafe straighten(source, count: count) }
    let opaque = SIMD4<UInt8>(0, 0, 0, layout == .color ? 255 : 0)
    let fourOpaque = SIMD16(
      lowHalf: SIMD8(lowHalf: opaque, highHalf: opaque),
      highHalf: SIMD8(lowHalf: opaque, highHalf: opaque),
    )
    var x = 0
    // Four pixels at once take a fifth of the time of one by one: 0.4 ms against 2.3 for 0.6 megapixels.
    while x &+ 4 <= count {
      let value = unsafe source.loadUnaligned(fromByteOffset: x &* 16, as: SIMD16<Float>.self)
      unsafe output.storeBytes(of: rounded(value) | fourOpaque, toByteOffset: x &* 4, as: SIMD16<UInt8>.self)
      x &+= 4
    }
    while x < count {
      let value = unsafe source.loadUnaligned(fromByteOffset: x &* 16, as: SIMD4<Float>.self)
      unsafe output.storeBytes(of: rounded(value) | opaque, toByteOffset: x &* 4, as: SIMD4<UInt8>.self)
      x &+= 1
    }
  }

  /// Encodes linear light of 0 to 255 as bytes of sRGB with straight alpha.
  static func encode(
    _ line: UnsafeMutablePointer<Float>,
    into output: UnsafeMutableRawPointer,
    count: Int,
    hasAlpha: Bool,
  ) {
    let source = UnsafeRawPointer(line)
    unsafe TransferCurve.sRGB.encoded.withUnsafeBufferPointer { table in
      for x in 0..<count {
        var value = unsafe source.loadUnaligned(fromByteOffset: x &* 16, as: SIMD4<Float>.self)
        if hasAlpha { value = straightened(value) }
        let place = TransferCurve.place(value * (1 / 255))
        // An index is within the table.
        unsafe output.storeBytes(
          of: SIMD4(
            table[Int(place.x)],
            table[Int(place.y)],
            table[Int(place.z)],
            hasAlpha ? rounded(value).w : 255,
          ),
          toByteOffset: x &* 4,
          as: SIMD4<UInt8>.self,
        )
      }
    }
  }

  /// Divides colours by their coverage, in floats of 0 to 255.
  static func straighten(_ pixels: UnsafeMutableRawPointer, count: Int) {
    for x in 0..<count {
      // `count` pixels of four floats.
      let pixel = unsafe pixels.loadUnaligned(fromByteOffset: x &* 16, as: SIMD4<Float>.self)
      unsafe pixels.storeBytes(of: straightened(pixel), toByteOffset: x &* 16, as: SIMD4<Float>.self)
    }
  }

  @inline(__always)
  private static func straightened(_ value: SIMD4<Float>) -> SIMD4<Float> {
    let coverage = value.w
    var color = coverage < 0.5 ? SIMD4<Float>() : value * (255 / coverage)
    color.w = coverage
    return color
  }

  /// 1.5 * 2^23: adding it leaves the rounded number in a float's last bits.
  ///
  /// The conversions of the standard library are not vectorised.
  private static let roundingBias: Float = 12_582_912

  /// Clamps to 0...255 and rounds to the nearest.
  @inline(__always)
  static func rounded(_ value: SIMD16<Float>) -> SIMD16<UInt8> {
    let atLeast = value.replacing(with: 0, where: value .< 0)
    let clamped = atLeast.replacing(with: 255, where: atLeast .> 255) + roundingBias
    // Sixteen floats and sixteen integers of 32 bits have the same size.
    return SIMD16<UInt8>(truncatingIfNeeded: unsafe unsafeBitCast(clamped, to: SIMD16<UInt32>.self))
  }

  /// Clamps to 0...255 and rounds to the nearest.
  @inline(__always)
  static func rounded(_ value: SIMD4<Float>) -> SIMD4<UInt8> {
    let atLeast = value.replacing(with: 0, where: value .< 0)
    let clamped = atLeast.replacing(with: 255, where: atLeast .> 255) + roundingBias
    // Four floats and four integers of 32 bits have the same size.
    return SIMD4<UInt8>(truncatingIfNeeded: unsafe unsafeBitCast(clamped, to: SIMD4<UInt32>.self))
  }
}
