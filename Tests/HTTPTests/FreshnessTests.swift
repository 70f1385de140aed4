import Testing
import VitrineRuntime

@testable import VitrineHTTP

private let noon = Date(timeIntervalSince1970: 784_123_200)  // Sun, 06 Nov 1994 12:00:00 GMT
private let noonText = "Sun, 06 Nov 1994 12:00:00 GMT"

/// One rule: what came with a response at noon, and what is to be done some seconds later.
struct Rule: Sendable, CustomTestStringConvertible {
  let name: String
  let headers: HTTPFields
  /// What the request said whose response is stored.
  var sent: HTTPFields = [:]
  /// What the one says that asks for it.
  var asking: HTTPFields = [:]
  var policy = CachePolicy.standard
  var delay = 0.0
  let after: Double
  let action: Freshness.Action
  let reason: Freshness.Reason
  var expires: Double?
  var usableOnErrorUntil: Double??
  var usableWhileRevalidatingUntil: Double??

  var testDescription: String { name }

  static let etag: HTTPFields = ["ETag": "\"1\""]

  static let all: [Rule] = [
    Rule(
      name: "9111 5.2.2.1: fresh until max-age",
      headers: ["Cache-Control": "max-age=60"],
      after: 59,
      action: .serve,
      reason: .maxAge,
      expires: 60,
    ),
    Rule(
      name: "9111 4.2: stale when its age is its lifetime",
      headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""],
      after: 60,
      action: .revalidate,
      reason: .maxAge,
    ),
    Rule(
      name: "9111 4.3: without a validator there is nothing to validate",
      headers: ["Cache-Control": "max-age=60"],
      after: 60,
      action: .fetch,
      reason: .maxAge,
    ),
    Rule(
      name: "9111 4.2.1: directives in any case",
      headers: ["cache-control": "Public, MAX-AGE=60"],
      after: 59,
      action: .serve,
      reason: .maxAge,
    ),
    Rule(
      name: "9111 5.2: an argument may be quoted",
      headers: ["Cache-Control": "max-age=\"60\""],
      after: 59,
      action: .serve,
      reason: .maxAge,
    ),
    Rule(
      name: "9111 4.2.1: the smaller of two",
      headers: ["Cache-Control": "max-age=600, max-age=60"],
      after: 0,
      action: .serve,
      reason: .maxAge,
      expires: 60,
    ),
    Rule(
      name: "9111 4.2.1: over repeated fields too",
      headers: ["Cache-Control": "max-age=600", "cache-control": "max-age=60"],
      after: 0,
      action: .serve,
      reason: .maxAge,
      expires: 60,
    ),
    Rule(
      name: "9111 4.2.1: what is no number is stale",
      headers: ["Cache-Control": "max-age=soon", "ETag": "\"1\""],
      after: 0,
      action: .revalidate,
      reason: .maxAge,
    ),
    Rule(
      name: "9111 1.2.2: too large a number is 68 years",
      headers: ["Cache-Control": "max-age=99999999999999999999"],
      after: 2e9,
      action: .serve,
      reason: .maxAge,
      expires: 2_147_483_648,
    ),
    Rule(
      name: "9111 5.2.2.10: s-maxage is for shared caches",
      headers: ["Cache-Control": "s-maxage=1, max-age=60"],
      after: 30,
      action: .serve,
      reason: .maxAge,
    ),
    Rule(
      name: "9111 5.2.2.7: private is not for shared caches",
      headers: ["Cache-Control": "private, max-age=60"],
      after: 30,
      action: .serve,
      reason: .maxAge,
    ),
    Rule(
      name: "9111 5.3: fresh until Expires",
      headers: ["Expires": "Sun, 06 Nov 1994 12:01:00 GMT", "Date": noonText],
      after: 59,
      action: .serve,
      reason: .expires,
      expires: 60,
    ),
    Rule(
      name: "9111 5.3: Expires without Date",
      headers: ["Expires": "Sun, 06 Nov 1994 12:01:00 GMT"],
      after: 60,
      action: .fetch,
      reason: .expires,
      expires: 60,
    ),
    Rule(
      name: "9111 5.3: max-age beats Expires",
      headers: ["Expires": "Sun, 06 Nov 1994 13:00:00 GMT", "Cache-Control": "max-age=60"],
      after: 0,
      action: .serve,
      reason: .maxAge,
      expires: 60,
    ),
    Rule(
      name: "9111 5.3: no date is the past",
      headers: ["Expires": "0", "ETag": "\"1\""],
      after: 0,
      action: .revalidate,
      reason: .expires,
    ),
    Rule(
      name: "9111 5.3: a date that is not written as one is the past",
      headers: ["Expires": "Sun 06 Nov 2050 12:01:00 GMT", "ETag": "\"1\""],
      after: 0,
      action: .revalidate,
      reason: .expires,
    ),
    Rule(
      name: "9111 5.3: several dates are none",
      headers: [
        "Expires": "Sun, 06 Nov 2050 12:01:00 GMT", "Expires": "Sun, 06 Nov 2050 12:01:00 GMT", "ETag": "\"1\"",
      ],
      after: 0,
      action: .revalidate,
      reason: .expires,
    ),
    Rule(
      name: "9111 4.2.1: Expires counts from the server's Date",
      headers: ["Date": "Sun, 06 Nov 1994 13:00:00 GMT", "Expires": "Sun, 06 Nov 1994 13:01:00 GMT"],
      after: 59,
      action: .serve,
      reason: .expires,
      expires: 60,
    ),
    Rule(
      name: "9111 4.2.3: Age was spent on the way",
      headers: ["Cache-Control": "max-age=60", "Age": "50"],
      after: 0,
      action: .serve,
      reason: .maxAge,
      expires: 10,
    ),
    Rule(
      name: "9111 4.2.3: so was the time since Date",
      headers: ["Cache-Control": "max-age=60", "Date": "Sun, 06 Nov 1994 11:59:20 GMT"],
      after: 0,
      action: .serve,
      reason: .maxAge,
      expires: 20,
    ),
    Rule(
      name: "9111 4.2.3: and the time of the request",
      headers: ["Cache-Control": "max-age=60", "Age": "10"],
      delay: 5,
      after: 0,
      action: .serve,
      reason: .maxAge,
      expires: 45,
    ),
    Rule(
      name: "9111 4.2.3: a Date ahead of us is no age",
      headers: ["Cache-Control": "max-age=60", "Date": "Sun, 06 Nov 1994 18:00:00 GMT"],
      after: 0,
      action: .serve,
      reason: .maxAge,
      expires: 60,
    ),
    Rule(
      name: "9111 5.2.2.4: no-cache is asked every time",
      headers: ["Cache-Control": "no-cache, max-age=60", "ETag": "\"1\""],
      after: 0,
      action: .revalidate,
      reason: .noCache,
      usableOnErrorUntil: .some(nil),
    ),
    Rule(
      name: "9111 5.2.2.4: with field names too",
      headers: ["Cache-Control": "no-cache=\"set-cookie, a\", max-age=60", "ETag": "\"1\""],
      after: 0,
      action: .revalidate,
      reason: .noCache,
    ),
    Rule(
      name: "9111 5.2.2.2: must-revalidate is fresh until it is stale",
      headers: ["Cache-Control": "must-revalidate, max-age=60", "ETag": "\"1\""],
      after: 59,
      action: .serve,
      reason: .maxAge,
      usableOnErrorUntil: .some(nil),
    ),
    Rule(
      name: "9111 5.2.2.2: and then of no use",
      headers: ["Cache-Control": "must-revalidate, max-age=60, stale-if-error=600", "ETag": "\"1\""],
      after: 60,
      action: .revalidate,
      reason: .maxAge,
      usableOnErrorUntil: .some(nil),
      usableWhileRevalidatingUntil: .some(nil),
    ),
    Rule(
      name: "9111 4.2.4: a day on errors by default",
      headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""],
      after: 60,
      action: .revalidate,
      reason: .maxAge,
      usableOnErrorUntil: 86_460,
      usableWhileRevalidatingUntil: .some(nil),
    ),
    Rule(
      name: "5861 4: stale-if-error",
      headers: ["Cache-Control": "max-age=60, stale-if-error=600"],
      after: 60,
      action: .fetch,
      reason: .maxAge,
      usableOnErrorUntil: 660,
    ),
    Rule(
      name: "5861 3: stale-while-revalidate",
      headers: ["Cache-Control": "max-age=60, stale-while-revalidate=30", "ETag": "\"1\""],
      after: 70,
      action: .serveAndRevalidate,
      reason: .staleWhileRevalidate,
      usableWhileRevalidatingUntil: 90,
    ),
    Rule(
      name: "5861 3: and when that is over too",
      headers: ["Cache-Control": "max-age=60, stale-while-revalidate=30", "ETag": "\"1\""],
      after: 90,
      action: .revalidate,
      reason: .maxAge,
      usableWhileRevalidatingUntil: 90,
    ),
    Rule(
      name: "5861 3: without a validator it is served as well",
      headers: ["Cache-Control": "max-age=60, stale-while-revalidate=30"],
      after: 70,
      action: .serveAndRevalidate,
      reason: .staleWhileRevalidate,
    ),
    Rule(
      name: "9111 5.2.2.2: must-revalidate beats stale-while-revalidate",
      headers: ["Cache-Control": "max-age=60, must-revalidate, stale-while-revalidate=30", "ETag": "\"1\""],
      after: 70,
      action: .revalidate,
      reason: .maxAge,
      usableWhileRevalidatingUntil: .some(nil),
    ),
    Rule(
      name: "9111 4.2.2: a tenth of the time since Last-Modified",
      headers: ["Date": noonText, "Last-Modified": "Sun, 06 Nov 1994 02:00:00 GMT"],
      after: 3599,
      action: .serve,
      reason: .heuristic,
      expires: 3600,
    ),
    Rule(
      name: "9111 4.2.2: and then it is asked",
      headers: ["Date": noonText, "Last-Modified": "Sun, 06 Nov 1994 02:00:00 GMT"],
      after: 3600,
      action: .revalidate,
      reason: .heuristic,
    ),
    Rule(
      name: "9111 4.2.2: no more than 7 days",
      headers: ["Last-Modified": "Sun, 06 Nov 1904 12:00:00 GMT"],
      after: 0,
      action: .serve,
      reason: .heuristic,
      expires: 7 * 86_400,
    ),
    Rule(
      name: "9111 4.2.2: only where nothing is said",
      headers: ["Cache-Control": "max-age=60", "Last-Modified": "Sun, 06 Nov 1904 12:00:00 GMT"],
      after: 0,
      action: .serve,
      reason: .maxAge,
      expires: 60,
    ),
    Rule(
      name: "9111 4.2.2: modified in the future says nothing",
      headers: ["Date": noonText, "Last-Modified": "Sun, 06 Nov 2094 12:00:00 GMT"],
      after: 0,
      action: .serve,
      reason: .defaultLifetime,
      expires: 4 * 3600,
    ),
    Rule(
      name: "9111 4.2.3: a clock that was put back",
      headers: ["Cache-Control": "max-age=600", "ETag": "\"1\""],
      after: -61,
      action: .revalidate,
      reason: .clock,
    ),
    Rule(
      name: "9111 4.1: the same fields as then",
      headers: ["Cache-Control": "max-age=60", "Vary": "Accept-Language, X-A"],
      sent: ["accept-language": "de "],
      asking: ["Accept-Language": "de", "Other": "1"],
      after: 0,
      action: .serve,
      reason: .maxAge,
    ),
    Rule(
      name: "9111 4.1: other fields",
      headers: ["Cache-Control": "max-age=60", "ETag": "\"1\"", "Vary": "accept-language"],
      sent: ["Accept-Language": "de"],
      asking: ["Accept-Language": "en"],
      after: 0,
      action: .fetch,
      reason: .vary,
    ),
    Rule(
      name: "9111 4.1: a field that was not there",
      headers: ["Cache-Control": "max-age=60", "Vary": "Accept", "vary": "Accept-Language"],
      sent: ["Accept": "a"],
      asking: ["Accept": "a", "Accept-Language": "en"],
      after: 0,
      action: .fetch,
      reason: .vary,
    ),
    Rule(
      name: "9111 4.1: another variation is nothing at all to cacheOnly",
      headers: ["Cache-Control": "max-age=60", "Vary": "Accept"],
      sent: ["Accept": "a"],
      asking: ["Accept": "b"],
      policy: .cacheOnly,
      after: 0,
      action: .fail,
      reason: .vary,
    ),
    Rule(
      name: "8246 2: what is immutable is not asked about while it is fresh",
      headers: ["Cache-Control": "max-age=600, immutable", "ETag": "\"1\""],
      policy: .maxAge(.seconds(5)),
      after: 300,
      action: .serve,
      reason: .immutable,
    ),
    Rule(
      name: "8246 2: and afterwards it is",
      headers: ["Cache-Control": "max-age=600, immutable", "ETag": "\"1\""],
      policy: .maxAge(.seconds(5)),
      after: 600,
      action: .revalidate,
      reason: .policy,
    ),
    Rule(
      name: "9111 4.2.2: four hours where nothing is said",
      headers: etag,
      after: 4 * 3600 - 1,
      action: .serve,
      reason: .defaultLifetime,
      expires: 4 * 3600,
    ),
    Rule(
      name: "9111 4.2.2: and then it is asked",
      headers: etag,
      after: 4 * 3600,
      action: .revalidate,
      reason: .defaultLifetime,
    ),
    Rule(
      name: "reload fetches what is fresh",
      headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""],
      policy: .reload,
      after: 0,
      action: .fetch,
      reason: .policy,
    ),
    Rule(
      name: "cacheFirst serves what is stale",
      headers: ["Cache-Control": "max-age=60"],
      policy: .cacheFirst,
      after: 1e8,
      action: .serve,
      reason: .policy,
    ),
    Rule(
      name: "cacheOnly too, even no-cache",
      headers: ["Cache-Control": "no-cache"],
      policy: .cacheOnly,
      after: 1e8,
      action: .serve,
      reason: .policy,
    ),
    Rule(
      name: "maxAge stands in place of headers",
      headers: ["Cache-Control": "no-cache, max-age=1", "Age": "100"],
      policy: .maxAge(.seconds(600)),
      after: 599,
      action: .serve,
      reason: .policy,
      expires: 600,
    ),
    Rule(
      name: "maxAge shortens too",
      headers: ["Cache-Control": "max-age=1000", "ETag": "\"1\""],
      policy: .maxAge(.seconds(5)),
      after: 5,
      action: .revalidate,
      reason: .policy,
    ),
  ]
}

struct FreshnessTests {
  private func stored(
    _ headers: HTTPFields,
    to request: HTTPFields = [:],
    status: Int = 200,
    delay: Double = 0,
  ) throws -> StoredResponse {
    let response = HTTPResponse(status: status, headers: headers, url: try HTTPURL("http://a.example/"))
    return StoredResponse(response, to: request, requested: noon.addingTimeInterval(-delay), received: noon)
  }

  @Test(arguments: Rule.all)
  func eachRuleHolds(rule: Rule) throws {
    let stored = try stored(rule.headers, to: rule.sent, delay: rule.delay)
    let now = noon.addingTimeInterval(rule.after)
    let decision = Freshness().decide(stored, for: rule.asking, policy: rule.policy, now: now)
    #expect(decision.action == rule.action)
    #expect(decision.reason == rule.reason)
    if let expires = rule.expires { #expect(decision.expires == noon.addingTimeInterval(expires)) }
    if let end = rule.usableOnErrorUntil {
      #expect(decision.usableOnErrorUntil == end.map(noon.addingTimeInterval))
    }
    if let end = rule.usableWhileRevalidatingUntil {
      #expect(decision.usableWhileRevalidatingUntil == end.map(noon.addingTimeInterval))
    }
    // A cache reads back what it decides by.
    #expect(StoredResponse(encoded: stored.encoded) == stored)
  }

  /// RFC 9111 5.2.2.8 and 5.2.2.10; the time of freshness, and whether it may be served stale if the server is away.
  @Test(arguments: [
    ("max-age=60, s-maxage=10", 10, false), ("s-maxage=100", 100, false), ("max-age=60, s-maxage=0", 0, false),
    ("s-maxage=10, stale-if-error=5", 10, true), ("s-maxage=10, stale-while-revalidate=5", 10, true),
    ("max-age=60, proxy-revalidate", 60, false), ("max-age=60", 60, true), ("max-age=60, s-maxage=x", 0, false),
    ("s-maxage=20, s-maxage=10", 10, false), ("max-age=60, s-maxage=10, private", 60, true),
  ])
  func aSharedCacheObeysItsOwnDirectives(control: String, seconds: Int, allowsStale: Bool) throws {
    var shared = Freshness()
    shared.isShared = true
    let stored = try stored(["Cache-Control": control, "Expires": "0"])
    let decision = shared.decide(stored, now: noon)
    #expect(decision.expires == noon.addingTimeInterval(Double(seconds)))
    #expect((decision.usableOnErrorUntil != nil) == allowsStale)
    // A private cache does not see them.
    let age = control.contains("max-age=60") ? 60.0 : 0
    let own = Freshness().decide(stored, now: noon)
    #expect(own.expires == noon.addingTimeInterval(age))
    #expect(own.usableOnErrorUntil != nil)
  }

  @Test
  func withNothingStoredOnlyCacheOnlyFails() {
    for policy in [CachePolicy.standard, .reload, .cacheFirst, .maxAge(.seconds(1))] {
      #expect(Freshness().decide(nil, policy: policy, now: noon).action == .fetch)
    }
    #expect(Freshness().decide(nil, policy: .cacheOnly, now: noon).action == .fail)
    #expect(Freshness().decide(nil, policy: .reload, now: noon).headers["cache-control"] == "no-cache")
  }

  @Test
  func aRequestIsMadeConditionalByBothValidators() throws {
    let headers: HTTPFields = ["Cache-Control": "max-age=0", "ETag": "W/\"1\"", "Last-Modified": noonText]
    let decision = Freshness().decide(try stored(headers), now: noon)
    #expect(decision.headers == ["If-None-Match": "W/\"1\"", "If-Modified-Since": noonText])
  }

  @Test(
    arguments: [
      (200, [:], true), (200, ["Cache-Control": "no-store"], false), (200, ["Cache-Control": "private"], true),
      (200, ["Vary": "*"], false), (200, ["Vary": "Accept, *"], false), (200, ["Vary": "Accept"], true),
      (404, [:], false), (206, [:], false),
      (500, [:], false),
    ] as [(Int, HTTPFields, Bool)]
  )
  func whatMayBeStored(status: Int, headers: HTTPFields, isStorable: Bool) throws {
    #expect(try stored(headers, status: status).isStorable == isStorable)
  }

  @Test
  func aStrongTagIsOneWithoutW() throws {
    #expect(try stored(["ETag": "\"1\""]).strongEntityTag == "\"1\"")
    #expect(try stored(["ETag": "W/\"1\""]).strongEntityTag == nil)
    #expect(try stored([:]).strongEntityTag == nil)
  }

  /// RFC 9111 3.2 and 4.3.4.
  @Test
  func a304RenewsWhatItNamesAndKeepsTheRest() throws {
    let old = try stored([
      "Cache-Control": "max-age=60", "ETag": "\"1\"", "Age": "50", "Date": noonText, "Content-Type": "image/png",
    ])
    let response = HTTPResponse(
      status: 304,
      headers: ["Cache-Control": "max-age=120", "Set-Cookie": "a"],
      url: try HTTPURL("http://a.example/"),
    )
    let later = noon.addingTimeInterval(100)
    let new = old.renewed(by: response, requested: later, received: later)
    #expect(new.status == 200)
    #expect(new.headers["cache-control"] == "max-age=120")
    #expect(new.headers["etag"] == "\"1\"")
    #expect(new.headers["content-type"] == "image/png")
    #expect(new.headers["set-cookie"] == nil)
    let decision = Freshness().decide(new, now: later)
    #expect(decision.action == .serve)
    #expect(decision.expires == later.addingTimeInterval(120))
  }

  @Test
  func onlyWhatMattersIsKept() throws {
    let stored = try stored([
      "Set-Cookie": "secret", "X-A": "b", "ETag": "\"1\"", "Vary": "Accept",
      "Last-Modified": String(repeating: "a", count: 9000),
    ])
    #expect(stored.headers.map(\.name) == ["ETag", "Vary"])
    #expect(stored.encoded.count < 60)
  }

  @Test(arguments: [0x7F, 0x80, 0xFF] as [UInt8])
  func timesThatNoClockShowsAreReadAndWrittenAgain(byte: UInt8) throws {
    var bytes = try stored(["ETag": "\"1\""]).encoded
    for index in 3..<10 { bytes[index] = byte == 0x80 ? 0 : 0xFF }
    bytes[10] = byte

    let response = try #require(StoredResponse(encoded: bytes))

    #expect(StoredResponse(encoded: response.encoded) == response)
  }

  @Test
  func aValueThatBeginsWithACombiningMarkIsReadBack() throws {
    let stored = try stored(["Vary": "Accept", "ETag": "\u{301}\"a\""], to: ["Accept": "\u{301}"], delay: 0)

    #expect(StoredResponse(encoded: stored.encoded) == stored)
  }

  @Test
  func bytesThatAreNotItsOwnAreRefused() throws {
    let bytes = try stored(["ETag": "\"1\""]).encoded
    #expect(StoredResponse(encoded: Data()) == nil)
    #expect(StoredResponse(encoded: Data([9]) + bytes.dropFirst()) == nil)
    for count in 0..<bytes.count where count != 19 { #expect(StoredResponse(encoded: bytes.prefix(count)) == nil) }
    #expect(StoredResponse(encoded: bytes + Data([255])) == nil)
    #expect(StoredResponse(encoded: Data([0, 0]) + bytes) == nil)
    // A slice of something larger has indices of its own.
    #expect(StoredResponse(encoded: (Data([0, 0]) + bytes).dropFirst(2)) != nil)
  }
}

struct HTTPDateTests {
  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    "SUN, 06 NOV 1994 08:49:37 gmt", "sun nov  6 08:49:37 1994",
  ])
  func allThreeFormatsAreRead(text: String) {
    #expect(HTTPDate.parse(text, now: noon) == Date(timeIntervalSince1970: 784_111_777))
    #expect(HTTPDate.parseStrictly(text, now: noon) == Date(timeIntervalSince1970: 784_111_777))
  }

  @Test(arguments: [
    ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000),
    ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200), ("Wed, 01 Mar 2000 00:00:00 GMT", 951_868_800),
    ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
    ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
  ])
  func leapDaysAndFarYearsAreRight(text: String, seconds: Double) {
    #expect(HTTPDate.parse(text, now: noon) == Date(timeIntervalSince1970: seconds))
  }

  /// RFC 9110 5.6.7: not more than 50 years ahead.
  @Test(arguments: [
    (1_700_000_000.0, "Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777.0),
    (1_700_000_000.0, "Friday, 06-Nov-43 08:49:37 GMT", 2_330_412_577.0),
  ])
  func twoDigitsOfAYearAreOfTheNearestCentury(now: Double, text: String, seconds: Double) {
    #expect(HTTPDate.parse(text, now: Date(timeIntervalSince1970: now)) == Date(timeIntervalSince1970: seconds))
  }

  @Test(arguments: [
    "", "0", "-1", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 32 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nix 1994 08:49:37 GMT",
    "Sun, 06 Nov 994 08:49:37 GMT",
    "Sun, 06 Nov 1994 08:-9:37 GMT", "1994-11-06T08:49:37Z",
  ])
  func whatIsNoneIsNotGuessed(text: String) {
    #expect(HTTPDate.parse(text, now: noon) == nil)
    #expect(HTTPDate.parseStrictly(text, now: noon) == nil)
  }

  @Test(arguments: [
    "Sun, 06 Nov 94 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT",
    "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
    "Sun, 06  Nov 1994 08:49:37 GMT", "Sun,06 Nov 1994 08:49:37 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT",
    "06 Nov 1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
    "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
  ])
  func whereItMattersADateIsAsTheRFCWritesIt(text: String) {
    #expect(HTTPDate.parseStrictly(text, now: noon) == nil)
  }
}
