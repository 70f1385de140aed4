import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// The loops for the processor at hand, and their twins, beside plain loops of these tests: the same bits.
struct KernelTests {
  private static let all = [PixelKernels.best, .scalar]

  @Test(arguments: [PixelKernels.Element.byte, .float], [1, 2, 3, 7, 8, 9, 16, 37])
  func rowsAreAddedInOrder(element: PixelKernels.Element, pixels: Int) {
    var generator = SplitMix64(seed: UInt64(pixels))
    let count = pixels * 4
    for taps in [1, 2, 5, 6, 13, 30] {
      let ring = RowRing(capacity: taps, count: count, element: element)
      var rows = [[Float]](repeating: [], count: taps)
      for tap in 0..<taps {
        for index in 0..<count {
          // Within a row of the ring, of the element's size.
          switch element {
          case .byte:
            let value = UInt8.random(in: 0...255, using: &generator)
            unsafe ring.row(tap).storeBytes(of: value, toByteOffset: index, as: UInt8.self)
            rows[tap].append(Float(value))
          case .short: Issue.record("weights of shorts are shorts")
          case .float:
            let value = Float.random(in: -20...300, using: &generator)
            unsafe ring.row(tap).storeBytes(of: value, toByteOffset: index * 4, as: Float.self)
            rows[tap].append(value)
          }
        }
      }
      let weights = (0..<taps).map { _ in Float.random(in: -0.3...1, using: &generator) }

      let expected = (0..<count).map { index in
        var sum: Float = 0
        for tap in 0..<taps { sum += rows[tap][index] * weights[tap] }
        return sum.bitPattern
      }
      for kernels in Self.all {
        var line = [Float](repeating: .nan, count: count)
        unsafe kernels.combine(
          ring.rows(from: 0, count: taps),
          of: element,
          weights: weights,
          taps: taps,
          into: &line,
          count: count,
        )
        #expect(line.map(\.bitPattern) == expected)
      }
    }
  }

  @Test(arguments: [1, 2, 3, 7, 8, 9, 16, 37])
  func rowsOfShortsAreAddedAndRounded(pixels: Int) {
    var generator = SplitMix64(seed: UInt64(pixels))
    let count = pixels * 4
    for taps in [2, 4, 12, 30] {
      let ring = RowRing(capacity: taps, count: count, element: .short)
      // The last one is the largest number that there is, with the largest sum of weights.
      let rows = (0..<taps).map { _ in
        (0..<count).map { index in index == count - 1 ? 32640 : Int16.random(in: 0...32640, using: &generator) }
      }
      for (tap, row) in rows.enumerated() {
        // Within a row of the ring, of the element's size.
        unsafe row.withUnsafeBytes { bytes in
          unsafe ring.row(tap).copyMemory(from: bytes.baseAddress!, byteCount: count * 2)
        }
      }
      var weights = (0..<taps).map { _ in Int16.random(in: 0...Int16(16384 / taps), using: &generator) }
      weights[0] += Int16(16384 - weights.reduce(0) { $0 + Int($1) })

      let expected = (0..<count).map { index in
        (0..<taps).reduce(8192) { $0 + Int(rows[$1][index]) * Int(weights[$1]) } / 16384
      }
      for kernels in Self.all {
        var line = [Int16](repeating: -1, count: count)
        unsafe kernels.combine(
          ring.rows(from: 0, count: taps),
          weights: weights,
          taps: taps,
          into: &line,
          count: count,
        )
        #expect(line.map(Int.init) == expected)
      }
    }
  }

  @Test(arguments: ResamplingFilter.allCases, [1, 2, 3, 10, 31, 64, 150])
  func evenAndOddTapsAreAddedApart(filter: ResamplingFilter, output: Int) {
    var generator = SplitMix64(seed: UInt64(output))
    let weights = FilterWeights(filter, origin: 0.3, length: 60.5, sourceCount: 62, outputCount: output, averaged: 2)
    var line = (0..<62 * 4).map { _ in Float.random(in: 0...255, using: &generator) }

    let expected = (0..<output * 4).map { index in
      var sums: [Float] = [0, 0]
      for tap in 0..<weights.counts[index / 4] {
        let value = line[(weights.starts[index / 4] + tap) * 4 + index % 4]
        sums[tap % 2] += value * weights.weights[index / 4 * weights.stride + tap]
      }
      return (sums[0] + sums[1]).bitPattern
    }
    for kernels in Self.all {
      var result = [Float](repeating: .nan, count: output * 4)
      unsafe kernels.filterAcross(&line, weights: weights, into: &result, count: output)
      #expect(result.map(\.bitPattern) == expected)
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
            unsafe picture.withUnsafeBytes { pixels in
              unsafe resampler.push(UnsafeRawBufferPointer(rebasing: pixels[row * 61 * 4..<(row + 1) * 61 * 4])) {
                unsafe bytes += $0
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
