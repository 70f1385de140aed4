import Testing
import VitrineHTTP

struct FailureMemoryTests {
  private func error(_ code: HTTPError.Code, _ status: Int? = nil) -> HTTPError {
    HTTPError(code, url: "http://a.example/", status: status, "a")
  }

  /// How long it is remembered.
  private func span(_ error: HTTPError, times: Int = 1, retryAfter: Duration? = nil) -> Duration {
    var memory = FailureMemory<String>()
    for _ in 0..<times { memory.record(error, for: "a", retryAfter: retryAfter, now: .zero) }
    return (0...4000).first { memory.failure(for: "a", now: .seconds($0)) == nil }.map { .seconds($0) } ?? .zero
  }

  @Test
  func whatIsGoneIsRememberedLongerThanWhatMayComeBack() {
    #expect(span(error(.badStatus, 404)) == .seconds(300))
    #expect(span(error(.badStatus, 410)) == .seconds(3600))
    #expect(span(error(.badStatus, 403)) == .seconds(60))
    #expect(span(error(.badStatus, 503)) == .seconds(10))
    #expect(span(error(.cannotResolve)) == .seconds(10))
    #expect(span(error(.timedOut), times: 3) == .seconds(40))
    #expect(span(error(.timedOut), times: 20) == .seconds(300))
  }

  @Test
  func whatSaysNothingOfTheURLIsNotRemembered() {
    for error in [error(.cancelled), error(.invalidRequest), error(.tooLarge), error(.badStatus, 408)] {
      #expect(span(error) == .zero)
    }
  }

  @Test
  func aServersWishCountsWithinAnHour() {
    #expect(span(error(.badStatus, 503), retryAfter: .seconds(77)) == .seconds(77))
    #expect(span(error(.badStatus, 404), retryAfter: .seconds(1 << 40)) == .seconds(3600))
  }

  @Test
  func whatWorkedIsForgotten() {
    var memory = FailureMemory<String>()
    memory.record(error(.timedOut), for: "a", now: .zero)
    memory.record(error(.timedOut), for: "b", now: .zero)
    memory.forget("a")
    #expect(memory.failure(for: "a", now: .zero) == nil)
    #expect(memory.failure(for: "b", now: .zero)?.code == .timedOut)
    memory.removeAll()
    #expect(memory.count == 0)
  }

  @Test
  func theOldestGoFirstAboveTheLimit() {
    var memory = FailureMemory<String>(limit: 100)
    for number in 0..<1000 {
      memory.record(error(.badStatus, 410), for: "\(number)", now: .milliseconds(number))
      #expect(memory.count <= 100)
    }
    #expect(memory.failure(for: "999", now: .seconds(1)) != nil)
    #expect(memory.failure(for: "950", now: .seconds(1)) != nil)
    #expect(memory.failure(for: "800", now: .seconds(1)) == nil)
  }
}

extension FailureMemory {
  fileprivate func failure(for key: Key, now: Duration) -> HTTPError? { standing(for: key, now: now)?.error }
}
