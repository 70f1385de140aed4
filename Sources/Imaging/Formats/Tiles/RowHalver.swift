/// Averages blocks of 2x2 pixels of rows that arrive one after another.
///
/// Between levels, components are premultiplied and have six more bits, so that the levels of a pyramid do not add up
/// rounding errors: the average of any number of levels is within half of one 255th, and is rounded once. Blocks at the
/// right and bottom edges average the pixels that are there.
@safe
final class RowHalver {
  /// One in the components of rows of averages is this much.
  static let unit: UInt16 = 64

  private let width: Int
  private let height: Int
  // Owned: allocated in init, freed in deinit, used by one thread at a time.
  private let first: UnsafeMutableRawPointer
  private let averages: UnsafeMutablePointer<UInt16>
  private let bytesPerPixel: Int
  private let hasAlpha: Bool
  private var row = 0

  /// Makes a halver of `height` rows of `width` pixels: of bytes, or of the averages of another halver.
  init(width: Int, height: Int, ofBytes: Bool, hasAlpha: Bool) {
    (self.width, self.height, self.hasAlpha) = (width, height, hasAlpha)
    bytesPerPixel = ofBytes ? 4 : 8
    unsafe first = .allocate(byteCount: width * bytesPerPixel, alignment: 16)
    unsafe averages = .allocate(capacity: (width + 1) / 2 * 4)
  }

  deinit {
    unsafe first.deallocate()
    unsafe averages.deallocate()
  }

  private var outputWidth: Int { (width + 1) / 2 }

  /// The averages that the last call of ``push(_:)`` has completed.
  var output: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: averages, count: outputWidth * 8)
  }

  /// Adds a row; returns `true` if a row of averages is in ``output``.
  func push(_ pixels: UnsafeRawBufferPointer) -> Bool {
    precondition(pixels.count == width * bytesPerPixel && row < height)
    guard let start = pixels.baseAddress else { return false }
    let isFirst = row % 2 == 0
    row += 1
    if isFirst {
      // Both are one row.
      unsafe first.copyMemory(from: start, byteCount: pixels.count)
      guard row == height else { return false }
    }
    // Both rows are `width` pixels, and the averages half as many.
    if bytesPerPixel == 8 {
      unsafe averageShorts(first, start)
    } else if hasAlpha {
      unsafe averageStraightBytes(first, start)
    } else {
      unsafe averageBytes(first, start)
    }
    return true
  }

  private func averageBytes(_ top: UnsafeRawPointer, _ bottom: UnsafeRawPointer) {
    // Four bytes sum up to at most 1,020; 16 times that is 255 units.
    for x in 0..<width / 2 {
      let upper = unsafe top.loadUnaligned(fromByteOffset: x &* 8, as: SIMD8<UInt8>.self)
      let lower = unsafe bottom.loadUnaligned(fromByteOffset: x &* 8, as: SIMD8<UInt8>.self)
      let sum = SIMD8<UInt16>(truncatingIfNeeded: upper) &+ SIMD8<UInt16>(truncatingIfNeeded: lower)
      store((sum.lowHalf &+ sum.highHalf) &* 16, at: x)
    }
    guard width % 2 == 1 else { return }
    let offset = (width - 1) * 4
    let upper = unsafe top.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt8>.self)
    let lower = unsafe bottom.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt8>.self)
    let sum = SIMD4<UInt16>(truncatingIfNeeded: upper) &+ SIMD4<UInt16>(truncatingIfNeeded: lower)
    store(sum &* 32, at: width / 2)
  }

  private func averageStraightBytes(_ top: UnsafeRawPointer, _ bottom: UnsafeRawPointer) {
    for x in 0..<outputWidth {
      let (left, right) = (x * 8, min(x * 8 + 4, (width - 1) * 4))
      var sum = SIMD4<UInt32>()
      for offset in [left, right] {
        unsafe sum &+= weighted(top, offset)
        unsafe sum &+= weighted(bottom, offset)
      }
      // A colour times its coverage, four times.
      let average = (sum &* 16 &+ 127) / 255
      store(SIMD4<UInt16>(truncatingIfNeeded: average), at: x)
    }
  }

  /// Returns a pixel of a row: its colours times its coverage, and 255 times its coverage.
  @inline(__always)
  private func weighted(_ row: UnsafeRawPointer, _ offset: Int) -> SIMD4<UInt32> {
    // The caller has checked that a pixel lies there.
    let pixel = unsafe row.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt8>.self)
    let wide = SIMD4<UInt32>(truncatingIfNeeded: pixel)
    return SIMD4(wide.x, wide.y, wide.z, 255) &* wide.w
  }

  private func averageShorts(_ top: UnsafeRawPointer, _ bottom: UnsafeRawPointer) {
    // Four components sum up to at most 4 * 255 * 64, which fits.
    for x in 0..<width / 2 {
      let upper = unsafe top.loadUnaligned(fromByteOffset: x &* 16, as: SIMD8<UInt16>.self)
      let lower = unsafe bottom.loadUnaligned(fromByteOffset: x &* 16, as: SIMD8<UInt16>.self)
      let sum = upper &+ lower
      store((sum.lowHalf &+ sum.highHalf &+ 2) &>> 2, at: x)
    }
    guard width % 2 == 1 else { return }
    let offset = (width - 1) * 8
    let upper = unsafe top.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt16>.self)
    let lower = unsafe bottom.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt16>.self)
    store((upper &+ lower &+ 1) &>> 1, at: width / 2)
  }

  @inline(__always)
  private func store(_ average: SIMD4<UInt16>, at x: Int) {
    // A pixel of the output, by the loops above.
    unsafe UnsafeMutableRawPointer(averages).storeBytes(of: average, toByteOffset: x &* 8, as: SIMD4<UInt16>.self)
  }

  /// Rounds averages to bytes of straight alpha; `target` has as many pixels as `averages`.
  static func round(_ averages: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer, hasAlpha: Bool) {
    precondition(averages.count == 2 * target.count)
    guard hasAlpha else {
      var offset = 0
      while offset &+ 8 <= target.count {
        // Eight components lie there by the line above.
        let some = unsafe averages.loadUnaligned(fromByteOffset: 2 &* offset, as: SIMD8<UInt16>.self)
        unsafe target.storeBytes(of: bytes(some), toByteOffset: offset, as: SIMD8<UInt8>.self)
        offset = offset &+ 8
      }
      if offset < target.count {
        let some = unsafe averages.loadUnaligned(fromByteOffset: 2 * offset, as: SIMD4<UInt16>.self)
        unsafe target.storeBytes(of: bytes(some), toByteOffset: offset, as: SIMD4<UInt8>.self)
      }
      return
    }
    for offset in stride(from: 0, to: target.count, by: 4) {
      // The stride keeps a pixel within both.
      let pixel = unsafe averages.loadUnaligned(fromByteOffset: 2 * offset, as: SIMD4<UInt16>.self)
      var color = SIMD4<UInt8>()
      let coverage = UInt32(pixel.w)
      if coverage > 0 {
        let wide = SIMD4<UInt32>(truncatingIfNeeded: pixel)
        let straight = (wide &* 255 &+ coverage / 2) / coverage
        color = SIMD4<UInt8>(truncatingIfNeeded: pointwiseMin(straight, SIMD4(repeating: 255)))
        color.w = UInt8(truncatingIfNeeded: (pixel.w &+ 32) &>> 6)
        if color.w == 0 { color = SIMD4() }
      }
      unsafe target.storeBytes(of: color, toByteOffset: offset, as: SIMD4<UInt8>.self)
    }
  }

  @inline(__always)
  private static func bytes(_ averages: SIMD8<UInt16>) -> SIMD8<UInt8> {
    SIMD8<UInt8>(truncatingIfNeeded: (averages &+ 32) &>> 6)
  }

  @inline(__always)
  private static func bytes(_ averages: SIMD4<UInt16>) -> SIMD4<UInt8> {
    SIMD4<UInt8>(truncatingIfNeeded: (averages &+ 32) &>> 6)
  }
}
