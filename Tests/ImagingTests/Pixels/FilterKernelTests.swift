import Testing
import VitrineRuntime
import VitrineTestSupport

@testable import VitrineImaging

/// PNG's filters for the processor at hand, and their twins, beside the specification's own formulas.
struct FilterKernelTests {
  private static let all = [PixelKernels.best, .scalar]

  private static func predictor(_ filter: Int, _ a: Int, _ b: Int, _ c: Int) -> Int {
    switch filter {
    case 1: return a
    case 2: return b
    case 3: return (a + b) / 2
    case 4:
      let (toA, toB, toC) = (abs(b - c), abs(a - c), abs(a + b - 2 * c))
      return toA <= toB && toA <= toC ? a : toB <= toC ? b : c
    default: return 0
    }
  }

  private static let channels = [[0], [0, 3], [0, 1, 2], [0, 1, 2, 3]]

  /// What a filter leaves of each pixel but the first one, which is the neighbour.
  private static func residuals(_ row: [UInt8], _ above: [UInt8], _ filter: Int, _ components: Int) -> [UInt8] {
    stride(from: 4, to: row.count, by: 4).flatMap { offset in
      channels[components - 1].map { channel in
        let index = offset + channel
        let value = predictor(filter, Int(row[index - 4]), Int(above[index]), Int(above[index - 4]))
        return UInt8(truncatingIfNeeded: Int(row[index]) - value)
      }
    }
  }

  @Test(arguments: [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 40, 3000], 1...4)
  func rowsAreFiltered(pixels: Int, components: Int) {
    var generator = SplitMix64(seed: UInt64(pixels))
    // Extremes, so that sums overflow a byte.
    for range in [0...255, 0...1, 254...255] as [ClosedRange<UInt8>] {
      let isExtreme = range.count == 2
      let bytes = { (0..<pixels * 4 + 4).map { _ in UInt8.random(in: range, using: &generator) } }
      let (row, above) = (bytes(), bytes().map { isExtreme && $0 % 2 == 1 ? 255 - $0 : $0 })
      for kernels in Self.all {
        for filter in 0..<5 {
          let memory = OwnedElements<UInt8>(repeating: 0, count: pixels * components + 12)
          let output = memory.elements
          row.withElements { row in
            above.withElements { kernels.filter(row, above: $0, filter: filter, components: components, into: output) }
          }
          let filtered = (0..<pixels * components).map { output[$0] }
          #expect(filtered == Self.residuals(row, above, filter, components))
        }
      }
    }
  }

  @Test(arguments: [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 40, 3000], 1...4)
  func whatFiltersLeaveIsAddedUp(pixels: Int, components: Int) {
    var generator = SplitMix64(seed: UInt64(pixels))
    // 128 is the largest size of all.
    for range in [0...255, 128...128] as [ClosedRange<UInt8>] {
      let row = (0..<pixels * 4 + 4).map { _ in UInt8.random(in: range, using: &generator) }
      let above = row.map { range.count == 1 ? 0 : $0 / 2 }
      let expected = (0..<5).map { filter in
        Self.residuals(row, above, filter, components).reduce(UInt64(1)) { $0 + UInt64(Int8(bitPattern: $1).magnitude) }
      }
      for kernels in Self.all {
        var sums = [UInt64](repeating: 1, count: 5)
        row.withElements { row in
          above.withElements { kernels.addFilterSums(row, above: $0, components: components, to: &sums) }
        }
        #expect(sums == expected)
      }
    }
  }
}
