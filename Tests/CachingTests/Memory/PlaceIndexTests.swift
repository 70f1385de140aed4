import Testing

@testable import VitrineCaching

struct PlaceIndexTests {
  private func hash(_ low: UInt64) -> KeyHash { KeyHash(low: low, high: 0) }

  @Test
  func anEmptyOneHasNothingAndLosesNothing() {
    var index = PlaceIndex()
    #expect(index[hash(0)] == nil)
    index[hash(0)] = nil
    #expect(index.count == 0)
  }

  @Test
  func aPlaceIsFoundReplacedAndRemoved() {
    var index = PlaceIndex()
    index[hash(7)] = 3
    #expect(index[hash(7)] == 3)
    index[hash(7)] = 0
    #expect(index[hash(7)] == 0)
    #expect(index.count == 1)
    index[hash(7)] = nil
    #expect(index[hash(7)] == nil)
    #expect(index.count == 0)
  }

  /// Hashes that want few slots, and those beside them, and those at the seam: every order of coming and going.
  @Test(arguments: [1, 2, 3, 8, 100, 100_000] as [UInt64])
  func whateverComesAndGoesItAgreesWithADictionary(spread: UInt64) {
    var random = SplitMix(state: spread)
    var index = PlaceIndex()
    var dictionary: [UInt64: Int] = [:]
    for step in 0..<20_000 {
      // Equal in the bits that choose a slot, or nearly.
      let hash =
        UInt64.random(in: 0..<spread, using: &random) &- spread / 2 &+ (.random(in: 0..<8, using: &random) << 32)
      // Fills for a while, then empties.
      if Int.random(in: 0..<3, using: &random) < (step / 4000 % 2 == 0 ? 2 : 1) {
        index[self.hash(hash)] = step
        dictionary[hash] = step
      } else {
        index[self.hash(hash)] = nil
        dictionary[hash] = nil
      }
      #expect(index.count == dictionary.count)
      #expect(index[self.hash(hash)] == dictionary[hash])
      if step % 1000 == 0 { expectEqual(index, dictionary) }
    }
    expectEqual(index, dictionary)
    for hash in dictionary.keys { index[self.hash(hash)] = nil }
    #expect(index.count == 0)
  }

  private func expectEqual(_ index: PlaceIndex, _ dictionary: [UInt64: Int]) {
    for (hash, place) in dictionary { #expect(index[self.hash(hash)] == place) }
  }
}
