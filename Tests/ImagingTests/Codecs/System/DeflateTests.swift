import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// The writer of compressed blocks, with bytes of any kind, read back by zlib.
struct DeflateTests {
  /// Compresses rows of grey pixels without a filter.
  static func file(_ rows: [[UInt8]], isThorough: Bool) throws -> Data {
    let output = try PNGOutput()
    let width = rows[0].count
    try output.chunk(PNGHeader.Chunk.IHDR, .big32(width) + .big32(rows.count) + [8, 0, 0, 0, 0])
    let writer = try DeflateWriter(output, isThorough: isThorough)
    for row in rows {
      for byte in [0] + row {
        // Room for one byte at least.
        try writer.room(1)[0] = byte
        writer.advance(1)
      }
    }
    try writer.finish()
    return try output.finish()
  }

  static func expectExact(_ bytes: [UInt8], width: Int = 997, _ comment: String) throws {
    let count = max(1, bytes.count / width)
    let rows = (0..<count).map { Array(bytes[($0 * width)..<(($0 + 1) * width)]) }
    for isThorough in [true, false] {
      let bitmap = try Bitmap(decoding: file(rows, isThorough: isThorough))

      let levels = (0..<count).map { y in (0..<width).map { bitmap[$0, y].x } }
      #expect(levels == rows, "\(comment), \(isThorough)")
    }
  }

  static let count = 997 * 80

  @Test
  func bytesOfOneValueComeBack() throws {
    for value in [0, 1, 255] as [UInt8] {
      try Self.expectExact([UInt8](repeating: value, count: Self.count), "\(value)")
    }
    try Self.expectExact([7], width: 1, "one byte")
  }

  @Test(arguments: [1, 2, 3, 4, 5, 8, 255, 257, 258, 259, 1000, 8191, 8192, 32_767, 32_768, 32_769])
  func repetitionsAtEachDistanceComeBack(distance: Int) throws {
    var generator = SplitMix64(seed: UInt64(distance))
    let period = (0..<distance).map { _ in UInt8.random(in: 0...255, using: &generator) }
    try Self.expectExact((0..<Self.count).map { period[$0 % distance] }, "all")

    // With changes now and then, so that matches have all lengths.
    var bytes = (0..<Self.count).map { period[$0 % distance] }
    var index = 0
    while index < bytes.count {
      bytes[index] = UInt8.random(in: 0...255, using: &generator)
      index += Int.random(in: 1...400, using: &generator)
    }
    try Self.expectExact(bytes, "with changes")
  }

  @Test
  func shortMatchesInNoiseComeBack() throws {
    var generator = SplitMix64(seed: 5)
    // Triples of equal bytes, as in grey rocks.
    let triples = (0..<Self.count / 3 + 1).flatMap { _ in
      [UInt8](repeating: UInt8.random(in: 0...31, using: &generator), count: 3)
    }
    try Self.expectExact(Array(triples.prefix(Self.count)), "triples")
    try Self.expectExact((0..<Self.count).map { _ in UInt8.random(in: 0...3, using: &generator) }, "two bits")
    try Self.expectExact((0..<Self.count).map { _ in UInt8.random(in: 0...255, using: &generator) }, "noise")
  }

  @Test
  func codesOfTheGreatestLengthComeBack() throws {
    // Frequencies that double make a code of as many lengths as there are symbols.
    var bytes: [UInt8] = []
    for symbol in 0..<15 { bytes += [UInt8](repeating: UInt8(symbol), count: 1 << (14 - symbol)) }
    var generator = SplitMix64(seed: 6)
    let shuffled = Array((bytes + bytes + bytes + bytes).shuffled(using: &generator).prefix(997 * 100))
    try Self.expectExact(shuffled, "doubling")
  }

  @Test
  func blocksOfDifferentKindsComeBack() throws {
    var generator = SplitMix64(seed: 7)
    var bytes: [UInt8] = []
    while bytes.count < 997 * 600 {
      let count = Int.random(in: 1...60_000, using: &generator)
      switch Int.random(in: 0...3, using: &generator) {
      case 0: bytes += (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      case 1: bytes += [UInt8](repeating: UInt8.random(in: 0...255, using: &generator), count: count)
      case 2: bytes += (0..<count).map { _ in UInt8.random(in: 100...110, using: &generator) }
      default: bytes += bytes.suffix(Int.random(in: 1...50_000, using: &generator)).prefix(count)
      }
    }
    try Self.expectExact(Array(bytes.prefix(997 * 600)), "mixed")
  }

  @Test(arguments: [7, 9, 14, 15])
  func aCodeOfBoundedLengthIsComplete(limit: Int) {
    var (fibonacci, next) = ([UInt32(1), 1], UInt32(2))
    while fibonacci.count < min(28, 1 << limit) {
      fibonacci.append(next)
      next = fibonacci.suffix(2).reduce(0, +)
    }
    for frequencies in [fibonacci, [UInt32](repeating: 3, count: 100), [5, 0, 0, 9], [1, 1, 1], Array(0...99)] {
      let code = PrefixCode(frequencies, limit: limit)

      #expect(zip(frequencies, code.lengths).allSatisfy { ($0 == 0) == ($1 == 0) })
      #expect(code.lengths.allSatisfy { $0 <= limit })
      // No code is free, and none the beginning of another.
      let space = code.lengths.filter { $0 > 0 }.map { length -> Int in 1 << (limit - Int(length)) }.reduce(0, +)
      #expect(space == 1 << limit)
      let used = code.lengths.indices.filter { code.lengths[$0] > 0 }
      #expect(Set(used.map { "\(code.codes[$0]) \(code.lengths[$0])" }).count == used.count)
    }
  }

  @Test
  func aRareSymbolHasNoShorterCodeThanACommonOne() {
    let frequencies: [UInt32] = [9, 100, 0, 1, 50, 30, 2]

    let code = PrefixCode(frequencies, limit: 15)

    let byFrequency = frequencies.indices.filter { frequencies[$0] > 0 }.sorted { frequencies[$0] > frequencies[$1] }
    #expect(byFrequency.map { code.lengths[$0] } == byFrequency.map { code.lengths[$0] }.sorted())
    #expect(code.cost(of: frequencies) == 100 + 50 * 2 + 30 * 3 + 9 * 4 + 2 * 5 + 5)
    #expect(PrefixCode([0, 0, 4], limit: 15).lengths == [0, 0, 1])
  }

  @Test
  func costsAreLogarithms() {
    for number in [1, 2, 3, 5, 100, 255, 256, 32_768, 1_000_000] as [UInt32] {
      let exact = log2(Double(number)) * 16

      #expect(abs(Double(DeflateCosts.logarithm(number)) - exact) <= 1)
    }
  }

  @Test
  func eachLengthAndDistanceHasItsSymbol() {
    #expect([3, 10, 11, 12, 13, 257, 258].map { DeflateTables.lengthSymbol[$0] } == [0, 7, 8, 8, 9, 27, 28])
    #expect([3, 10, 11, 257, 258].map { DeflateTables.lengthExtra[$0] } == [0, 0, 1, 5, 0])
    #expect([11, 12, 257, 258].map(DeflateTables.lengthRest) == [0, 1, 30, 0])
    for distance in 1...32_768 {
      let symbol = Int(DeflateTables.distanceSymbol[DeflateTables.distanceClass(UInt32(distance))])
      let first = DeflateTables.distanceBase[symbol]

      #expect((first..<first + 1 << DeflateTables.distanceExtra[symbol]).contains(distance))
    }
  }
}
