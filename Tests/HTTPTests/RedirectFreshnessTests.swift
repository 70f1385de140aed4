import Testing
import VitrineRuntime

@testable import VitrineHTTP

private let noon = Date(timeIntervalSince1970: 784_123_200)  // Sun, 06 Nov 1994 12:00:00 GMT

/// One rule: a response that is fresh for a year, the redirects before it, and the request some seconds later.
struct RedirectRule: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let redirects: [HTTPRedirect]
  var headers: HTTPFields = ["Cache-Control": "max-age=31536000, immutable", "ETag": "\"1\""]
  var asking: HTTPFields = [:]
  var policy = CachePolicy.standard
  let after: Double
  let action: Freshness.Action
  let reason: Freshness.Reason
  var isStorable = true

  private static func hop(_ status: Int, _ control: String? = nil, elapsed: Int = 0) -> HTTPRedirect {
    HTTPRedirect(status: status, headers: control.map { ["Cache-Control": $0] } ?? [:], elapsed: .seconds(elapsed))
  }

  static let all: [RedirectRule] = [
    RedirectRule(
      testDescription: "9111 4.2: a redirect is fresh until its own max-age",
      redirects: [hop(302, "max-age=60")],
      after: 59,
      action: .serve,
      reason: .redirect,
    ),
    RedirectRule(
      testDescription: "9111 4.2: and stale after it",
      redirects: [hop(302, "max-age=60")],
      after: 60,
      action: .revalidate,
      reason: .redirect,
    ),
    RedirectRule(
      testDescription: "9111 4.2: counted from its own arrival",
      redirects: [hop(302, "max-age=60", elapsed: 30)],
      after: 30,
      action: .revalidate,
      reason: .redirect,
    ),
    RedirectRule(
      testDescription: "9110 15.4.3: a temporary redirect without freshness is asked again",
      redirects: [hop(302)],
      after: 0,
      action: .revalidate,
      reason: .redirect,
    ),
    RedirectRule(
      testDescription: "9110 15.4.4: see other, too",
      redirects: [hop(303)],
      after: 0,
      action: .revalidate,
      reason: .redirect,
    ),
    RedirectRule(
      testDescription: "9110 15.4.8: a temporary one of the newer kind, too",
      redirects: [hop(307)],
      after: 0,
      action: .revalidate,
      reason: .redirect,
    ),
    RedirectRule(
      testDescription: "9110 15.4.2: a permanent redirect is fresh heuristically",
      redirects: [hop(301)],
      after: 4 * 3600 - 1,
      action: .serve,
      reason: .redirect,
    ),
    RedirectRule(
      testDescription: "9110 15.4.9: the newer kind, too",
      redirects: [hop(308)],
      after: 4 * 3600,
      action: .revalidate,
      reason: .redirect,
    ),
    RedirectRule(
      testDescription: "9111 4.2: the first of several to become stale decides",
      redirects: [hop(301, "max-age=1000"), hop(302, "max-age=10"), hop(308, "max-age=100")],
      after: 10,
      action: .revalidate,
      reason: .redirect,
    ),
    RedirectRule(
      testDescription: "9111 4.2: a response that is stale before its redirect",
      redirects: [hop(301, "max-age=1000")],
      headers: ["Cache-Control": "max-age=10", "ETag": "\"1\""],
      after: 10,
      action: .revalidate,
      reason: .maxAge,
    ),
    RedirectRule(
      testDescription: "9111 5.2.2.4: no-cache of a redirect",
      redirects: [hop(301, "max-age=1000, no-cache")],
      after: 0,
      action: .revalidate,
      reason: .noCache,
    ),
    RedirectRule(
      testDescription: "9111 5.2.2.5: no-store of a redirect",
      redirects: [hop(301), hop(302, "no-store")],
      after: 0,
      action: .revalidate,
      reason: .redirect,
      isStorable: false,
    ),
    RedirectRule(
      testDescription: "5861 3: stale-while-revalidate holds for what both permit",
      redirects: [hop(302, "max-age=60, stale-while-revalidate=60")],
      headers: ["Cache-Control": "max-age=60, stale-while-revalidate=600", "ETag": "\"1\""],
      after: 119,
      action: .serveAndRevalidate,
      reason: .staleWhileRevalidate,
    ),
    RedirectRule(
      testDescription: "5861 3: and not beyond",
      redirects: [hop(302, "max-age=60")],
      headers: ["Cache-Control": "max-age=60, stale-while-revalidate=600", "ETag": "\"1\""],
      after: 61,
      action: .revalidate,
      reason: .maxAge,
    ),
    RedirectRule(
      testDescription: "an age in place of headers is that of the redirects, too",
      redirects: [hop(302)],
      policy: .maxAge(.seconds(60)),
      after: 59,
      action: .serve,
      reason: .policy,
    ),
    RedirectRule(
      testDescription: "9111 4.1: Vary of a redirect",
      redirects: [HTTPRedirect(status: 302, headers: ["Vary": "Accept-Language", "Cache-Control": "max-age=60"])],
      asking: ["Accept-Language": "eo"],
      after: 0,
      action: .fetch,
      reason: .vary,
    ),
  ]
}

struct RedirectFreshnessTests {
  private func response(_ headers: HTTPFields, after redirects: [HTTPRedirect]) throws -> HTTPResponse {
    var response = HTTPResponse(status: 200, headers: headers, url: try HTTPURL("http://a.example/"))
    response.redirects = redirects
    return response
  }

  @Test(arguments: RedirectRule.all)
  func aResponseIsNoFresherThanItsRedirects(rule: RedirectRule) throws {
    let response = try response(rule.headers, after: rule.redirects)
    let stored = StoredResponse(response, requested: noon, received: noon)
    let now = noon.addingTimeInterval(rule.after)

    let decision = Freshness().decide(stored, for: rule.asking, policy: rule.policy, now: now)

    #expect(decision.action == rule.action)
    #expect(decision.reason == rule.reason)
    #expect(stored.isStorable == rule.isStorable)
    // A cache reads back what it decides by.
    #expect(StoredResponse(encoded: stored.encoded) == stored)
  }

  @Test
  func aConfirmationComesOverRedirectsOfItsOwn() throws {
    let year: HTTPFields = ["Cache-Control": "max-age=31536000", "ETag": "\"1\""]
    let redirect = HTTPRedirect(status: 302, headers: ["Cache-Control": "max-age=10"])
    let old = StoredResponse(try response(year, after: [redirect]), requested: noon, received: noon)
    var confirmation = try response([:], after: [])
    confirmation.status = 304

    let direct = old.renewed(by: confirmation, requested: noon, received: noon)
    confirmation.redirects = [redirect, redirect]
    let again = direct.renewed(by: confirmation, requested: noon, received: noon)

    #expect(Freshness().decide(direct, now: noon).expires == noon.addingTimeInterval(31_536_000))
    #expect(Freshness().decide(again, now: noon).expires == noon.addingTimeInterval(10))
  }

  @Test
  func aDamagedRecordOfRedirectsIsRefused() throws {
    let stored = StoredResponse(
      try response(["ETag": "\"1\""], after: [HTTPRedirect(status: 302, headers: ["Age": "1"])]),
      requested: noon,
      received: noon,
    )
    let bytes = stored.encoded
    #expect(bytes[0] == 3)
    #expect(StoredResponse(encoded: Data([2]) + bytes.dropFirst()) == nil)
    for count in 0..<bytes.count { #expect(StoredResponse(encoded: bytes.prefix(count)) != stored) }
  }
}
