/// Averages blocks of `factorX` x `factorY` pixels.
///
/// Blocks at the right and bottom edges may be smaller.
final class BoxFilter {
  private enum Sums {
    case integers(OwnedElements<UInt32>)
    case light(OwnedElements<Float>)
  }

  private let height: Int
  private let factorX: Int
  private let factorY: Int
  private let hasAlpha: Bool
  private let sums: Sums
  private var row = 0
  private var rowsSummed = 0

  init(width: Int, height: Int, factorX: Int, factorY: Int, hasAlpha: Bool, usesLinearLight: Bool) {
    (self.height, self.factorX, self.factorY) = (height, factorX, factorY)
    self.hasAlpha = hasAlpha
    sums =
      usesLinearLight
      ? .light(OwnedElements(repeating: 0, count: width * 4))
      : .integers(OwnedElements(repeating: 0, count: width * 4))
  }

  /// Adds a row.
  ///
  /// Returns `true` if a row of averages, one pixel a block, is now in `line`.
  func push(_ pixels: Elements<UInt8>, into line: MutableElements<Float>) -> Bool {
    switch sums {
    case .light(let light): PixelKernels.addLinear(pixels, into: light.elements, hasAlpha: hasAlpha)
    case .integers(let integers) where hasAlpha: PixelKernels.addPremultiplied(pixels, into: integers.elements)
    case .integers(let integers): PixelKernels.add(pixels, into: integers.elements)
    }
    row += 1
    rowsSummed += 1
    guard rowsSummed == factorY || row == height else { return false }
    switch sums {
    case .light(let light):
      PixelKernels.average(light.elements.elements, factor: factorX, rows: rowsSummed, into: line)
      light.elements.update(repeating: 0)
    case .integers(let integers):
      PixelKernels.average(
        integers.elements.elements,
        factor: factorX,
        rows: rowsSummed,
        into: line,
        isPremultiplied: hasAlpha,
      )
      integers.elements.update(repeating: 0)
    }
    rowsSummed = 0
    return true
  }
}
