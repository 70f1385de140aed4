import Testing
import VitrineRuntime

struct CoreBudgetTests {
  private let budget = CoreBudget(count: 4)

  @Test
  func aLonePieceOfWorkBorrowsAllIdleCores() {
    let share = budget.enter()

    #expect(share.extend(to: 8) == 4)
    #expect(budget.usedCount == 4)
    share.leave()
    #expect(budget.usedCount == 0)
  }

  @Test
  func noMoreThanAskedForIsBorrowed() {
    let share = budget.enter()

    #expect(share.extend(to: 2) == 2)
    #expect(share.extend(to: 1) == 2)
    #expect(share.extend(to: 3) == 3)
    #expect(budget.usedCount == 3)
  }

  @Test
  func whatOthersUseIsNotLent() {
    let others = [budget.enter(), budget.enter()]
    let share = budget.enter()

    #expect(share.extend(to: 8) == 2)
    #expect(others[0].extend(to: 8) == 1)
    others[1].leave()
    #expect(share.extend(to: 8) == 3)
  }

  @Test
  func workNeverWaitsForACoreThatIsLent() {
    let first = budget.enter()
    #expect(first.extend(to: 4) == 4)

    let second = budget.enter()

    #expect(second.extend(to: 4) == 1)
    #expect(budget.usedCount == 5)
    first.leave()
    #expect(second.extend(to: 4) == 4)
  }

  @Test
  func coresComeBackOnce() {
    let (first, second) = (budget.enter(), budget.enter())
    #expect(first.extend(to: 3) == 3)

    first.leave()
    first.leave()

    #expect(budget.usedCount == 1)
    #expect(first.extend(to: 4) == 1)
    #expect(budget.usedCount == 1)
    second.leave()
    #expect(budget.usedCount == 0)
  }

  @Test
  func aShareThatIsForgottenGivesItsCoresBack() {
    do { #expect(budget.enter().extend(to: 3) == 3) }

    #expect(budget.usedCount == 0)
  }

  @Test
  func oneCoreHasNothingToLend() {
    let budget = CoreBudget(count: 0)

    #expect(budget.count == 1)
    #expect(budget.enter().extend(to: 8) == 1)
  }

  @Test(arguments: [
    ("Name:\tx\nCpus_allowed:\tf\nCpus_allowed_list:\t0-3\n", 4), ("Cpus_allowed:\tff,00000001", 9),
    ("Cpus_allowed:\t0", nil), ("Name:\tx", nil), ("", nil),
  ])
  func theProcessorsOfAMaskAreCounted(status: String, count: Int?) {
    #expect(CoreBudget.allowedCount(status: status) == count)
  }
}
