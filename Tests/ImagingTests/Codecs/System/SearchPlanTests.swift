import Testing

@testable import VitrineImaging

/// Which blocks of a photograph's PNG are searched for matches.
struct SearchPlanTests {
  /// Asks for a block of noise, and notes its bits if it is searched.
  private func search(_ plan: inout SearchPlan, matched: Int) -> Bool {
    guard plan.depth(zeros: 0, of: 32_768) != nil else { return false }
    plan.note(literals: 1000, matched: matched)
    return true
  }

  @Test(arguments: [(1020, 1), (1000, 2), (998, 2)])
  func blocksThatSaveNothingAreFollowedBySixThatAreNotSearched(matched: Int, searched: Int) {
    var plan = SearchPlan(isThorough: false)
    let blocks = (0..<searched + 7).map { _ in search(&plan, matched: matched) }
    #expect(blocks == Array(repeating: true, count: searched) + Array(repeating: false, count: 6) + [true])
  }

  @Test
  func blocksThatSaveSomethingAreAllSearched() {
    var plan = SearchPlan(isThorough: false)
    let blocks = (0..<20).map { _ in search(&plan, matched: 990) }
    #expect(blocks.allSatisfy { $0 })
  }

  @Test
  func thoroughlyAllAreSearched() {
    var plan = SearchPlan(isThorough: true)
    let blocks = (0..<20).map { _ in search(&plan, matched: 1100) }
    #expect(blocks.allSatisfy { $0 })
  }

  @Test
  func whatIsHalfZerosIsSearchedWhateverWasThere() {
    var plan = SearchPlan(isThorough: false)
    _ = search(&plan, matched: 1020)
    #expect(plan.depth(zeros: 0, of: 32_768) == nil)
    #expect(plan.depth(zeros: 16_384, of: 32_768) != nil)
  }
}
