import Testing
import VitrineRuntime

@testable import Vitrine

/// What several say of bytes that they all wanted.
struct PendingCommitTests {
  private let words = Lock<[CacheWriter.Verdict]>([])
  private let commit: PendingCommit

  init() {
    let words = words
    commit = PendingCommit(to: FetchedBytes(local: .data(Data()))) { word in words.withLock { $0.append(word) } }
  }

  private func expect(_ expected: [CacheWriter.Verdict]) { #expect(words.withLock { $0 } == expected) }

  @Test
  func whatIsGoodIsKeptOnceHoweverManySaySo() {
    for _ in 0..<3 { commit.accept() }
    expect([.good(isKept: true), .keep])
  }

  @Test
  func whatTheFirstDoesNotKeepALaterOneMay() {
    commit.accept(keeps: false)
    expect([.good(isKept: false)])
    commit.accept()
    expect([.good(isKept: false), .keep])
  }

  @Test
  func whatIsBadIsNeverKept() {
    commit.reject()
    commit.accept()
    commit.reject()
    expect([.bad])
  }

  @Test
  func whatIsGoodIsNotDroppedByWhoCannotUseIt() {
    commit.accept()
    commit.reject()
    expect([.good(isKept: true), .keep])
  }

  @Test
  func norIsWhatIsGoodAndWasNotKept() {
    commit.accept(keeps: false)
    commit.reject()
    commit.accept()
    expect([.good(isKept: false), .keep])
  }
}
