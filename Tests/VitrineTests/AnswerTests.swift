import Testing
import VitrineRuntime

@testable import Vitrine

/// What several say of bytes that they all wanted.
struct AnswerTests {
  private let words = Lock<[Answer.Word]>([])
  private let answer: Answer

  init() {
    let words = words
    answer = Answer(to: FetchedBytes(local: Data())) { word in words.withLock { $0.append(word) } }
  }

  private func expect(_ expected: [Answer.Word]) { #expect(words.withLock { $0 } == expected) }

  @Test
  func whatIsGoodIsKeptOnceHoweverManySaySo() {
    for _ in 0..<3 { answer.accept() }
    expect([.good(isKept: true), .keep])
  }

  @Test
  func whatTheFirstDoesNotKeepALaterOneMay() {
    answer.accept(keeps: false)
    expect([.good(isKept: false)])
    answer.accept()
    expect([.good(isKept: false), .keep])
  }

  @Test
  func whatIsBadIsNeverKept() {
    answer.reject()
    answer.accept()
    answer.reject()
    expect([.bad])
  }

  @Test
  func whatIsGoodIsNotDroppedByWhoCannotUseIt() {
    answer.accept()
    answer.reject()
    expect([.good(isKept: true), .keep])
  }

  @Test
  func norIsWhatIsGoodAndWasNotKept() {
    answer.accept(keeps: false)
    answer.reject()
    answer.accept()
    expect([.good(isKept: false), .keep])
  }
}
