import Testing

@testable import VitrineImaging

@Suite
struct ElementsTests {
  @Test
  func readsAndWritesWithinItsBounds() {
    let owner = OwnedElements(repeating: UInt8(7), count: 40)
    let all = owner.elements
    all[0] = 1
    all[39] = 2
    #expect(all.elements[0] == 1 && all.elements[39] == 2 && all[20] == 7)
    let part = all.extracting(38..<40)
    #expect(part.count == 2 && part[0] == 7 && part[1] == 2)
    #expect(all.extracting(40..<40).count == 0)
    all.store(SIMD16(repeating: 9), at: 24)
    #expect(all[23] == 7 && all[24] == 9 && all[39] == 9 && all.four(at: 36) == SIMD4(repeating: 9))
    all.extracting(0..<24).update(from: all.elements.extracting(20..<40))
    #expect(all[3] == 7 && all[4] == 9 && all[19] == 9 && all[20] == 7)
    all.update(repeating: 3)
    #expect(all.indices.allSatisfy { all[$0] == 3 })
    withExtendedLifetime(owner) {}
  }

  @Test
  func nothingHasNoElements() {
    let none = unsafe Elements<UInt8>(UnsafeBufferPointer(start: nil, count: 0))
    #expect(none.count == 0 && none.extracting(0..<0).count == 0)
    let few = OwnedElements(repeating: UInt8(1), count: 2)
    few.elements.update(from: none)
    #expect(few.elements[0] == 1)
    withExtendedLifetime(few) {}
  }

  /// What lies outside stops the program, in every build.
  @Test(arguments: 0..<12)
  func stopsOutsideOfItsBounds(_ place: Int) async {
    await #expect(processExitsWith: .failure) { [place = place as Int] in
      let owner = OwnedElements(repeating: UInt8(7), count: 20)
      let all = owner.elements
      switch place {
      case 0: _ = all[20]
      case 1: _ = all[-1]
      case 2: _ = all.elements[20]
      case 3: all[20] = 1
      case 4: _ = all.four(at: 17)
      case 5: _ = all.sixteen(at: 5)
      case 6: _ = all.sixteen(at: -1)
      case 7: all.store(SIMD4(repeating: 1), at: 17)
      case 8: all.store(SIMD16(repeating: 1), at: Int.max)
      case 9: _ = all.extracting(10..<21)
      case 10: _ = all.elements.extracting(-1..<2)
      default: all.extracting(0..<4).update(from: all.elements)
      }
      withExtendedLifetime(owner) {}
    }
  }
}
