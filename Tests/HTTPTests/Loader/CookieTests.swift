import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@Suite(.patient)
struct CookieTests {
  private let clock = ManualClock()
  private let jar: CookieJar

  init() { jar = CookieJar(clock: clock) }

  private func store(_ fields: String..., url: String = "https://a.example/x/y") throws {
    jar.store(fields, from: try HTTPURL(url))
  }

  private func sent(_ url: String) throws -> String? { jar.header(for: try HTTPURL(url)) }

  @Test
  func aCookieGoesToItsHostAndPathOnly() throws {
    try store("a=1", "b=2; Path=/", "c=3; Path=/x/y; Domain=example")
    #expect(try sent("https://a.example/x/z") == "a=1; b=2")
    #expect(try sent("https://a.example/x/y/z?q") == "c=3; a=1; b=2")
    #expect(try sent("https://a.example/xy") == "b=2")
    #expect(try sent("https://b.example/x/y") == nil)
    #expect(try sent("https://sub.a.example/") == nil)
  }

  @Test
  func secureCookiesStayWithHTTPS() throws {
    try store("a=1; Secure; Path=/", "b=2; Path=/")
    #expect(try sent("http://a.example/") == "b=2")
    try store("a=evil; Path=/", "c=3; Secure", url: "http://a.example/")
    #expect(try sent("https://a.example/") == "a=1; b=2")
  }

  @Test
  func cookiesExpire() throws {
    try store("a=1; Max-Age=60; Path=/", "b=2; Expires=Sun, 09 Sep 2001 01:46:50 GMT; Path=/", "c=3; Path=/")
    #expect(try sent("https://a.example/") == "a=1; b=2; c=3")
    clock.advance(by: .seconds(30))
    #expect(try sent("https://a.example/") == "a=1; c=3")
    clock.advance(by: .seconds(30))
    #expect(try sent("https://a.example/") == "c=3")
    try store("c=; Max-Age=0; Path=/")
    #expect(try sent("https://a.example/") == nil)
    jar.removeAll()
    #expect(jar.count == 0)
  }

  @Test
  func whatIsNoCookieIsIgnoredAndTheJarIsBounded() throws {
    try store("", "=1", "novalue", "a\u{1}=b", String(repeating: "a", count: 9000) + "=1")
    #expect(jar.count == 0)
    for number in 0..<60 { try store("c\(number)=1; Path=/") }
    #expect(jar.count == 50)
    for host in 0..<100 {
      for number in 0..<50 { try store("c\(number)=1; Path=/", url: "https://h\(host).example/") }
    }
    #expect(jar.count == 3000)
  }

  @Test
  func aLoaderWithAJarSendsWhatItWasGivenAlsoOverRedirects() async throws {
    let server = try LoopbackServer()
    var first = LoopbackResponse.redirect(to: "/b")
    first.headers.append(name: "Set-Cookie", value: "s=1; Path=/")
    server.route("/a", first)
    server.route("/b", LoopbackResponse())
    let jar = jar
    let loader = makeLoader { $0.cookies = jar }
    _ = try await loader.data(server.url("/a"))
    _ = try await loader.data(server.url("/b"), headers: ["Cookie": "own=2"])
    #expect(server.requests.map { $0["Cookie"] } == [nil, "s=1", "own=2"])
  }
}
