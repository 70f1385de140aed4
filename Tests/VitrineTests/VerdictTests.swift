import Testing
import VitrineRuntime

@testable import Vitrine

/// What several say of bytes that they all wanted.
struct VerdictTests {
  private let words = Lock<[Verdict.Word]>([])
  private let verdict: Verdict

  init() {
    let words = words
    verdict = Verdict { word in words.withLock { $0.append(word) } }
  }

  private func expect(_ expected: [Verdict.Word]) { #expect(words.withLock { $0 } == expected) }

  @Test
  func whatIsGoodIsKeptOnceHoweverManySaySo() {
    for _ in 0..<3 { verdict(true) }
    expect([.good(isKept: true), .keep])
  }

  @Test
  func whatTheFirstDoesNotKeepALaterOneMay() {
    verdict(true, keeps: false)
    expect([.good(isKept: false)])
    verdict(true)
    expect([.good(isKept: false), .keep])
  }

  @Test
  func whatIsBadIsNeverKept() {
    verdict(false)
    verdict(true)
    verdict(false)
    expect([.bad])
  }

  @Test
  func whatIsGoodIsNotDroppedByWhoCannotUseIt() {
    verdict(true)
    verdict(false)
    expect([.good(isKept: true), .keep])
  }
}
