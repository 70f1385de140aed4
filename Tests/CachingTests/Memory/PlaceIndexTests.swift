import Testing
import VitrineTestSupport

@testable import VitrineCaching

struct PlaceIndexTests {
  private func hash(_ low: UInt64) -> KeyHash { KeyHash(low: low, high: 0) }

  @Test
  func anEmptyOneHasNothingAndLosesNothing() {
    var index = PlaceIndex()
    #expect(index.place(hash(0)) { _ in true } == nil)
    index.remove(hash(0), 0)
    #expect(index.count == 0)
  }

  @Test
  func aPlaceIsFoundAndRemoved() {
    var index = PlaceIndex()
    index.insert(hash(7), 3)
    #expect(index.place(hash(7)) { _ in true } == 3)
    #expect(index.place(hash(7)) { _ in false } == nil)
    #expect(index.place(hash(8)) { _ in true } == nil)
    index.remove(hash(7), 3)
    #expect(index.place(hash(7)) { _ in true } == nil)
    #expect(index.count == 0)
  }

  @Test
  func keysOfOneHashHavePlacesOfTheirOwn() {
    var index = PlaceIndex()
    for place in 0..<5 { index.insert(hash(7), place) }
    for place in 0..<5 { #expect(index.place(hash(7)) { $0 == place } == place) }
    index.remove(hash(7), 2)
    #expect(index.place(hash(7)) { $0 == 2 } == nil)
    #expect([0, 1, 3, 4].allSatisfy { place in index.place(hash(7)) { $0 == place } == place })
  }

  /// Hashes that want few slots, and those beside them, and those at the seam: every order of coming and going.
  @Test(arguments: [1, 2, 3, 8, 100, 100_000] as [UInt64])
  func whateverComesAndGoesItAgreesWithADictionary(spread: UInt64) {
    var random = SplitMix64(seed: spread)
    var index = PlaceIndex()
    // The places of the keys, which are hashes here, and the other way around.
    var places: [UInt64: Int] = [:]
    var keys: [Int: UInt64] = [:]
    for step in 0..<20_000 {
      // Equal in the bits that choose a slot, or in all that the index keeps, or nearly.
      let key =
        UInt64.random(in: 0..<spread, using: &random) &- spread / 2 &+ (.random(in: 0..<8, using: &random) << 32)
      // Fills for a while, then empties.
      if Int.random(in: 0..<3, using: &random) < (step / 4000 % 2 == 0 ? 2 : 1) {
        if places[key] == nil {
          index.insert(hash(key), step)
          (places[key], keys[step]) = (step, key)
        }
      } else if let place = places.removeValue(forKey: key) {
        index.remove(hash(key), place)
        keys[place] = nil
      }
      #expect(index.count == places.count)
      #expect(index.place(hash(key)) { keys[$0] == key } == places[key])
      if step % 1000 == 0 { expectEqual(index, places, keys) }
    }
    expectEqual(index, places, keys)
    for (key, place) in places { index.remove(hash(key), place) }
    #expect(index.count == 0)
  }

  private func expectEqual(_ index: PlaceIndex, _ places: [UInt64: Int], _ keys: [Int: UInt64]) {
    for (key, place) in places { #expect(index.place(hash(key)) { keys[$0] == key } == place) }
  }
}
