/// Averages blocks of `factorX` x `factorY` pixels.
///
/// Blocks at the right and bottom edges may be smaller.
final class BoxFilter {
  private enum Sums {
    case integers(OwnedElements<UInt32>)
    case floats(OwnedElements<Float>)
  }

  private let height: Int
  private let factorX: Int
  private let factorY: Int
  private let hasAlpha: Bool
  private let sums: Sums
  private var row = 0
  private var rowsSummed = 0

  init(width: Int, height: Int, factorX: Int, factorY: Int, hasAlpha: Bool, sumsFloats: Bool) {
    (self.height, self.factorX, self.factorY) = (height, factorX, factorY)
    self.hasAlpha = hasAlpha
    sums =
      sumsFloats
      ? .floats(OwnedElements(repeating: 0, count: width * 4))
      : .integers(OwnedElements(repeating: 0, count: width * 4))
  }

  /// Adds a row.
  ///
  /// Returns `true` if a row of averages, one pixel a block, is now in `line`.
  func push(_ pixels: Elements<UInt8>, into line: MutableElements<Float>) -> Bool {
    switch sums {
    case .floats(let light): PixelKernels.addLinear(pixels, into: light.elements, hasAlpha: hasAlpha)
    case .integers(let integers) where hasAlpha: PixelKernels.addPremultiplied(pixels, into: integers.elements)
    case .integers(let integers): PixelKernels.add(pixels, into: integers.elements)
    }
    return average(into: line)
  }

  /// Adds a row of 16 bits a component, to a filter that sums floats.
  func push(wide pixels: Elements<UInt16>, into line: MutableElements<Float>) -> Bool {
    if case .floats(let floats) = sums { PixelKernels.addWide(pixels, into: floats.elements, hasAlpha: hasAlpha) }
    return average(into: line)
  }

  /// Counts a row; returns `true` if it was the last of a block, and the averages are now in `line`.
  private func average(into line: MutableElements<Float>) -> Bool {
    row += 1
    rowsSummed += 1
    guard rowsSummed == factorY || row == height else { return false }
    switch sums {
    case .floats(let floats):
      PixelKernels.average(floats.elements.elements, factor: factorX, rows: rowsSummed, into: line)
      floats.elements.update(repeating: 0)
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
