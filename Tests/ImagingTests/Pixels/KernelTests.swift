import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// The loops for the processor at hand, and their twins, beside plain loops of these tests: the same bits.
struct KernelTests {
  private static let all = [PixelKernels.best, .scalar]

  @Test(arguments: [1, 2, 3, 7, 8, 9, 16, 37])
  func rowsAreAddedInOrder(pixels: Int) {
    var generator = SplitMix64(seed: UInt64(pixels))
    let count = pixels * 4
    for taps in [1, 2, 5, 6, 13, 30] {
      let bytes = RowRing<UInt8>(capacity: taps, count: count)
      let floats = RowRing<Float>(capacity: taps, count: count)
      for index in 0..<taps * count {
        bytes.row(index / count)[index % count] = UInt8.random(in: 0...255, using: &generator)
        floats.row(index / count)[index % count] = Float.random(in: -20...300, using: &generator)
      }
      let weights = (0..<taps).map { _ in Float.random(in: -0.3...1, using: &generator) }
      let line = OwnedElements<Float>(repeating: .nan, count: count)

      func expected(_ row: (Int) -> (Int) -> Float) -> [UInt32] {
        (0..<count).map { index in
          (0..<taps).reduce(Float(0)) { sum, tap in sum + row(tap)(index) * weights[tap] }.bitPattern
        }
      }
      for kernels in Self.all {
        kernels.combine(bytes.rows(from: 0, count: taps), weights: weights[...], into: line.elements)
        #expect(line.all.map(\.bitPattern) == expected { tap in { Float(bytes.row(tap)[$0]) } })
        kernels.combine(floats.rows(from: 0, count: taps), weights: weights[...], into: line.elements)
        #expect(line.all.map(\.bitPattern) == expected { tap in { floats.row(tap)[$0] } })
      }
    }
  }

  @Test(arguments: [1, 2, 3, 7, 8, 9, 16, 37])
  func rowsOfShortsAreAddedAndRounded(pixels: Int) {
    var generator = SplitMix64(seed: UInt64(pixels))
    let count = pixels * 4
    for taps in [2, 4, 12, 30] {
      let ring = RowRing<Int16>(capacity: taps, count: count)
      // The last one is the largest number that there is, with the largest sum of weights.
      for index in 0..<taps * count {
        let isLast = index % count == count - 1
        ring.row(index / count)[index % count] = isLast ? 32640 : Int16.random(in: 0...32640, using: &generator)
      }
      var weights = (0..<taps).map { _ in Int16.random(in: 0...Int16(16384 / taps), using: &generator) }
      weights[0] += Int16(16384 - weights.reduce(0) { $0 + Int($1) })

      let expected = (0..<count).map { index in
        (0..<taps).reduce(8192) { $0 + Int(ring.row($1)[index]) * Int(weights[$1]) } / 16384
      }
      for kernels in Self.all {
        let line = OwnedElements<Int16>(repeating: -1, count: count)
        kernels.combine(ring.rows(from: 0, count: taps), weights: weights[...], into: line.elements)
        #expect(line.all.map(Int.init) == expected)
      }
    }
  }

  /// What would be added beyond the end of a row, a line or the weights stops the program, in every build.
  @Test(arguments: 0..<6)
  func stopsOutsideOfTheRows(_ place: Int) async {
    await #expect(processExitsWith: .failure) { [place = place as Int] in
      let ring = RowRing<Float>(capacity: 2, count: 8)
      let line = OwnedElements<Float>(repeating: 0, count: 8)
      let (rows, one) = (ring.rows(from: 0, count: 2), [Float](repeating: 1, count: 2))
      switch place {
      case 0: PixelKernels.best.combine(rows, weights: one[..<1], into: line.elements)
      case 1: PixelKernels.best.combine(rows, weights: one[...], into: line.elements.extracting(0..<4))
      case 2: _ = ring.rows(from: 0, count: 3)
      case 3: rows.fill(0..<1) { _ in line.elements.elements.extracting(0..<4) }
      case 4:
        let weights = FilterWeights([(first: 1, weights: [1, 1])])
        PixelKernels.best.filterAcross(line.elements.elements, weights: weights, into: line.elements)
      default:
        PixelKernels.round(
          line.elements.extracting(0..<4),
          into: OwnedElements(repeating: 0, count: 8).elements,
          layout: .color,
        )
      }
      withExtendedLifetime((ring, line)) {}
    }
  }

  @Test(arguments: ResamplingFilter.allCases, [1, 2, 3, 10, 31, 64, 150])
  func evenAndOddTapsAreAddedApart(filter: ResamplingFilter, output: Int) {
    var generator = SplitMix64(seed: UInt64(output))
    let weights = FilterWeights(filter, origin: 0.3, length: 60.5, sourceCount: 62, outputCount: output, averaged: 2)
    let line = OwnedElements<Float>(repeating: 0, count: 62 * 4)
    for index in 0..<62 * 4 { line.elements[index] = Float.random(in: 0...255, using: &generator) }

    let expected = (0..<output * 4).map { index in
      var sums: [Float] = [0, 0]
      for tap in 0..<weights.counts[index / 4] {
        let value = line.elements[(weights.starts[index / 4] + tap) * 4 + index % 4]
        sums[tap % 2] += value * weights.weights[index / 4 * weights.stride + tap]
      }
      return (sums[0] + sums[1]).bitPattern
    }
    for kernels in Self.all {
      let result = OwnedElements<Float>(repeating: .nan, count: output * 4)
      kernels.filterAcross(line.elements.elements, weights: weights, into: result.elements)
      #expect(result.all.map(\.bitPattern) == expected)
    }
  }

  @Test(arguments: ResamplingFilter.allCases, [PixelLayout.color, .colorAndAlpha, .ink])
  func picturesAreResampledAlike(filter: ResamplingFilter, layout: PixelLayout) {
    let picture = Bitmap.busy(width: 61, height: 43, alpha: true)
    for (width, height) in [(20, 15), (61, 20), (7, 40), (100, 60), (1, 1)] {
      for light in [true, false] {
        let results = [PixelKernels.best, .scalar].map { kernels in
          let resampler = Resampler(
            Resampler.Source(
              width: 61,
              height: 43,
              crop: PixelRect(x: 0.4, y: 1, width: 58.3, height: 40.9),
              layout: layout,
            ),
            outputWidth: width,
            outputHeight: height,
            options: ResamplingOptions(filter: filter, usesLinearLight: light),
            kernels: kernels,
          )
          var bytes: [UInt8] = []
          for row in 0..<43 {
            picture.withElements { pixels in
              resampler.push(pixels.rows(from: row, count: 1, width: 61)) { row in bytes += row.indices.map { row[$0] }
              }
            }
          }
          return bytes
        }

        #expect(results[0].count == width * height * 4)
        #expect(results[0] == results[1])
      }
    }
  }
}

extension OwnedElements {
  fileprivate var all: [Element] { elements.indices.map { elements[$0] } }
}
