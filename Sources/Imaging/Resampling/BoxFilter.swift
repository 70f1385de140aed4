/// Averages blocks of `factorX` x `factorY` pixels.
///
/// Blocks at the right and bottom edges may be smaller.
final class BoxFilter {
  private enum Sums {
    case integers(WideRow)
    case light(FloatRow)
  }

  private let width: Int
  private let height: Int
  private let factorX: Int
  private let factorY: Int
  private let hasAlpha: Bool
  private let sums: Sums
  private var row = 0
  private var rowsSummed = 0

  init(width: Int, height: Int, factorX: Int, factorY: Int, hasAlpha: Bool, usesLinearLight: Bool) {
    (self.width, self.height, self.factorX, self.factorY) = (width, height, factorX, factorY)
    self.hasAlpha = hasAlpha
    sums = usesLinearLight ? .light(FloatRow(count: width * 4)) : .integers(WideRow(count: width * 4))
  }

  /// Adds a row.
  ///
  /// Returns `true` if a row of averages, one pixel a block, is now in `line`.
  func push(_ pixels: UnsafeRawBufferPointer, into line: UnsafeMutablePointer<Float>) -> Bool {
    // `pixels` and the sums are `width` pixels.
    switch sums {
    case .light(let light):
      unsafe PixelKernels.addLinear(pixels, into: light.pointer, count: width, hasAlpha: hasAlpha)
    case .integers(let integers) where hasAlpha:
      unsafe PixelKernels.addPremultiplied(pixels, into: integers.pointer, count: width)
    case .integers(let integers):
      unsafe PixelKernels.add(pixels, into: integers.pointer, count: width * 4)
    }
    row += 1
    rowsSummed += 1
    guard rowsSummed == factorY || row == height else { return false }
    switch sums {
    case .light(let light):
      unsafe PixelKernels.average(light.pointer, width: width, factor: factorX, rows: rowsSummed, into: line)
      light.clear()
    case .integers(let integers):
      unsafe PixelKernels.average(
        integers.pointer,
        width: width,
        factor: factorX,
        rows: rowsSummed,
        into: line,
        isPremultiplied: hasAlpha,
      )
      integers.clear()
    }
    rowsSummed = 0
    return true
  }
}
