import CVitrineKernels

// The filters of PNG's rows (W3C PNG, third edition, chapter 9), from pixels of four bytes.
extension PixelKernels {
  /// Adds what each filter leaves of pixels, as the sum of the sizes of signed bytes: the measure that the
  /// specification proposes for choosing one (chapter 12, "Filter selection").
  ///
  /// The first pixels of `row` and `above` are the neighbours of the others, which count. `components` is the number of
  /// bytes of a pixel that count: 1 (red), 2 (red and alpha), 3 or 4. There is a sum for each filter.
  func addFilterSums(_ row: Elements<UInt8>, above: Elements<UInt8>, components: Int, to sums: inout [UInt64]) {
    precondition(sums.count == 5)
    let mask = Self.mask(components)
    if isNative {
      // The rows are as long as is checked, there are five sums, and a pixel is the mask's four bytes.
      return unsafe Self.withPixels(row, above) { row, above, pixels in
        unsafe vitrine_filter_sums(row, above, pixels, unsafeBitCast(mask, to: UInt32.self), &sums)
      }
    }
    let half = SIMD8(lowHalf: mask, highHalf: mask)
    let four = SIMD16(lowHalf: half, highHalf: half)
    // Constants, so that each loop has one filter.
    sums[0] &+= Self.size(row, above, four) { Self.residual($0, 0) }
    sums[1] &+= Self.size(row, above, four) { Self.residual($0, 1) }
    sums[2] &+= Self.size(row, above, four) { Self.residual($0, 2) }
    sums[3] &+= Self.size(row, above, four) { Self.residual($0, 3) }
    sums[4] &+= Self.size(row, above, four) { Self.residual($0, 4) }
  }

  /// Writes what a filter leaves of pixels.
  ///
  /// The first pixels of `row` and `above` are the neighbours of the others, which are written. `output` has room for 12
  /// more bytes, which may be overwritten. `filter` is a number from 0 to 4, `components` the number of bytes of a pixel
  /// that are written: 1 (red), 2 (red and alpha), 3 or 4.
  func filter(
    _ row: Elements<UInt8>,
    above: Elements<UInt8>,
    filter: Int,
    components: Int,
    into output: MutableElements<UInt8>,
  ) {
    let pixels = row.count / 4 - 1
    precondition((1...4).contains(components) && output.count >= pixels * components + 12)
    if isNative {
      // The rows are as long as is checked, and so is the output.
      return unsafe Self.withPixels(row, above) { row, above, pixels in
        unsafe output.withUnsafeBufferPointer { output in
          unsafe vitrine_filter_row(row, above, pixels, Int32(filter), Int32(components), output.baseAddress)
        }
      }
    }
    var x = 0
    while x < pixels {
      let count = min(4, pixels &- x)
      let bytes = Self.residual(Neighbours(row, above, x, pixels: count), filter)
      for index in 0..<count {
        let first = index &* 4
        let pixel = SIMD4(bytes[first], bytes[first &+ 1], bytes[first &+ 2], bytes[first &+ 3])
        Self.store(pixel, components, output, at: (x &+ index) &* components)
      }
      x &+= count
    }
  }

  /// Calls `body` with the second pixels of two rows, which are of the same length, and with the number of pixels from
  /// there.
  private static func withPixels(
    _ row: Elements<UInt8>,
    _ above: Elements<UInt8>,
    _ body: (UnsafePointer<UInt8>, UnsafePointer<UInt8>, Int) -> Void,
  ) {
    precondition(row.count >= 4 && row.count & 3 == 0 && above.count == row.count)
    unsafe row.withUnsafeBufferPointer { row in
      unsafe above.withUnsafeBufferPointer { above in
        guard let start = row.baseAddress, let above = above.baseAddress else { return }
        unsafe body(start + 4, above + 4, row.count / 4 - 1)
      }
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

  /// Returns the size of a filter's residual of a pixel.
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

  /// Writes the components of a pixel that count.
  @inline(__always)
  static func store(_ pixel: SIMD4<UInt8>, _ components: Int, _ output: MutableElements<UInt8>, at index: Int) {
    output[index] = pixel.x
    switch components {
    case 1: break
    case 2: output[index &+ 1] = pixel.w
    default:
      output[index &+ 1] = pixel.y
      output[index &+ 2] = pixel.z
      if components == 4 { output[index &+ 3] = pixel.w }
    }
  }
}

// The loops for processors without AVX2 or NEON: vectors of a fixed size, since generic ones would be taken apart.
extension PixelKernels {
  private typealias Bytes = SIMD16<UInt8>

  /// Up to four pixels, those to their left and those above.
  private struct Neighbours {
    var value: Bytes
    var left: Bytes
    var above: Bytes
    var corner: Bytes

    /// Takes the pixels at `x` behind the first ones of both rows.
    @inline(__always)
    init(_ row: Elements<UInt8>, _ above: Elements<UInt8>, _ x: Int, pixels: Int) {
      let range = x &* 4..<(x &+ pixels &+ 1) &* 4
      let (row, above) = (row.extracting(range), above.extracting(range))
      if pixels == 4 {
        (value, left) = (row.sixteen(at: 4), row.sixteen(at: 0))
        (self.above, corner) = (above.sixteen(at: 4), above.sixteen(at: 0))
        return
      }
      // What a filter leaves of zeros is zero.
      (value, left, self.above, corner) = (Bytes(), Bytes(), Bytes(), Bytes())
      for index in 0..<pixels &* 4 {
        (value[index], left[index]) = (row[index &+ 4], row[index])
        (self.above[index], corner[index]) = (above[index &+ 4], above[index])
      }
    }
  }

  /// The sizes of a filter's residuals of the pixels behind the first ones.
  @inline(__always)
  private static func size(
    _ row: Elements<UInt8>,
    _ above: Elements<UInt8>,
    _ mask: Bytes,
    _ residual: (Neighbours) -> Bytes,
  ) -> UInt64 {
    let pixels = row.count / 4 - 1
    var (x, sum) = (0, UInt64(0))
    while x < pixels {
      // A size is 128 at most, of which 511 fit into 16 bits.
      let end = min(pixels, x &+ 4 &* 511)
      var sizes = SIMD16<UInt16>()
      while x < end {
        let count = min(4, end &- x)
        let bytes = residual(Neighbours(row, above, x, pixels: count))
        let size = bytes.replacing(with: Bytes() &- bytes, where: bytes .> Bytes(repeating: 128))
        sizes &+= SIMD16<UInt16>(truncatingIfNeeded: size & mask)
        x &+= count
      }
      for index in 0..<16 { sum &+= UInt64(sizes[index]) }
    }
    return sum
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
