import Synchronization

/// The colours of mixtures of four inks: those of a grid, each computed when a pixel first needs it, and between them
/// interpolated.
///
/// Little CMS computes its whole grid of as many when it makes a transform, which takes 27 ms; a thumbnail needs a few
/// hundred to a few thousand of them. Any number of threads may use a table at once.
@safe
final class InkTable: Sendable {
  private static let side = 17
  private static let count = side * side * side * side
  private static let strides = SIMD4<UInt32>(1, 17, 17 * 17, 17 * 17 * 17)

  // Owned: made in init, destroyed in deinit. A colour with a fourth component of 1; zero if it is not known. Each is
  // complete in itself, so that threads may read and write them in any order.
  nonisolated(unsafe) private let colors = UnsafeMutableBufferPointer<Atomic<UInt64>>.allocate(capacity: count)

  init() {
    // Within the capacity.
    for index in 0..<Self.count { unsafe colors.initializeElement(at: index, to: Atomic(0)) }
  }

  deinit {
    unsafe colors.deinitialize().deallocate()
  }

  /// Converts pixels in place: four inks become opaque colours.
  ///
  /// - Parameters:
  ///   - pixels: The pixels, of four bytes each.
  ///   - color: Returns the colour of inks, from 0 to 65,535.
  func apply(to pixels: MutableElements<UInt8>, _ color: (SIMD4<UInt16>) -> SIMD4<UInt16>) {
    pixels.updateEachPixel { inks in
      let position = SIMD4<UInt32>(truncatingIfNeeded: inks) &* UInt32(Self.side - 1)
      // Divided by 255. The highest value is the end of the last cell.
      var cell = (position &+ 1 &+ (position &>> 8)) &>> 8
      cell.clamp(lowerBound: SIMD4(), upperBound: SIMD4(repeating: UInt32(Self.side - 2)))
      let corner = (cell &* Self.strides).wrappedSum()
      // From the corner along the axes, in the order of what is left of the position along each. An axis is known by
      // its stride, which has 13 bits.
      let steps = Self.descending(((position &- cell &* 255) &<< 13) | Self.strides)
      let (shares, strides) = (steps &>> 13, steps & 0x1FFF)
      var index = corner
      var sum = weighted(index, 255 &- shares[0], color)
      index &+= strides[0]
      sum &+= weighted(index, shares[0] &- shares[1], color)
      index &+= strides[1]
      sum &+= weighted(index, shares[1] &- shares[2], color)
      index &+= strides[2]
      sum &+= weighted(index, shares[2] &- shares[3], color)
      index &+= strides[3]
      sum &+= weighted(index, shares[3], color)
      // The shares make 255, so this is divided by 65,535.
      var result = SIMD4<UInt8>(truncatingIfNeeded: (sum &+ 32_768 &+ (sum &>> 16)) &>> 16)
      result.w = 255
      return result
    }
  }

  @inline(__always)
  private func weighted(
    _ index: UInt32,
    _ share: UInt32,
    _ color: (SIMD4<UInt16>) -> SIMD4<UInt16>,
  ) -> SIMD4<UInt32> {
    // A cell is below the last place of each axis, so the corners of all cells are in the table.
    precondition(index < Self.count)
    let known = unsafe colors[Int(index)].load(ordering: .relaxed)
    if known == 0, share > 0 { return SIMD4(truncatingIfNeeded: compute(index, color)) &* share }
    return SIMD4(truncatingIfNeeded: unsafe unsafeBitCast(known, to: SIMD4<UInt16>.self)) &* share
  }

  @inline(never)
  private func compute(_ index: UInt32, _ color: (SIMD4<UInt16>) -> SIMD4<UInt16>) -> SIMD4<UInt16> {
    let side = UInt32(Self.side)
    let places = (SIMD4(repeating: index) / Self.strides) % side
    var result = color(SIMD4(truncatingIfNeeded: (places &* 65_535 &+ (side - 1) / 2) / (side - 1)))
    result.w = 1
    // Both are of eight bytes; the caller has checked the index.
    unsafe colors[Int(index)].store(unsafeBitCast(result, to: UInt64.self), ordering: .relaxed)
    return result
  }

  /// Returns four numbers from the highest to the lowest.
  @inline(__always)
  private static func descending(_ numbers: SIMD4<UInt32>) -> SIMD4<UInt32> {
    let (left, right) = (numbers.lowHalf, numbers.highHalf)
    let (high, low) = (
      SIMD2(max(left.x, left.y), max(right.x, right.y)), SIMD2(min(left.x, left.y), min(right.x, right.y)),
    )
    let (second, third) = (min(high.x, high.y), max(low.x, low.y))
    return SIMD4(max(high.x, high.y), max(second, third), min(second, third), min(low.x, low.y))
  }
}
