import Testing
import VitrineRuntime

@testable import VitrineHTTP

private let noon = Date(timeIntervalSince1970: 784_123_200)

/// One rule: what the request's own `Cache-Control` makes of a response that is fresh for a minute.
struct DirectiveRule: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let control: String
  var stored: String? = "max-age=60"
  var age = 0
  var policy = CachePolicy.standard
  let after: Double
  let action: Freshness.Action
  let reason: Freshness.Reason

  static let all: [DirectiveRule] = [
    DirectiveRule(
      testDescription: "9111 5.2.1.4: no-cache revalidates what is fresh",
      control: "no-cache",
      after: 1,
      action: .revalidate,
      reason: .request,
    ),
    DirectiveRule(
      testDescription: "9111 5.2.1.1: max-age accepts what is young enough",
      control: "max-age=10",
      after: 10,
      action: .serve,
      reason: .maxAge,
    ),
    DirectiveRule(
      testDescription: "9111 5.2.1.1: and no more",
      control: "MAX-AGE=10",
      after: 11,
      action: .revalidate,
      reason: .request,
    ),
    DirectiveRule(
      testDescription: "9111 5.2.1.1: the age on arrival counts",
      control: "max-age=10",
      age: 10,
      after: 1,
      action: .revalidate,
      reason: .request,
    ),
    DirectiveRule(
      testDescription: "9111 5.2.1.1: max-age=0 accepts nothing that is stored",
      control: "max-age=0",
      after: 0,
      action: .revalidate,
      reason: .request,
    ),
    DirectiveRule(
      testDescription: "9111 5.2.1.3: min-fresh",
      control: "min-fresh=20",
      after: 40,
      action: .serve,
      reason: .maxAge,
    ),
    DirectiveRule(
      testDescription: "9111 5.2.1.3: too little is left",
      control: "min-fresh=20",
      after: 41,
      action: .revalidate,
      reason: .request,
    ),
    DirectiveRule(
      testDescription: "9111 5.2.1.2: max-stale accepts what is stale",
      control: "max-stale=30",
      after: 89,
      action: .serve,
      reason: .request,
    ),
    DirectiveRule(
      testDescription: "9111 5.2.1.2: up to its limit",
      control: "max-stale=30",
      after: 90,
      action: .revalidate,
      reason: .maxAge,
    ),
    DirectiveRule(
      testDescription: "9111 5.2.1.2: without a limit however stale",
      control: "max-stale",
      after: 1_000_000,
      action: .serve,
      reason: .request,
    ),
    DirectiveRule(
      testDescription: "9111 5.2.2.2: must-revalidate is stronger",
      control: "max-stale",
      stored: "max-age=60, must-revalidate",
      after: 61,
      action: .revalidate,
      reason: .maxAge,
    ),
    DirectiveRule(
      testDescription: "9111 5.2.1.7: only-if-cached serves what is fresh",
      control: "only-if-cached",
      after: 59,
      action: .serve,
      reason: .maxAge,
    ),
    DirectiveRule(
      testDescription: "9111 5.2.1.7: and fails for what is stale",
      control: "only-if-cached",
      after: 60,
      action: .fail,
      reason: .request,
    ),
    DirectiveRule(
      testDescription: "9111 5.2.1.7: or not stored",
      control: "only-if-cached",
      stored: nil,
      after: 0,
      action: .fail,
      reason: .nothingStored,
    ),
    DirectiveRule(
      testDescription: "a policy allows no more than the directives",
      control: "max-age=10",
      policy: .cacheFirst,
      after: 11,
      action: .revalidate,
      reason: .request,
    ),
    DirectiveRule(
      testDescription: "other directives change nothing",
      control: "no-transform, x=1",
      after: 59,
      action: .serve,
      reason: .maxAge,
    ),
  ]
}

struct RequestDirectiveTests {
  private func stored(_ control: String, age: Int = 0) throws -> StoredResponse {
    let headers: HTTPFields = ["Cache-Control": control, "Age": "\(age)", "ETag": "\"1\""]
    let response = HTTPResponse(status: 200, headers: headers, url: try HTTPURL("http://a.example/"))
    return StoredResponse(response, requested: noon, received: noon)
  }

  @Test(arguments: DirectiveRule.all)
  func aRequestsCacheControlMeansWhatItSays(rule: DirectiveRule) throws {
    let known = try rule.stored.map { try self.stored($0, age: rule.age) }
    let decision = Freshness().decide(
      known,
      for: ["Cache-Control": rule.control],
      policy: rule.policy,
      now: noon.addingTimeInterval(rule.after),
    )
    #expect(decision.action == rule.action)
    #expect(decision.reason == rule.reason)
  }

  /// RFC 9111 5.2.1.1 and 5.2.1.4.
  @Test
  func whoeverInsistsTellsTheCachesOnTheWay() throws {
    func control(_ policy: CachePolicy, own: HTTPFields = [:], _ stored: StoredResponse?) -> String? {
      let later = noon.addingTimeInterval(100)
      return Freshness().decide(stored, for: own, policy: policy, now: later).headers["Cache-Control"]
    }
    let stored = try stored("max-age=60")
    #expect(control(.maxAge(.zero), stored) == "max-age=0")
    #expect(control(.maxAge(.seconds(50)), stored) == "max-age=50")
    #expect(control(.maxAge(.seconds(-1)), nil) == "max-age=0")
    #expect(control(.reload, stored) == "no-cache")
    #expect(control(.standard, stored) == nil)
    #expect(control(.reload, own: ["Cache-Control": "no-store"], nil) == "no-store, no-cache")
    let decision = Freshness().decide(stored, policy: .maxAge(.zero), now: noon.addingTimeInterval(1))
    #expect(decision.headers["If-None-Match"] == "\"1\"")
  }

  /// RFC 9111 5.1.
  @Test(arguments: [("7200, 0", 7200.0), ("0, 7200", 0.0), ("7200", 7200.0), ("x", 0.0), (", 7", 7.0)])
  func theFirstOfSeveralAgesCounts(value: String, age: Double) throws {
    let headers: HTTPFields = ["Cache-Control": "max-age=10000", "Age": value]
    let response = HTTPResponse(status: 200, headers: headers, url: try HTTPURL("http://a.example/"))
    let stored = StoredResponse(response, requested: noon, received: noon)
    #expect(Freshness().decide(stored, now: noon).expires == noon.addingTimeInterval(10_000 - age))
  }

  /// RFC 9111 4.2.4: a server that answers has been reached.
  @Test
  func onAServersErrorOnlyWhatIsPermittedIsServed() throws {
    let plain = try stored("max-age=60")
    let permitted = try stored("max-age=60, stale-if-error=30")
    #expect(Freshness().decide(plain, now: noon).usableOnServerErrorUntil == nil)
    #expect(Freshness().decide(plain, now: noon).usableOnErrorUntil == noon.addingTimeInterval(86_460))
    #expect(Freshness().decide(permitted, now: noon).usableOnServerErrorUntil == noon.addingTimeInterval(90))
    var configured = Freshness()
    configured.staleIfServerError = .seconds(600)
    #expect(configured.decide(plain, now: noon).usableOnServerErrorUntil == noon.addingTimeInterval(660))
    #expect(configured.decide(permitted, now: noon).usableOnServerErrorUntil == noon.addingTimeInterval(90))
  }

  /// RFC 9110 15.1.
  @Test(
    arguments: [
      (404, ["Last-Modified": "Sun, 06 Nov 1994 02:00:00 GMT", "Date": "Sun, 06 Nov 1994 12:00:00 GMT"], 3600),
      (403, ["Last-Modified": "Sun, 06 Nov 1994 02:00:00 GMT", "Date": "Sun, 06 Nov 1994 12:00:00 GMT"], 0),
      (404, [:], 0), (410, ["Cache-Control": "max-age=7"], 7), (503, ["Cache-Control": "max-age=7", "Age": "3"], 4),
    ] as [(Int, HTTPFields, Double)]
  )
  func anErrorIsFreshOnlyByItsOwnWord(status: Int, headers: HTTPFields, lifetime: Double) throws {
    let response = HTTPResponse(status: status, headers: headers, url: try HTTPURL("http://a.example/"))
    let stored = StoredResponse(response, requested: noon, received: noon)
    #expect(Freshness().decide(stored, now: noon).expires == noon.addingTimeInterval(lifetime))
    #expect(stored.hasFreshnessInformation == (lifetime > 0))
  }
}
