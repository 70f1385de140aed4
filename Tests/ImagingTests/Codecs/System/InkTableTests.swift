import Testing
import VitrineRuntime

@testable import VitrineImaging

struct InkTableTests {
  /// Converts mixtures of inks.
  private static func colors(
    _ table: InkTable,
    _ inks: [SIMD4<UInt8>],
    _ color: (SIMD4<UInt16>) -> SIMD4<UInt16>,
  ) -> [SIMD4<UInt8>] {
    var pixels = inks
    unsafe pixels.withUnsafeMutableBytes { table.apply(to: unsafe MutableElements($0), color) }
    return pixels
  }

  /// Each ink takes away one colour, and black takes an eighth of all.
  private static func linear(_ inks: SIMD4<UInt16>) -> SIMD4<UInt16> {
    func level(_ ink: UInt16) -> UInt16 { UInt16(65_535 - (Int(ink) * 7 + Int(inks.w)) / 8 as Int) }
    return SIMD4(level(inks.x), level(inks.y), level(inks.z), 9)
  }

  private static let mixtures: [SIMD4<UInt8>] = (0..<4000).map { (index: Int) -> SIMD4<UInt8> in
    let inks = SIMD4<Int32>(repeating: Int32(index)) &* SIMD4(7, 11, 31, 13) / SIMD4(1, 3, 7, 5)
    return SIMD4(truncatingIfNeeded: inks)
  }

  @Test
  func whatIsBetweenTheColoursOfTheTableIsInterpolated() {
    let result = Self.colors(InkTable(), Self.mixtures, Self.linear)

    for (inks, color) in zip(Self.mixtures, result) {
      let exact = Self.linear(SIMD4<UInt16>(truncatingIfNeeded: inks) &* 257)
      for index in 0..<3 { #expect(abs(Double(exact[index]) / 257 - Double(color[index])) < 0.51) }
      #expect(color.w == 255)
    }
  }

  @Test
  func paperAndFullInksAreExact() {
    let inks: [SIMD4<UInt8>] = [SIMD4(), SIMD4(repeating: 255), SIMD4(255, 0, 0, 0), SIMD4(0, 0, 255, 255)]
    var asked: [SIMD4<UInt16>] = []

    let result = Self.colors(InkTable(), inks) { mixture in
      asked.append(mixture)
      return mixture
    }

    let ends = inks.map { SIMD4<UInt16>(truncatingIfNeeded: $0) &* 257 }
    #expect(asked == ends)
    #expect(result == inks.map { SIMD4($0.x, $0.y, $0.z, 255) })
  }

  @Test
  func aColourIsComputedOnce() {
    let table = InkTable()
    var count = 0
    func counted(_ inks: SIMD4<UInt16>) -> SIMD4<UInt16> {
      count += 1
      return Self.linear(inks)
    }

    let first = Self.colors(table, [SIMD4](repeating: SIMD4(1, 2, 3, 4), count: 1000), counted)
    #expect(count == 5)
    #expect(Set(first).count == 1)

    // A black colour is known, too.
    _ = Self.colors(table, [SIMD4(255, 255, 255, 255)]) { _ in SIMD4() }
    _ = Self.colors(table, [SIMD4(1, 2, 3, 4), SIMD4(255, 255, 255, 255)], counted)
    #expect(count == 5)
  }

  @Test
  func threadsShareATable() async {
    let table = InkTable()
    let expected = Self.colors(InkTable(), Self.mixtures, Self.linear)

    let results = await withTaskGroup { group in
      for _ in 0..<4 { group.addTask { Self.colors(table, Self.mixtures, Self.linear) } }
      return await group.reduce(into: []) { $0.append($1) }
    }

    #expect(results.allSatisfy { $0 == expected })
  }
}
