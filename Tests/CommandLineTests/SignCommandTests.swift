import Foundation
import Testing

/// `vitrine sign`, which signs URLs of a thumbnail server.
@Suite
struct SignCommandTests {
  /// The key, the salt and the signature of imgproxy's documentation.
  private static let settings = "VITRINE_KEY=736563726574 VITRINE_SALT=68656C6C6F"
  private static let path = "/rs:fill:300:400:0/g:sm/aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png"
  private static let signature = "oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8"

  private func sign(_ arguments: String, settings: String = settings) async throws -> Tool.Outcome {
    try await Tool().shell("\(settings) \"$vitrine\" sign \(arguments)")
  }

  @Test(arguments: ["", "/_", "/unsafe", "/insecure"])
  func aPathGetsItsSignature(place: String) async throws {
    let outcome = try await sign("'\(place)\(Self.path)' 'https://thumbs.example:8443\(place)\(Self.path)'")
    #expect(outcome.status == 0)
    #expect(
      outcome.output
        == "/\(Self.signature)\(Self.path)\nhttps://thumbs.example:8443/\(Self.signature)\(Self.path)\n"
    )
  }

  @Test
  func aViewersURLIsSignedInItsIdentifier() async throws {
    let outcome = try await sign("/iiif/3/http%3A%2F%2Fexample.com%2Fcat.jpg/info.json")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(
      outcome.output.hasPrefix("/iiif/3/")
        && outcome.output.hasSuffix("%2Chttp%3A%2F%2Fexample.com%2Fcat.jpg/info.json\n")
    )
    let refused = try await sign("--expires 60 /dzi/http%3A%2F%2Fexample.com%2Fcat.jpg.dzi")
    #expect(refused.errors.hasSuffix("URLs of viewers that zoom take neither --expires nor --encrypt\n"))
  }

  @Test
  func theFirstOfSeveralKeysSigns() async throws {
    let settings = "VITRINE_KEY=736563726574,aa VITRINE_SALT=68656C6C6F,bb VITRINE_SIGNATURE_SIZE=9"
    let outcome = try await sign("'\(Self.path)'", settings: settings)
    #expect(outcome.output == "/\(Self.signature.prefix(12))\(Self.path)\n")
  }

  @Test
  func keysMayBeInAFile() async throws {
    let tool = try Tool()
    let text = "# the server's\nVITRINE_KEY=736563726574\n\nVITRINE_SALT = \"68656C6C6F\"\n"
    try Data(text.utf8).write(to: tool.folder.appending(path: "server.conf"))
    let outcome = try await tool.run(["sign", "--config", "server.conf", Self.path])
    #expect(outcome.output == "/\(Self.signature)\(Self.path)\n")
  }

  @Test
  func whatTheServerWouldRefuseIsNotSigned() async throws {
    let outcome = try await sign("'/wdth:1/plain/http://example.com/' '\(Self.path)' --json")
    #expect(outcome.status == 1)
    #expect(
      outcome.errors.contains("vitrine: /wdth:1/plain/http://example.com/: the server would answer 400: unknown option")
    )
    let lines = try outcome.json
    #expect(lines.count == 2)
    #expect(lines[0]["url"] is NSNull)
    #expect(lines[0]["stage"] as? String == "request")
    #expect(lines[1]["url"] as? String == "/\(Self.signature)\(Self.path)")
    let unchecked = try await sign("--unchecked '/wdth:1/plain/http://example.com/'")
    #expect(unchecked.output.hasSuffix("/wdth:1/plain/http://example.com/\n"))
  }

  @Test
  func aSourceIsEncrypted() async throws {
    let key = "VITRINE_SOURCE_KEY=1eb5b0e971ad7f45324c1bb15c947cb207c43152fa5c6c7f35c4f36e0c18e0f1"
    let arguments = "--encrypt 'https://thumbs.example/_/w:30/plain/s3://photos/cat.jpg@webp'"
    let outcome = try await sign(arguments, settings: "\(Self.settings) \(key)")
    #expect(outcome.status == 0 && outcome.output.hasPrefix("https://thumbs.example/"))
    #expect(outcome.output.contains("/w:30/enc/") && outcome.output.hasSuffix(".webp\n"))
    #expect(!outcome.output.contains("photos"))
    #expect(try await sign(arguments, settings: "\(Self.settings) \(key)").output == outcome.output)
    let encoded = try await sign("--encrypt '\(Self.path)'", settings: "\(Self.settings) \(key)")
    #expect(encoded.status == 1 && encoded.errors.contains("only a source behind /plain/ is encrypted"))
    let without = try await sign(arguments)
    #expect(without.status == 64 && without.errors.contains("--encrypt needs $VITRINE_SOURCE_KEY"))
    let wrong = try await sign(arguments, settings: "\(Self.settings) VITRINE_SOURCE_KEY=5a")
    #expect(wrong.status == 64 && wrong.errors.contains("a key of sources takes 32, 48 or 64 hexadecimal digits"))
  }

  @Test
  func aQuestionMarkInASourceIsSaidToBeOne() async throws {
    let outcome = try await sign("'/w:1/plain/http://example.com/a?b=1'")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("%3F"))
  }

  @Test
  func presetsOfTheServerAreNotKnownHere() async throws {
    #expect(try await sign("'/pr:small/plain/http://example.com/'").status == 0)
  }

  @Test
  func aURLCanExpire() async throws {
    let paths = ["/w:1/plain/http://example.com/", "/info/_/plain/http://example.com/", "/?src=http://example.com/"]
    let outcome = try await sign("--expires 60 " + paths.map { "'\($0)'" }.joined(separator: " "))
    let lines = outcome.output.split(separator: "\n")
    #expect(outcome.status == 0)
    try #require(lines.count == 3)
    #expect(lines[0].contains("/exp:") && lines[0].hasSuffix("/w:1/plain/http://example.com/"))
    #expect(lines[1].hasPrefix("/info/") && lines[1].contains("/exp:"))
    #expect(lines[2].contains("&expires=") && lines[2].contains("&sig="))
  }

  @Test(arguments: [
    ("", "'/plain/http://example.com/'"), ("VITRINE_KEY=xyz VITRINE_SALT=00", "'/plain/http://example.com/'"),
    ("VITRINE_KEY=00,11 VITRINE_SALT=00", "'/plain/http://example.com/'"), (settings, ""),
    (settings + " VITRINE_SIGNATURE_SIZE=3", "'/plain/http://example.com/'"), (settings, "--expires never /x"),
  ])
  func aKeyThatIsMissingOrWrongIsAUsageError(settings: String, arguments: String) async throws {
    let outcome = try await sign(arguments, settings: "VITRINE_KEY= " + settings)
    #expect(outcome.status == 64)
    #expect(outcome.output.isEmpty)
    #expect(!outcome.errors.contains("xyz"))
  }
}
