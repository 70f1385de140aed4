/// The inner loops over pixels.
///
/// Every caller has checked that the memory it passes is as long as `count` says.
///
/// They are plain loops over unsafe pointers with vector types, which compile to what C compiles to: checked spans cost
/// four times as much here (7.4 ms against 27.8 for 8 megapixels).
enum PixelKernels {
  /// Adds bytes to sums.
  ///
  /// A sum holds 65,536 rows and more.
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

  /// Averages sums over blocks of `factor` pixels, the last perhaps of fewer, to floats from 0 to 255.
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
        // Below 2^31 for up to 33,000 rows of 65,025: as signed numbers they convert in one instruction.
        let value = unsafe source.loadUnaligned(fromByteOffset: x &* 16, as: SIMD4<Int32>.self)
        sum += SIMD4<Float>(value)
        x &+= 1
      }
      unsafe target.storeBytes(of: sum * scale, toByteOffset: output &* 16, as: SIMD4<Float>.self)
      output &+= 1
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

  /// Adds a weighted line to another.
  static func accumulate(
    _ line: UnsafeMutablePointer<Float>,
    weight: Float,
    into sums: UnsafeMutablePointer<Float>,
    count: Int,
  ) {
    let source = UnsafeRawPointer(line)
    let target = UnsafeMutableRawPointer(sums)
    var index = 0
    while index &+ 8 <= count {
      let value = unsafe source.loadUnaligned(fromByteOffset: index &* 4, as: SIMD8<Float>.self)
      let old = unsafe target.loadUnaligned(fromByteOffset: index &* 4, as: SIMD8<Float>.self)
      unsafe target.storeBytes(of: old + value * weight, toByteOffset: index &* 4, as: SIMD8<Float>.self)
      index &+= 8
    }
    while index < count {
      unsafe sums[index] += line[index] * weight
      index &+= 1
    }
  }

  /// Filters a line across and rounds it to RGBA with straight alpha.
  static func filter(
    _ line: UnsafeMutablePointer<Float>,
    weights: FilterWeights,
    into output: UnsafeMutableRawPointer,
    count: Int,
    hasAlpha: Bool,
  ) {
    let source = UnsafeRawPointer(line)
    unsafe weights.weights.withUnsafeBufferPointer { taps in
      for x in 0..<count {
        let start = weights.starts[x]
        let first = x &* weights.stride
        var sum = SIMD4<Float>()
        for tap in 0..<weights.counts[x] {
          // `starts` plus `counts` stays within the line, by how the weights were made.
          unsafe sum +=
            source.loadUnaligned(fromByteOffset: (start &+ tap) &* 16, as: SIMD4<Float>.self) * taps[first &+ tap]
        }
        if hasAlpha {
          let coverage = sum.w
          sum = coverage < 0.5 ? SIMD4<Float>() : sum * (255 / coverage)
          sum.w = coverage
        }
        var pixel = rounded(sum)
        if !hasAlpha { pixel.w = 255 }
        unsafe output.storeBytes(of: pixel, toByteOffset: x &* 4, as: SIMD4<UInt8>.self)
      }
    }
  }

  /// Clamps to 0...255 and rounds to the nearest.
  ///
  /// Adding 1.5 * 2^23 leaves the rounded number in a float's last bits; the conversions of the standard library are
  /// not vectorised.
  @inline(__always)
  private static func rounded(_ value: SIMD4<Float>) -> SIMD4<UInt8> {
    let atLeast = value.replacing(with: 0, where: value .< 0)
    let clamped = atLeast.replacing(with: 255, where: atLeast .> 255) + 12_582_912
    // Four floats and four integers of 32 bits have the same size.
    return SIMD4<UInt8>(truncatingIfNeeded: unsafe unsafeBitCast(clamped, to: SIMD4<UInt32>.self))
  }
}
