import Testing
import VitrineHTTP
import VitrineRuntime

struct DataURLTests {
  @Test(arguments: [
    ("data:,", ""),
    ("data:,A%20brief%20note", "A brief note"),
    ("data:text/html,<b>a</b>#fragment", "<b>a</b>"),
    ("data:image/png;base64,aGVsbG8=", "hello"),
    ("DATA:Image/PNG;charset=x;BASE64,aGVs\n bG8", "hello"),
    ("data:;base64,aGVsbG8%3D", "hello"),
    ("data:base64,aGVsbG8=", "aGVsbG8="),
    ("data:a/b;base64,", ""),
    ("  data:nonsense,a,b%zz%4 ", "a,b%zz%4"),
    ("data:,%%41%4%42%", "%A%4B%"),
  ])
  func whatIsWrittenIsRead(text: String, body: String) throws {
    #expect(try DataURL(text).data == Data(body.utf8))
  }

  @Test(arguments: [
    "", "data:", "data:image/png;base64", "http://a.example/,", "data:;base64,aGVsb", "data:;base64,a",
    "data:;base64,a=b=",
    "data:;base64,====", "data:;base64,\u{0}abc", "data\u{1A},a",
  ])
  func whatIsNoneIsAnError(text: String) {
    let error = #expect(throws: HTTPError.self) { try DataURL(text) }
    #expect(error?.code == .invalidURL)
  }

  @Test
  func theErrorOfALongOneIsShort() {
    let long = #expect(throws: HTTPError.self) {
      try DataURL("data:;base64,!" + String(repeating: "a", count: 100_000))
    }
    #expect((long?.url.utf8.count ?? .max) < 60)
  }
}
