import Testing
import VitrineTestSupport

@testable import VitrineHTTP

struct URLTests {
  /// Pieces that a URL may be put together of, most of them such as end in something else.
  private static let pieces = [
    "http://", "https://", "HTTP://", "example", "EXAMPLE", "a", "0x7f", "127", "1", ".", "..", "/", "/", "//", "/.",
    "?",
    "#", "%2e", "%2E", "%2f", "%", "%4", "ü", "-", "_", "'", "\"", ":80", ":443", ":", "@", "[::1]", " ", "|", "~", "=",
    "&",
  ]

  @Test
  func theShortWayTakesNothingThatTheLongWayWouldChange() throws {
    var random = SplitMix64(seed: 7)
    var taken = 0
    for _ in 0..<100_000 {
      let count = Int.random(in: 0...8, using: &random)
      let head = Bool.random(using: &random) ? "https://example.org" : ""
      let text = head + (0..<count).map { _ in Self.pieces.randomElement(using: &random) ?? "" }.joined()
      guard let short = HTTPURL(canonical: text) else { continue }
      taken += 1
      let long = try HTTPURL(parsing: text)
      guard short.string == long.string, short.host == long.host, short.port == long.port,
        short.isSecure == long.isSecure
      else {
        Issue.record("\(text): \(short) of \(short.host), and not \(long) of \(long.host)")
        continue
      }
    }
    #expect(taken > 1000)
  }

  @Test(arguments: [
    "https://example.org/", "http://images.example.org/a/b-c_d~e.jpg?w=300&h=200&s=a%2Fb,c:d@e", "https://a-1.b/x//y",
  ])
  func whatIsCanonicalIsTakenAsItIs(text: String) {
    #expect(HTTPURL(canonical: text)?.string == text)
  }

  @Test(arguments: [
    "", "http://", "https://example.org", "https://example.org?a", "http://127.0.0.1/", "http://a.0x1/", "http://.a/",
    "http://a./", "http://a..b/", "http://A.b/", "http://a.b:80/", "http://u@a.b/", "http://a.b/#c", "http://a.b/./c",
    "http://a.b/..", "http://a.b/%2e%2E/c", "http://a.b/%", "http://a.b/%4", "http://a.b/ü", "http://a.b/ ",
    " http://a.b/", "http://a.b/'", "ftp://a.b/", "http://\(String(repeating: "a", count: 64)).b/",
    "http://\(String(repeating: "a.", count: 130))b/",
  ])
  func whatMayNotBeCanonicalGoesTheLongWay(text: String) {
    #expect(HTTPURL(canonical: text) == nil)
  }

  @Test(arguments: [
    // Scheme, host, port, path, fragment.
    ("HTTP://Example.COM", "http://example.com/"),
    ("https://example.com:443/a", "https://example.com/a"),
    ("http://example.com:443/a", "http://example.com:443/a"),
    ("http://example.com:080", "http://example.com/"),
    ("http://example.com:", "http://example.com/"),
    ("http://example.com?q=1", "http://example.com/?q=1"),
    ("http://example.com/a#b", "http://example.com/a"),
    ("http://example.com#b?c", "http://example.com/"),
    ("  http://example.com/  ", "http://example.com/"),
    // Case and escapes of a path are its own.
    ("http://example.com/A%2fb%7E", "http://example.com/A%2fb%7E"),
    ("http://example.com/a b/ü?q=ö \"", "http://example.com/a%20b/%C3%BC?q=%C3%B6%20%22"),
    ("http://example.com/100%", "http://example.com/100%25"),
    ("http://example.com/%zz%4", "http://example.com/%25zz%254"),
    ("http://example.com/a\\b{c}|[d]", "http://example.com/a%5Cb%7Bc%7D|[d]"),
    // What combines with a delimiter makes another character of it, but no other delimiter.
    ("http://example.com/a#\u{301}b", "http://example.com/a"),
    ("http://example.com/a?\u{301}#\u{6EB}", "http://example.com/a?%CC%81"),
    ("http://example.com/\u{301}/", "http://example.com/%CC%81/"),
    // Dot segments (RFC 3986 5.2.4).
    ("http://example.com/a/./b/../c", "http://example.com/a/c"),
    ("http://example.com/../../a", "http://example.com/a"),
    ("http://example.com/a/..", "http://example.com/"),
    ("http://example.com/a/.", "http://example.com/a/"),
    ("http://example.com/a/%2E%2e/b", "http://example.com/b"),
    ("http://example.com/a//b/...?x=/../", "http://example.com/a//b/...?x=/../"),
    // Addresses.
    ("http://127.0.0.1/", "http://127.0.0.1/"),
    ("http://0x7f.1/", "http://127.0.0.1/"),
    ("http://2130706433/", "http://127.0.0.1/"),
    ("http://0177.0.0.1/", "http://127.0.0.1/"),
    ("http://[::0001]:80/", "http://[::1]/"),
    ("http://[2001:DB8::1]/", "http://[2001:db8::1]/"),
    // International names.
    ("http://bücher.example/", "http://xn--bcher-kva.example/"),
    ("http://BÜCHER.example/", "http://xn--bcher-kva.example/"),
    ("http://b%C3%BCcher.example/", "http://xn--bcher-kva.example/"),
    ("http://例え。テスト/", "http://xn--r8jz45g.xn--zckzah/"),
    ("http://straße.example/", "http://xn--strae-oqa.example/"),
    ("http://пример.испытание/", "http://xn--e1afmkfd.xn--80akhbyknj4f/"),
    ("http://☃.example/", "http://xn--n3h.example/"),
  ])
  func aURLHasOneForm(string: String, canonical: String) throws {
    let url = try HTTPURL(string)
    #expect(url.string == canonical)
    #expect(try HTTPURL(url.string) == url)
  }

  @Test(arguments: [
    "", " ", "a", "/a", "example.com", "//example.com", "ftp://a.example", "file:///etc/passwd", "data:,a",
    "http:", "http:/a", "http://", "http:///a", "http://:80", "http://a b/", "http://a_b.example:x/",
    "http://a.example:65536/", "http://a.example:-1/", "http://user@a.example/", "http://u:p@a.example/",
    "http://a..example/", "http://.a/", "http://a.example%00/", "http://a\u{0}.example/", "http://a.example/\n",
    "http://[::1/", "http://[::g]/", "http://::1/", "http://1.2.3.4.5/", "http://256.1.1.1/", "http://1.2.3.400/",
    "http://a.example\\@b.example/", "http://%zz/", "http://<a>/", "http://a.example:80:80/",
    "http://\(String(repeating: "a", count: 64)).example/",
    "http://\(String(repeating: "ü", count: 64)).example/",
  ])
  func whatIsNoURLIsATypedErrorThatNamesIt(string: String) {
    #expect {
      try HTTPURL(string)
    } throws: { error in
      (error as? HTTPError)?.code == .invalidURL && (error as? HTTPError)?.url == string
    }
    #expect(throws: HTTPError.self) { try HTTPRequest(string) }
  }

  /// The samples of RFC 3986 5.4 that are of the web.
  @Test(arguments: [
    ("http:g", nil), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
    ("/g", "http://a/g"),
    ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q"),
    ("g#s", "http://a/b/c/g"), (";x", "http://a/b/c/;x"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"),
    ("..", "http://a/b/"), ("../g", "http://a/b/g"), ("../../../g", "http://a/g"),
    ("g?y/../x", "http://a/b/c/g?y/../x"),
    ("g?x://y", "http://a/b/c/g?x://y"), ("./g:h", "http://a/b/c/g:h"), ("https://h/?#", "https://h/?"), ("g:h", nil),
    ("HTTPS://H/a b", "https://h/a%20b"), ("//h:80\\@evil/", nil),
    ("/\u{301}", "http://a/%CC%81"), ("?\u{301}", "http://a/b/c/d;p?%CC%81"), ("#\u{301}", "http://a/b/c/d;p?q"),
  ])
  func aReferenceIsResolved(reference: String, result: String?) throws {
    let base = try HTTPURL("http://a/b/c/d;p?q")
    #expect((try? base.resolving(reference))?.string == result)
  }

  @Test
  func anOriginIsSchemeHostAndPort() throws {
    let urls = [
      "http://a.example/x", "http://A.example:80/y", "https://a.example/", "http://a.example:81/", "http://b.example/",
    ]
    let origins = try urls.map { try HTTPURL($0).origin }
    #expect(origins[0] == origins[1])
    #expect(Set(origins).count == 4)
  }

  /// The samples of RFC 3492 7.1 that are in lower case.
  @Test(arguments: [
    ("ليهمابتكلموشعربي؟", "egbpdaj6bu4bxfgehfvwxn"),
    ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"),
    ("почемужеонинеговорятпорусски", "b1abfaaepdrnnbgefbadotcwatmq2g4l"),
    ("なぜみんな日本語を話してくれないのか", "n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa"),
    ("ひとつ屋根の下2", "2-u9tlzr9756bt3uc0v"),
    ("そのスピードで", "d9juau41awczczp"),
  ])
  func punycodeIsThatOfTheRFC(name: String, code: String) throws {
    #expect(try HTTPURL("http://\(name)/").host == "xn--\(code)")
  }
}
