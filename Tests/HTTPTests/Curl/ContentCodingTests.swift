import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Bodies with a coding, which nobody asked for.
@Suite(.patient)
struct ContentCodingTests {
  private let server: LoopbackServer
  private let loader = makeLoader()
  private let text = Data("A picture, a picture, a picture.".utf8)
  /// The text, and 100,000 zeros, in gzip.
  private let coded = Data(base64Encoded: "H4sIAAAAAAACA3NUKMhMLiktStVRSMTC1AMAESTnDCAAAAA=") ?? Data()
  private let bomb =
    Data(
      base64Encoded: """
        H4sIAAAAAAACA+3BMQEAAADCoPVPbQ0PoAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIBXA32VEdSghgEA
        """,
      options: .ignoreUnknownCharacters,
    ) ?? Data()

  init() throws { server = try LoopbackServer() }

  private func answer(_ body: Data, _ coding: String) {
    server.route("/a", LoopbackResponse(headers: ["Content-Encoding": coding, "ETag": "\"1\""], body: body))
  }

  @Test(arguments: ["gzip", "GZIP", "x-gzip", "identity, gzip"])
  func aCodedBodyIsDecoded(coding: String) async throws {
    answer(coded, coding)
    let (response, data) = try await loader.data(server.url("/a"))
    #expect(data == text)
    #expect(response.contentLength == nil)
    #expect(server.requests.map { $0["accept-encoding"] } == ["identity"])
  }

  @Test(arguments: ["identity", "none", ""])
  func aBodyWithoutACodingIsItself(coding: String) async throws {
    answer(text, coding)
    let (response, data) = try await loader.data(server.url("/a"))
    #expect(data == text && response.contentLength == text.count)
    #expect(server.counts.requests == 1)
  }

  /// Servers with a wrong configuration name a character set.
  @Test(arguments: ["utf-8", "binary", "gzip, utf-8"])
  func aNameThatIsNoCodingIsIgnored(coding: String) async throws {
    answer(text, coding)
    let (_, data) = try await loader.data(server.url("/a"))
    #expect(data == text)
    #expect(server.counts.requests == 2)
  }

  @Test
  func theLimitAppliesToWhatComesOut() async throws {
    answer(bomb, "gzip")
    var request = try HTTPRequest.patient(server.url("/a"))
    request.maxResponseBytes = 100_000
    let (_, data) = try await loader.data(for: request)
    #expect(data == Data(count: 100_000))
    request.maxResponseBytes = 99_999
    let limited = request
    let error = await #expect(throws: HTTPError.self) { try await loader.data(for: limited) }
    #expect(error?.code == .tooLarge)
  }

  /// If only its end is missing, the decoder of the image finds out.
  @Test
  func aDamagedCodingIsAnError() async throws {
    for body in [text, coded.prefix(12) + text] {
      answer(Data(body), "gzip")
      let error = await #expect(throws: HTTPError.self) { try await loader.data(server.url("/a")) }
      #expect(error?.code == .protocolError)
    }
  }

  @Test
  func aPartOfADecodedBodyIsNotAskedFor() {
    var fields: HTTPFields = ["ETag": "\"1\""]
    #expect(fields.rangeValidator(now: .now) == "\"1\"")
    fields["Content-Encoding"] = "gzip"
    #expect(fields.rangeValidator(now: .now) == nil)
  }
}
