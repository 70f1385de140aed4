import CVitrineKernels

// The filters of PNG's rows (W3C PNG, third edition, chapter 9), from pixels of four bytes.
extension PixelKernels {
  /// Adds what each filter leaves of pixels, as the sum of the sizes of signed bytes: the measure that the
  /// specification proposes for choosing one (chapter 12, "Filter selection").
  ///
  /// The pixels before `row` and `above` must be readable: they are the neighbours of the first ones. `components` is
  /// the number of bytes of a pixel that count: 1 (red), 2 (red and alpha), 3 or 4. `sums` are five numbers, one for
  /// each filter.
  func addFilterSums(
    _ row: UnsafePointer<UInt8>,
    above: UnsafePointer<UInt8>,
    pixels: Int,
    components: Int,
    to sums: UnsafeMutablePointer<UInt64>,
  ) {
    let mask = Self.mask(components)
    if isNative {
      // A pixel is the mask's four bytes.
      unsafe vitrine_filter_sums(row, above, pixels, unsafeBitCast(mask, to: UInt32.self), sums)
      return
    }
    let half = SIMD8(lowHalf: mask, highHalf: mask)
    let four = SIMD16(lowHalf: half, highHalf: half)
    // All loaded bytes are those of `pixels` pixels, and of the one before them. Constants, so that each loop has one
    // filter.
    unsafe Self.addSizes(row, above, pixels, four, to: sums) { Self.residual($0, 0) }
    unsafe Self.addSizes(row, above, pixels, four, to: sums + 1) { Self.residual($0, 1) }
    unsafe Self.addSizes(row, above, pixels, four, to: sums + 2) { Self.residual($0, 2) }
    unsafe Self.addSizes(row, above, pixels, four, to: sums + 3) { Self.residual($0, 3) }
    unsafe Self.addSizes(row, above, pixels, four, to: sums + 4) { Self.residual($0, 4) }
  }

  /// Writes what a filter leaves of pixels.
  ///
  /// The pixels before `row` and `above` must be readable: they are the neighbours of the first ones. Up to 15 bytes
  /// behind the output may be overwritten. `filter` is a number from 0 to 4, `components` the number of bytes of a pixel
  /// that are written: 1 (red), 2 (red and alpha), 3 or 4.
  func filter(
    _ row: UnsafePointer<UInt8>,
    above: UnsafePointer<UInt8>,
    pixels: Int,
    filter: Int,
    components: Int,
    into output: UnsafeMutablePointer<UInt8>,
  ) {
    if isNative {
      unsafe vitrine_filter_row(row, above, pixels, Int32(filter), Int32(components), output)
      return
    }
    // All loaded bytes are those of `pixels` pixels, and of the one before them; all stored ones are in `output`.
    var x = 0
    while x < pixels {
      let count = min(4, pixels &- x)
      let bytes = unsafe Self.residual(Neighbours(row + x &* 4, above + x &* 4, pixels: count), filter)
      for index in 0..<count {
        let first = index &* 4
        let pixel = SIMD4(bytes[first], bytes[first &+ 1], bytes[first &+ 2], bytes[first &+ 3])
        unsafe Self.store(pixel, components, output + (x &+ index) &* components)
      }
      x &+= count
    }
  }

  /// Returns the first pixel of a row after a filter: nothing is to its left.
  static func firstPixel(_ pixel: SIMD4<UInt8>, above: SIMD4<UInt8>, filter: Int) -> SIMD4<UInt8> {
    switch filter {
    case 2, 4: pixel &- above
    case 3: pixel &- above &>> 1
    default: pixel
    }
  }

  /// Returns the size of what a filter leaves of a pixel.
  static func size(_ residual: SIMD4<UInt8>, _ components: Int) -> UInt64 {
    let sizes = residual.replacing(with: 0 &- residual, where: residual .> 128) & mask(components)
    return UInt64(SIMD4<UInt32>(truncatingIfNeeded: sizes).wrappedSum())
  }

  /// The bytes of a pixel that are written, as ones.
  private static func mask(_ components: Int) -> SIMD4<UInt8> {
    switch components {
    case 1: SIMD4(255, 0, 0, 0)
    case 2: SIMD4(255, 0, 0, 255)
    case 3: SIMD4(255, 255, 255, 0)
    default: SIMD4(repeating: 255)
    }
  }

  @inline(__always)
  static func store(_ pixel: SIMD4<UInt8>, _ components: Int, _ output: UnsafeMutablePointer<UInt8>) {
    // The caller has room for `components` bytes.
    unsafe output[0] = pixel.x
    switch components {
    case 1: break
    case 2: unsafe output[1] = pixel.w
    default:
      unsafe output[1] = pixel.y
      unsafe output[2] = pixel.z
      if components == 4 { unsafe output[3] = pixel.w }
    }
  }
}

// The loops for processors without AVX2: vectors of a fixed size, since generic ones would be taken apart.
extension PixelKernels {
  private typealias Bytes = SIMD16<UInt8>

  /// Up to four pixels, those to their left and those above.
  private struct Neighbours {
    var value: Bytes
    var left: Bytes
    var above: Bytes
    var corner: Bytes

    @inline(__always)
    init(_ row: UnsafePointer<UInt8>, _ above: UnsafePointer<UInt8>, pixels: Int) {
      // The caller has so many pixels, and one before them.
      if pixels == 4 {
        value = unsafe UnsafeRawPointer(row).loadUnaligned(as: Bytes.self)
        left = unsafe UnsafeRawPointer(row - 4).loadUnaligned(as: Bytes.self)
        self.above = unsafe UnsafeRawPointer(above).loadUnaligned(as: Bytes.self)
        corner = unsafe UnsafeRawPointer(above - 4).loadUnaligned(as: Bytes.self)
        return
      }
      // What a filter leaves of zeros is zero.
      (value, left, self.above, corner) = (Bytes(), Bytes(), Bytes(), Bytes())
      for index in 0..<pixels &* 4 {
        unsafe (value[index], left[index]) = (row[index], row[index &- 4])
        unsafe (self.above[index], corner[index]) = (above[index], above[index &- 4])
      }
    }
  }

  @inline(__always)
  private static func addSizes(
    _ row: UnsafePointer<UInt8>,
    _ above: UnsafePointer<UInt8>,
    _ pixels: Int,
    _ mask: Bytes,
    to sum: UnsafeMutablePointer<UInt64>,
    _ residual: (Neighbours) -> Bytes,
  ) {
    var x = 0
    while x < pixels {
      // A size is 128 at most, of which 511 fit into 16 bits.
      let end = min(pixels, x &+ 4 &* 511)
      var sizes = SIMD16<UInt16>()
      while x < end {
        let count = min(4, end &- x)
        let bytes = unsafe residual(Neighbours(row + x &* 4, above + x &* 4, pixels: count))
        let size = bytes.replacing(with: Bytes() &- bytes, where: bytes .> Bytes(repeating: 128))
        sizes &+= SIMD16<UInt16>(truncatingIfNeeded: size & mask)
        x &+= count
      }
      for index in 0..<16 { unsafe sum[0] &+= UInt64(sizes[index]) }
    }
  }

  @inline(__always)
  private static func residual(_ pixels: Neighbours, _ filter: Int) -> Bytes {
    let (a, b) = (pixels.left, pixels.above)
    switch filter {
    case 1: return pixels.value &- a
    case 2: return pixels.value &- b
    // The sum of halves, and of the bits that both lost.
    case 3: return pixels.value &- (a &>> 1 &+ b &>> 1 &+ (a & b & Bytes(repeating: 1)))
    case 4: return pixels.value &- paeth(a, b, pixels.corner)
    default: return pixels.value
    }
  }

  /// The Paeth predictor (chapter 9.4) in bytes; the C twin says how.
  @inline(__always)
  private static func paeth(_ a: Bytes, _ b: Bytes, _ c: Bytes) -> Bytes {
    let (toA, toB) = (distance(b, c), distance(a, c))
    let sum = toA &+ toB
    let saturated = sum.replacing(with: Bytes(repeating: 255), where: sum .< toA)
    let isBetween = (b .>= c) .^ (a .>= c)
    let toC = saturated.replacing(with: distance(toA, toB), where: isBetween)
    let other = c.replacing(with: b, where: toB .<= toC)
    return other.replacing(with: a, where: (toA .<= toB) .& (toA .<= toC))
  }

  @inline(__always)
  private static func distance(_ a: Bytes, _ b: Bytes) -> Bytes { (b &- a).replacing(with: a &- b, where: a .> b) }
}
