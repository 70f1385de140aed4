import CVitrineKernels

// Pixels in fixed-point numbers of 16 bits: levels times 128.
extension PixelKernels {
  /// Adds weighted rows, element by element, and divides by 16,384.
  ///
  /// `count`, a multiple of four, is the number of elements of a row; `taps`, an even number, is the number of rows and
  /// weights. Elements are at least 0, and the weights add up to 16,384 at most.
  func combine(
    _ rows: UnsafeMutablePointer<UnsafeRawPointer?>,
    weights: UnsafePointer<Int16>,
    taps: Int,
    into line: UnsafeMutablePointer<Int16>,
    count: Int,
  ) {
    if isNative {
      unsafe vitrine_combine_shorts(rows, weights, taps, line, count)
      return
    }
    let target = UnsafeMutableRawPointer(line)
    var index = 0
    // All loaded elements are within the rows, whose length is a multiple of four.
    while index &+ 16 <= count {
      var sum = SIMD16<Int32>(repeating: 1 << 13)
      for tap in 0..<taps {
        guard let row = unsafe rows[tap] else { continue }
        let values = unsafe row.loadUnaligned(fromByteOffset: index &* 2, as: SIMD16<Int16>.self)
        unsafe sum &+= SIMD16<Int32>(truncatingIfNeeded: values) &* Int32(weights[tap])
      }
      let result = SIMD16<Int16>(truncatingIfNeeded: sum &>> 14)
      unsafe target.storeBytes(of: result, toByteOffset: index &* 2, as: SIMD16<Int16>.self)
      index &+= 16
    }
    while index < count {
      var sum = SIMD4<Int32>(repeating: 1 << 13)
      for tap in 0..<taps {
        guard let row = unsafe rows[tap] else { continue }
        let values = unsafe row.loadUnaligned(fromByteOffset: index &* 2, as: SIMD4<Int16>.self)
        unsafe sum &+= SIMD4<Int32>(truncatingIfNeeded: values) &* Int32(weights[tap])
      }
      let result = SIMD4<Int16>(truncatingIfNeeded: sum &>> 14)
      unsafe target.storeBytes(of: result, toByteOffset: index &* 2, as: SIMD4<Int16>.self)
      index &+= 4
    }
  }

  /// Converts bytes to multiples of 1/128, if wanted colours times their coverage.
  static func widen(
    _ source: UnsafeRawBufferPointer,
    into line: UnsafeMutablePointer<Int16>,
    count: Int,
    premultiplies: Bool,
  ) {
    guard let start = source.baseAddress else { return }
    let target = UnsafeMutableRawPointer(line)
    var x = 0
    // `count` pixels of four elements on both sides.
    while !premultiplies, x &+ 4 <= count {
      let values = unsafe start.loadUnaligned(fromByteOffset: x &* 4, as: SIMD16<UInt8>.self)
      let wide = SIMD16<Int16>(truncatingIfNeeded: values) &<< 7
      unsafe target.storeBytes(of: wide, toByteOffset: x &* 8, as: SIMD16<Int16>.self)
      x &+= 4
    }
    while x < count {
      let pixel = unsafe start.loadUnaligned(fromByteOffset: x &* 4, as: SIMD4<UInt8>.self)
      var wide = SIMD4<Int32>(truncatingIfNeeded: pixel) &<< 7
      if premultiplies {
        let alpha = wide.w
        wide = (wide &* Int32(pixel.w) &+ 127) / 255
        wide.w = alpha
      }
      unsafe target.storeBytes(of: SIMD4<Int16>(truncatingIfNeeded: wide), toByteOffset: x &* 8, as: SIMD4<Int16>.self)
      x &+= 1
    }
  }

  /// Converts multiples of 1/128 to floats.
  static func widen(_ source: UnsafeMutablePointer<Int16>, into line: UnsafeMutablePointer<Float>, count: Int) {
    let (source, target) = (UnsafeRawPointer(source), UnsafeMutableRawPointer(line))
    for x in 0..<count {
      // `count` pixels of four elements on both sides.
      let pixel = unsafe source.loadUnaligned(fromByteOffset: x &* 8, as: SIMD4<Int16>.self)
      unsafe target.storeBytes(of: SIMD4<Float>(pixel) * (1 / 128), toByteOffset: x &* 16, as: SIMD4<Float>.self)
    }
  }

  /// Rounds opaque pixels to bytes.
  static func round(_ source: UnsafeMutablePointer<Int16>, into output: UnsafeMutableRawPointer, count: Int) {
    let source = UnsafeRawPointer(source)
    let opaque = SIMD4<UInt8>(0, 0, 0, 255)
    let fourOpaque = SIMD16(
      lowHalf: SIMD8(lowHalf: opaque, highHalf: opaque),
      highHalf: SIMD8(lowHalf: opaque, highHalf: opaque),
    )
    var x = 0
    // `count` pixels of four elements on both sides.
    while x &+ 4 <= count {
      let values = unsafe source.loadUnaligned(fromByteOffset: x &* 8, as: SIMD16<Int16>.self)
      let bytes = SIMD16<UInt8>(truncatingIfNeeded: (values &+ 64) &>> 7)
      unsafe output.storeBytes(of: bytes | fourOpaque, toByteOffset: x &* 4, as: SIMD16<UInt8>.self)
      x &+= 4
    }
    while x < count {
      let values = unsafe source.loadUnaligned(fromByteOffset: x &* 8, as: SIMD4<Int16>.self)
      let bytes = SIMD4<UInt8>(truncatingIfNeeded: (values &+ 64) &>> 7)
      unsafe output.storeBytes(of: bytes | opaque, toByteOffset: x &* 4, as: SIMD4<UInt8>.self)
      x &+= 1
    }
  }

  /// Moves straight colours away from those of blurred pixels, which are premultiplied floats of 0 to 255.
  ///
  /// Differences below `threshold` do not count. The contents of `line` are lost.
  static func sharpen(
    _ old: UnsafeRawBufferPointer,
    _ line: UnsafeMutablePointer<Float>,
    amount: Float,
    threshold: Float,
    into output: UnsafeMutableRawPointer,
    count: Int,
    layout: PixelLayout,
  ) {
    guard let start = old.baseAddress else { return }
    let source = UnsafeMutableRawPointer(line)
    if layout == .colorAndAlpha { unsafe straighten(source, count: count) }
    let coverage = SIMD4<UInt8>(0, 0, 0, 255)
    let fourCoverages = SIMD16(
      lowHalf: SIMD8(lowHalf: coverage, highHalf: coverage),
      highHalf: SIMD8(lowHalf: coverage, highHalf: coverage),
    )
    var x = 0
    // `count` pixels of four elements in all three.
    while x &+ 4 <= count {
      let pixels = unsafe start.loadUnaligned(fromByteOffset: x &* 4, as: SIMD16<UInt8>.self)
      let around = unsafe source.loadUnaligned(fromByteOffset: x &* 16, as: SIMD16<Float>.self)
      let color = SIMD16<Float>(pixels)
      let difference = color - around
      let size = difference.replacing(with: -difference, where: difference .< 0)
      let bytes = rounded(color + (difference * amount).replacing(with: 0, where: size .< threshold))
      let result = (bytes & ~fourCoverages) | (pixels & fourCoverages)
      unsafe output.storeBytes(of: result, toByteOffset: x &* 4, as: SIMD16<UInt8>.self)
      x &+= 4
    }
    while x < count {
      let pixel = unsafe start.loadUnaligned(fromByteOffset: x &* 4, as: SIMD4<UInt8>.self)
      let around = unsafe source.loadUnaligned(fromByteOffset: x &* 16, as: SIMD4<Float>.self)
      let color = SIMD4<Float>(pixel)
      let difference = color - around
      let size = difference.replacing(with: -difference, where: difference .< 0)
      var result = rounded(color + (difference * amount).replacing(with: 0, where: size .< threshold))
      result.w = pixel.w
      unsafe output.storeBytes(of: result, toByteOffset: x &* 4, as: SIMD4<UInt8>.self)
      x &+= 1
    }
  }
}
