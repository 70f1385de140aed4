import Testing
import VitrineRuntime
import VitrineServingRequests
import VitrineTestSupport

@Suite
struct SignatureTests {
  private static let path = "/rs:fill:300:400:0/g:sm/aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png"
  private static let signature = "oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8"

  @Test
  func theSignatureIsThatOfImgproxysDocumentation() throws {
    #expect(try documentedKey().signature(of: Self.path) == Self.signature)
    let urls = try ThumbnailURLs { $0.keys = [try documentedKey()] }
    #expect(urls.refusal(of: "/\(Self.signature)\(Self.path)") == nil)
  }

  @Test
  func aTruncatedSignatureIsAcceptedOnlyBySetting() throws {
    let short = try documentedKey(size: 8)
    let signature = short.signature(of: Self.path)
    #expect(Self.signature.hasPrefix(signature.dropLast()))
    #expect(try ThumbnailURLs { $0.keys = [short] }.refusal(of: "/\(signature)\(Self.path)") == nil)
    #expect(try ThumbnailURLs { $0.keys = [short] }.refusal(of: "/\(Self.signature)\(Self.path)")?.status == 403)
    #expect(
      try ThumbnailURLs { $0.keys = [try documentedKey()] }.refusal(of: "/\(signature)\(Self.path)")?.status == 403
    )
  }

  @Test
  func anyOfSeveralKeysMayHaveSigned() throws {
    let keys = [try otherKey("a"), try documentedKey(), try otherKey("b")]
    let urls = try ThumbnailURLs { $0.keys = keys }
    for key in keys { #expect(urls.refusal(of: "/\(key.signature(of: Self.path))\(Self.path)") == nil) }
    let stranger = try otherKey("c").signature(of: Self.path)
    #expect(urls.refusal(of: "/\(stranger)\(Self.path)")?.status == 403)
  }

  @Test(arguments: ["_", "unsafe", "insecure", "0", "oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH9", signature + "="])
  func withAKeyNothingElseIsASignature(text: String) throws {
    let urls = try ThumbnailURLs { $0.keys = [try documentedKey()] }
    #expect(urls.refusal(of: "/\(text)\(Self.path)") == RequestError(403, "the signature is missing or wrong"))
  }

  @Test
  func withoutAKeyOrBySettingAnythingIs() throws {
    #expect(try ThumbnailURLs().refusal(of: "/unsafe\(Self.path)") == nil)
    let urls = try ThumbnailURLs {
      $0.keys = [try documentedKey()]
      $0.allowsUnsigned = true
    }
    #expect(urls.refusal(of: "/unsafe\(Self.path)") == nil)
  }

  @Test
  func aWrongSignatureSaysNothingAboutTheRest() throws {
    let urls = try ThumbnailURLs { $0.keys = [try documentedKey()] }
    for path in ["/x/unknown:1/plain/http://example.com/", "/x/plain/local:///etc/passwd", "/x/exp:1/plain/a"] {
      #expect(urls.refusal(of: path) == RequestError(403, "the signature is missing or wrong"))
    }
  }

  @Test
  func aSignatureOfAThumbnailIsNoneOfFacts() throws {
    let (key, path) = (try documentedKey(), "/plain/http://example.com/cat.jpg")
    let urls = try ThumbnailURLs { $0.keys = [key] }
    #expect(urls.refusal(of: "/info/\(key.signature(of: path))\(path)")?.status == 403)
    #expect(urls.refusal(of: "/info/\(key.signature(of: "/info" + path))\(path)") == nil)
  }

  @Test
  func aSlashThatAProxyHasDroppedDoesNotBreakTheSignature() throws {
    let (key, path) = (try documentedKey(), "/w:100/plain/https://example.com/cat.jpg")
    let urls = try ThumbnailURLs { $0.keys = [key] }
    let dropped = path.replacing("https://", with: "https:/")
    #expect(urls.refusal(of: "/\(key.signature(of: path))\(dropped)") == nil)
  }

  @Test
  func aURLEndsWhenItSays() throws {
    let urls = try ThumbnailURLs()
    let path = "/_/exp:2000000000/plain/http://example.com/cat.jpg"
    let end = Date(timeIntervalSince1970: 2_000_000_000)
    #expect(try urls.request(path: path, at: end - 1).expires == end)
    #expect(urls.refusal(of: path, at: end) == RequestError(404, "the URL has expired"))
    // A later time does not extend an earlier one.
    let twice = "/_/exp:1000/exp:2000000000/plain/http://example.com/cat.jpg"
    #expect(urls.refusal(of: twice, at: end - 1)?.status == 404)
    #expect(urls.refusal(of: "/_/exp:/plain/http://example.com/cat.jpg")?.status == 400)
  }

  @Test
  func queriesAreSignedWithAllThatIsBeforeTheSignature() throws {
    let key = try documentedKey()
    let urls = try ThumbnailURLs { $0.keys = [key] }
    let query = "src=https://example.com/cat.jpg&w=300"
    let signature = key.signature(of: "/?\(query)")
    #expect(urls.refusal(of: "/", query: "\(query)&sig=\(signature)") == nil)
    #expect(urls.refusal(of: "/", query: query)?.status == 403)
    #expect(urls.refusal(of: "/", query: "\(query)0&sig=\(signature)")?.status == 403)
    #expect(urls.refusal(of: "/", query: "\(query)&sig=\(signature)&h=1")?.status == 403)
    #expect(urls.refusal(of: "/info", query: "\(query)&sig=\(signature)")?.status == 403)
  }

  @Test(arguments: [
    ("", "00", 32), ("abc", "00", 32), ("zz", "00", 32), ("+1", "00", 32), ("00", "0", 32), ("00", "00", 7),
  ])
  func aKeyThatIsNoneIsAnErrorThatDoesNotShowIt(key: String, salt: String, size: Int) {
    let error = #expect(throws: ConfigurationError.self) { try SigningKey(key: key, salt: salt, size: size) }
    #expect(error?.description.contains("zz") == false)
  }

  @Test
  func aKeyIsNotShown() throws {
    let key = try documentedKey()
    var dump = ""
    Swift.dump(key, to: &dump)
    #expect(!"\(key) \(String(reflecting: key)) \(dump)".contains("115"))
  }

  /// Signed URLs with one byte changed, added or taken away, by the thousand.
  @Test
  func noMutantIsAccepted() throws {
    let (key, other) = (try documentedKey(), try otherKey("d"))
    let urls = try ThumbnailURLs { $0.keys = [key, other] }
    let path = "/rs:fill:300:400/q:80/exp:2000000000/plain/https://example.com/cat.jpg@webp"
    let usual = "/\(key.signature(of: path))\(path)"
    let whole = Array(usual.utf8)
    let now = Date(timeIntervalSince1970: 1_000_000_000)
    #expect(urls.refusal(of: usual, at: now) == nil)
    var numbers = SplitMix64(seed: 24)
    for _ in 0..<Mutants.count {
      let mutant = Mutants.mutant(of: whole, &numbers)
      let text = String(decoding: mutant, as: UTF8.self)
      // A slash that a proxy drops is put back.
      guard mutant != whole, text.replacing("plain/https:/example", with: "plain/https://example") != usual else {
        continue
      }
      let refusal = urls.refusal(of: text, at: now)
      #expect(refusal != nil, "\(text)")
    }
  }

  /// The same without keys: nothing crashes, and what is accepted is read back as it is written.
  @Test
  func everyMutantIsReadOrRefused() throws {
    let urls = try ThumbnailURLs()
    let paths = [
      "/_/rs:fill-down:300:400:1:1:nowe:1:2/c:0.5:20:sm/t:10:ff0000:1/wm:0.5:soea:1:1:0.1/plain/http://example.com/a@webp",
      "/_/pd:1:2:3:4/fq:webp:70:avif:50/fn:Y2F0:1/bg:1:2:3/rc:1:2:3:4/aHR0cDovL2V4YW1wbGUuY29tL2NhdC5qcGc.png",
      "/info/_/dpr:2.5/g:fp:0.5:0.25/plain/http%3A%2F%2Fexample.com%2Fcat.jpg%3Fa%3Db",
    ].map { Array($0.utf8) }
    var numbers = SplitMix64(seed: 42)
    for index in 0..<Mutants.count {
      let mutant = String(decoding: Mutants.mutant(of: paths[index % 3], &numbers), as: UTF8.self)
      guard let request = try? urls.request(path: mutant) else { continue }
      let options = request.options.canonical
      let again = try urls.request(path: "/_/\(options.isEmpty ? "" : options + "/")plain/http://example.com/")
      #expect(again.options == request.options, "\(mutant)")
      #expect(again.options.canonical == options, "\(mutant)")
    }
  }
}

enum Mutants {
  /// The number that is tried.
  static let count = Situations.areAllWanted ? 10_000 : 500

  private static let pieces = [
    "/", "//", ":", "%", "%2f", "%00", "%25", "@", "..", ".", "plain", "-", "=", "\u{0}", "\n", "é", "999999999999",
    "é\u{301}",
  ].map { Array($0.utf8) }

  /// Returns a text with one to three changes.
  static func mutant(of text: [UInt8], _ numbers: inout SplitMix64) -> [UInt8] {
    var text = text
    for _ in 0..<Int.random(in: 1...3, using: &numbers) {
      let place = Int.random(in: 0..<text.count, using: &numbers)
      switch Int.random(in: 0..<6, using: &numbers) {
      case 0: text[place] ^= UInt8(1 << Int.random(in: 0..<8, using: &numbers))
      case 1: text[place] = UInt8.random(in: 0...255, using: &numbers)
      case 2: text.remove(at: place)
      case 3: text.insert(contentsOf: pieces.randomElement(using: &numbers) ?? [], at: place)
      case 4: text.removeSubrange(place...)
      default: text.swapAt(place, Int.random(in: 0..<text.count, using: &numbers))
      }
      if text.isEmpty { text = [UInt8(ascii: "/")] }
    }
    return text
  }
}
