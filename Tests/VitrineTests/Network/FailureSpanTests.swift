import Testing
import VitrineHTTP
import VitrineRuntime

@testable import Vitrine

/// How long failures without a freshness of their own are remembered, without a clock and a server.
struct FailureSpanTests {
  private let failures = RecentFailures(by: Freshness(), remembers: true)

  private func error(_ code: HTTPError.Code, _ status: Int? = nil) -> HTTPError {
    HTTPError(code, url: "http://a.example/", status: status, "a")
  }

  private func request(_ name: String) -> ImageRequest { ImageRequest(url: "http://a.example/\(name)") }

  private func record(_ error: HTTPError, _ name: String, retryAfter: Duration? = nil, at uptime: Duration = .zero) {
    failures.record(error, retryAfter: retryAfter, for: request(name).keys.fetch, nil, now: .now, uptime: uptime)
  }

  private func failure(_ name: String, at uptime: Duration) -> LoadError? {
    failures.error(for: request(name), name, fields: [:], nil, now: .now, uptime: uptime)
  }

  /// How long it is remembered.
  private func span(_ error: HTTPError, times: Int = 1, retryAfter: Duration? = nil) -> Duration {
    failures.removeAll()
    for _ in 0..<times { record(error, "a", retryAfter: retryAfter) }
    return (0...4000).first { failure("a", at: .seconds($0)) == nil }.map { .seconds($0) } ?? .zero
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
    record(error(.timedOut), "a")
    record(error(.timedOut), "b")
    failures.forget(request("a").keys.fetch)
    #expect(failure("a", at: .zero) == nil)
    #expect(failure("b", at: .zero)?.cause as? HTTPError == error(.timedOut))
    failures.removeAll()
    #expect(failures.count == 0)
  }

  @Test
  func theOldestGoFirstAboveTheLimit() {
    for number in 0..<10_000 {
      record(error(.badStatus, 410), "\(number)", at: .milliseconds(number))
      #expect(failures.count <= 1000)
    }
    #expect(failure("9999", at: .seconds(10)) != nil)
    #expect(failure("9500", at: .seconds(10)) != nil)
    #expect(failure("8000", at: .seconds(10)) == nil)
  }
}
