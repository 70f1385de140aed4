import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
@testable import VitrineServingRequests

/// URLs in imgproxy's syntax, and what they mean.
@Suite
struct PathTests {
  private static let cat = "http://example.com/images/cat.jpg"

  @Test
  func aPrefixOfPathsIsNotSigned() throws {
    var configuration = ThumbnailURLs.Configuration()
    configuration.pathPrefix = "/images/v1"
    configuration.keys = [try SigningKey(key: "943b421c9eb07c83", salt: "520f986b998545b4")]
    let urls = try ThumbnailURLs(configuration)
    let path = "/w:30/plain/\(Self.cat)@png"
    let signed = "/\(configuration.keys[0].signature(of: path))\(path)"
    #expect(try urls.request(path: "/images/v1" + signed).options.canonical == "w:30")
    for wrong in [signed, "/images" + signed, "/images/v12" + signed, "/images/v1" + path, "/images/v1"] {
      #expect(throws: RequestError.self) { try urls.request(path: wrong) }
    }
    configuration.keys = []
    #expect(
      try ThumbnailURLs(configuration).request(path: "/images/v1", query: "src=\(Self.cat)&w=30").options.canonical
        == "w:30"
    )
  }

  /// As `openssl enc` encrypts, behind its initialization vector.
  @Test(arguments: [
    ("000102030405060708090a0b0c0d0e0f", "8PHy8_T19vf4-fr7_P3-_-SsEU_k1wkOJEKhpYGUm3rz6uMN_ZHhHjIQLwe5Z463"),
    (
      "000102030405060708090a0b0c0d0e0f1011121314151617",
      "8PHy8_T19vf4-fr7_P3-_2qniC-Vf3VorVH2O8Du1NfADgvdKONoYZ_hg4bW-qAz",
    ),
    (
      "1eb5b0e971ad7f45324c1bb15c947cb207c43152fa5c6c7f35c4f36e0c18e0f1",
      "8PHy8_T19vf4-fr7_P3-_4HpzBzDVw2kE4oYZJBopWEndTz1bYAunoqkchJfKzTu",
    ),
  ])
  func anEncryptedSourceIsRead(digits: String, text: String) throws {
    let key = try SourceKey(digits)
    let urls = try ThumbnailURLs { $0.sourceKey = key }
    for path in [text, "\(text)==", "\(text.prefix(9))/\(text.dropFirst(9))"] {
      #expect(try urls.request(path: "/_/w:30/enc/\(path)").source == .url("http://example.com/cat.jpg"))
      #expect(try urls.request(path: "/_/w:30/enc/\(path).png").format == .png)
    }
    // Whatever is wrong, only that is said.
    let cut = [String(text.dropLast(1)), String(text.prefix(43)), "", "AAAA", "!", "\(text.dropLast(4))AAAA"]
    for wrong in cut {
      let refusal = urls.refusal(of: "/_/w:30/enc/\(wrong)")
      #expect(refusal == RequestError(400, "the encrypted source cannot be read"), "\(wrong)")
    }
    let other = try ThumbnailURLs { $0.sourceKey = try SourceKey(String(digits.reversed())) }
    #expect(other.refusal(of: "/_/w:30/enc/\(text)")?.text == "the encrypted source cannot be read")
  }

  @Test
  func aSourceIsEncryptedWithTheRulesOfAPlainOne() throws {
    let key = try SourceKey(String(repeating: "5a", count: 32))
    let urls = try ThumbnailURLs { ($0.sourceKey, $0.sources.prefixes) = (key, [try SourcePrefix("example.com")]) }
    for source in ["http://example.com/", "http://example.com/a%2520b", "http:/example.com/%40.png"] {
      for format in ["", "@webp", "@"] {
        let plain = "/_/w:30/-/bl:2/plain/\(source)\(format)"
        let encrypted = try key.encryptingSource(of: plain)
        #expect(encrypted.hasPrefix("/_/w:30/-/bl:2/enc/") && !encrypted.contains("example"))
        #expect(try encrypted == key.encryptingSource(of: plain))
        #expect(try urls.request(path: encrypted) == urls.request(path: plain))
      }
    }
    #expect(urls.refusal(of: try key.encryptingSource(of: "/_/w:1/plain/http://other.example/"))?.status == 403)
    #expect(throws: RequestError.self) { try key.encryptingSource(of: "/_/w:1/aHR0cDovL2V4YW1wbGUuY29tL2NhdC5qcGc") }
    #expect(throws: RequestError.self) { try key.encryptingSource(of: "/_/w:1/plain/http://example.com/%zz") }
    #expect(!"\(key)".contains("5a") && !String(reflecting: key).contains("90"))
  }

  @Test(arguments: [
    ("w:30/-/t:10", "w:30/-/t:10::0:0"),
    ("w:30/-/-/bl:2/-", "w:30/-/bl:2"),
    ("-/w:30", "-/w:30"),
    ("-/-", ""),
    // The options of the file are those of all of it.
    ("w:30/-/q:5/w:20", "w:30/q:5/-/w:20"),
    // imgproxy's example: the pipelines of a preset go on with those of the URL.
    ("pr:test/dpr:2/-/h:500", "w:300/h:300/dpr:2/-/w:200/h:500/-/w:100/h:200"),
    ("w:9/-/pr:test", "w:9/-/w:300/h:300/-/w:200/h:200/-/w:100/h:200"),
  ])
  func pipelinesFollowOneAnother(path: String, options: String) throws {
    let urls = try ThumbnailURLs { $0.presets = ["test": "w:300/h:300/-/w:200/h:200/-/w:100/h:200"] }
    #expect(try urls.request(path: "/_/\(path)/plain/\(Self.cat)").options.canonical == options)
  }

  @Test
  func presetsAloneMayHavePipelines() throws {
    let urls = try ThumbnailURLs { ($0.allowsOnlyPresets, $0.presets) = (true, ["a": "w:10", "b": "bl:2/-/w:5"]) }
    #expect(try urls.request(path: "/_/a/-/b/plain/\(Self.cat)").options.canonical == "w:10/-/bl:2/-/w:5")
    #expect(urls.refusal(of: "/_/a/-/plain/\(Self.cat)")?.status == 400)
  }

  @Test
  func aLimitOfTheResultIsOneOfAllPipelines() throws {
    let urls = try ThumbnailURLs { $0.maxResultSide = 1000 }
    let canonical = try urls.request(path: "/_/w:30/-/mrd:2000/-/mrd:9/plain/\(Self.cat)").options.canonical
    #expect(canonical == "w:30/mrd:1000/-/mrd:1000/-/mrd:9")
  }

  @Test(
    arguments: [
      ("skp:gif:svg", "", ["gif", "svg"]), ("skp:jpg", "@jpg", ["jpeg"]), ("skp:gif:jpg", "@jpg", ["jpeg"]),
      ("skp:gif", "@png", []), ("skp:gif/skp:", "", []), ("w:1", "", []),
    ] as [(String, String, Set<String>)]
  )
  func aFileIsPassedOnUnlessAnotherFormatIsAskedFor(option: String, ending: String, formats: Set<String>) throws {
    let options = try ThumbnailURLs().request(path: "/_/\(option)/plain/\(Self.cat)\(ending)").options
    #expect(Set(options.passedOn.map(\.name)) == formats)
    #expect(Set(options.encoding(as: nil).passedOn.map(\.name)) == formats)
  }

  @Test
  func aSourceForErrorsIsRead() throws {
    let path = "/_/fallback_image_url:aHR0cDovL2V4YW1wbGUuY29tL2NhdC5qcGc/plain/\(Self.cat)"
    #expect(try ThumbnailURLs().request(path: path).fallback == .url("http://example.com/cat.jpg"))
    #expect(try ThumbnailURLs().request(path: "/_/fiu:/plain/\(Self.cat)").fallback == nil)
  }

  @Test(arguments: [
    ("rs:fit:300:200", "w:300/h:200"),
    ("resize:fill:300:200:1:1", "rt:fill/w:300/h:200/el:1/ex:1:ce"),
    ("rs:fill-down:300:200:0:1:noea:10:-5", "rt:fill-down/w:300/h:200/ex:1:noea:10:-5"),
    ("rs::300", "w:300"),
    ("rs:force:0:200", "rt:force/h:200"),
    ("s:300:200", "w:300/h:200"),
    ("size:300:200:t", "w:300/h:200/el:1"),
    ("rt:auto/w:10/h:20", "rt:auto/w:10/h:20"),
    ("width:10/height:20", "w:10/h:20"),
    ("h:20/w:10", "w:10/h:20"),
    ("w:5/w:10", "w:10"),
    ("mw:100/min-height:50", "mw:100/mh:50"),
    ("w:100/z:2", "w:100/z:2:2"),
    ("w:100/zoom:2:1.5", "w:100/z:2:1.5"),
    ("dpr:2.5", "dpr:2.5"),
    ("dpr:1", "dpr:1"),
    ("el:1/el:0", ""),
    ("enlarge:true", "el:1"),
    ("ex:1", "ex:1:ce"),
    ("ex:0", ""),
    ("exar:1:so:0:4", "exar:1:so:0:4"),
    ("g:sm", "g:sm"),
    ("g:ce", ""),
    ("gravity:nowe:10:0.25", "g:nowe:10:0.25"),
    ("g:fp:0.5:0.125", "g:fp:0.5:0.125"),
    ("c:100:200", "c:100:200"),
    ("crop:0.5:0:we:3", "c:0.5:0:we:3:0"),
    ("c:10:20:sm", "c:10:20:sm"),
    ("t:10", "t:10::0:0"),
    ("trim:10:ff00ff:1:0", "t:10:FF00FF:1:0"),
    ("t:0::1:1", "t:0::1:1"),
    ("pd:10", "pd:10:10:10:10"),
    ("pd:10:20", "pd:10:20:10:20"),
    ("padding:1:2:3:4", "pd:1:2:3:4"),
    ("pd::5", "pd:0:5:0:5"),
    ("rot:90", "rot:90"),
    ("rot:-90", "rot:270"),
    ("rotate:360", ""),
    ("ar:1", ""),
    ("fl:1:0", "fl:1:0"),
    ("flip:0:1", "fl:0:1"),
    ("bg:255:128:0", "bg:FF8000"),
    ("background:fff", "bg:FFFFFF"),
    ("bg:ff800080", "bg:FF800080"),
    ("bg:ff8000/bg:", ""),
    ("br:-20/co:1.5/sa:0", "br:-20/co:1.5/sa:0"),
    ("a:10:1:0.5", "br:10/sa:0.5"),
    ("bl:2.5/sh:0.7", "bl:2.5/sh:0.7"),
    ("blur:0", ""),
    ("rc:16", "rc:16"),
    ("rc:1:2:3:4", "rc:1:2:3:4"),
    ("wm:0.5", "wm:0.5:ce:0:0:0"),
    ("watermark:0.5:soea:10:0.1:0.2", "wm:0.5:soea:10:0.1:0.2"),
    ("wm:0", ""),
    ("q:80", "q:80"),
    ("q:0", ""),
    ("fq:webp:70:avif:50", "fq:avif:50:webp:70"),
    ("sm:0", "sm:0"),
    ("sm:1", ""),
    ("kcr:0", "kcr:0"),
    ("kcr:0/sm:1", "kcr:0"),
    ("scp:0", "scp:0"),
    ("page:3/da:1", "pg:3/da:1"),
    ("att:1/fn:cat", "att:1/fn:Y2F0:1"),
    ("fn:Y2F0:1", "fn:Y2F0:1"),
    ("fn:a%20b", "fn:YSBi:1"),
    ("cb:v2", "cb:v2"),
    ("rs%3Afit%3A300%3A200", "w:300/h:200"),
    ("", ""),
  ])
  func optionsMeanWhatImgproxyTakesThemFor(options: String, canonical: String) throws {
    let middle = options.isEmpty ? "" : "\(options)/"
    let request = try ThumbnailURLs().request(path: "/_/\(middle)plain/\(Self.cat)")
    #expect(request.options.canonical == canonical)
    #expect(request.source == .url(Self.cat))
    #expect(request.format == nil)
    #expect(!request.isInfo)
  }

  @Test(arguments: [
    ("plain/http://example.com/a%20b.jpg@png", "http://example.com/a%20b.jpg", "png"),
    ("plain/http%3A%2F%2Fexample.com%2Fcat.jpg%3Fv%3D1%26w%3D2@webp", "http://example.com/cat.jpg?v=1&w=2", "webp"),
    ("plain/http://example.com/a%2520b.jpg", "http://example.com/a%20b.jpg", nil),
    ("plain/http://example.com/a%40b.jpg@avif", "http://example.com/a@b.jpg", "avif"),
    ("plain/http://example.com/cat.jpg@", "http://example.com/cat.jpg", nil),
    ("plain/http:/example.com/cat.jpg", "http://example.com/cat.jpg", nil),
    ("plain/HTTPS://EXAMPLE.com:443/a/../cat.jpg#x", "https://example.com/cat.jpg", nil),
    ("f:webp/plain/http://example.com/cat.jpg@png", "http://example.com/cat.jpg", "png"),
    ("format:jpg/plain/http://example.com/cat.jpg", "http://example.com/cat.jpg", "jpeg"),
    ("f:webp/f:/plain/http://example.com/cat.jpg", "http://example.com/cat.jpg", nil),
    ("aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png", "http://example.com/images/curiosity.jpg", "png"),
    ("aHR0cDovL2V4YW1wbGUuY29tL2NhdC5qcGc=", "http://example.com/cat.jpg", nil),
    // Base64 is the source itself: nothing in it is decoded again.
    ("aHR0cDovL2V4YW1wbGUuY29tL2ElMjBi", "http://example.com/a%20b", nil),
  ])
  func sourcesAreDecodedOnce(path: String, url: String, format: String?) throws {
    let request = try ThumbnailURLs().request(path: "/unsafe/\(path)")
    #expect(request.source == .url(url))
    #expect(request.format?.name == format)
  }

  @Test(arguments: [
    ("/", 404, "the source is missing"),
    ("/favicon.ico", 404, "a path is"),
    ("//rs:fit:1:1/plain/http://example.com/", 404, "a path is"),
    ("/_/rs:fit:1:1", 400, "the source is missing"),
    ("/_/rs:fit:1:1/plain", 400, "the source is missing"),
    ("/_/rs:fit:1:1/plain/", 400, "the source is missing"),
    ("/_/rs:fit:1:1/enc/abc", 400, "no key for encrypted sources"),
    ("/_/w:1/-/w:2/-/w:3/-/w:4/-/w:5/plain/http://example.com/", 400, "more than 4 pipelines"),
    ("/_/w:1/-/w:9000/plain/http://example.com/", 400, "longer than 8192"),
    ("/_/w:1/-", 400, "the source is missing"),
    ("/_/skp:gif:nope/plain/http://example.com/", 400, "takes formats of sources, not 'nope'"),
    ("/_/fiu:!/plain/http://example.com/", 400, "takes a source in base64"),
    (
      "/_/fiu:aHR0cDovLzEyNy4wLjAuMS8/plain/http://example.com/", 403,
      "'fallback_image_url': the source is not allowed",
    ),
    ("/_/raw:1/plain/http://example.com/", 400, "'skip_processing'"),
    ("/_/wdth:100/plain/http://example.com/", 400, "unknown option 'wdth'"),
    ("/_/W:100/plain/http://example.com/", 400, "unknown option 'W'"),
    ("/_/w:100:1/plain/http://example.com/", 400, "'w' takes at most 1"),
    ("/_/w:ten/plain/http://example.com/", 400, "'w' takes a number from 0 to 65535, not 'ten'"),
    ("/_/w:-1/plain/http://example.com/", 400, "'w'"),
    ("/_/w:+1/plain/http://example.com/", 400, "'w'"),
    ("/_/w:1e3/plain/http://example.com/", 400, "'w'"),
    ("/_/w:99999999999999999999/plain/http://example.com/", 400, "'w'"),
    ("/_/w:9000/plain/http://example.com/", 400, "longer than 8192"),
    ("/_/s:8000:8000/plain/http://example.com/", 400, "more than 33554432 pixels"),
    ("/_/mw:8000/h:8000/plain/http://example.com/", 400, "more than 33554432 pixels"),
    ("/_/w:4000/dpr:3/plain/http://example.com/", 400, "longer than 8192"),
    ("/_/w:100/z:100/plain/http://example.com/", 400, "longer than 8192"),
    ("/_/pd:5000/plain/http://example.com/", 400, "longer than 8192"),
    ("/_/w:8000/pd:100/plain/http://example.com/", 400, "longer than 8192"),
    ("/_/w:1/h:1/pd:4000/plain/http://example.com/", 400, "more than 33554432 pixels"),
    ("/_/dpr:nan/plain/http://example.com/", 400, "'dpr'"),
    ("/_/dpr:inf/plain/http://example.com/", 400, "'dpr'"),
    ("/_/dpr:0x1p3/plain/http://example.com/", 400, "'dpr'"),
    ("/_/dpr:0/plain/http://example.com/", 400, "'dpr'"),
    ("/_/rs:cover:1:1/plain/http://example.com/", 400, "one of fit, fill, fill-down, force, auto, not 'cover'"),
    ("/_/el:yes/plain/http://example.com/", 400, "'el' takes 1 or 0"),
    ("/_/g:middle/plain/http://example.com/", 400, "'g' takes one of ce, no"),
    ("/_/g:fp:2:0/plain/http://example.com/", 400, "'g'"),
    ("/_/g:sm:1/plain/http://example.com/", 400, "'g'"),
    ("/_/ex:1:sm/plain/http://example.com/", 400, "'ex'"),
    ("/_/rot:45/plain/http://example.com/", 400, "a multiple of 90"),
    ("/_/ar:2/plain/http://example.com/", 400, "'ar' takes as rotate 1 or 0"),
    ("/_/mrd:-1/plain/http://example.com/", 400, "'mrd'"),
    ("/_/bg:12345/plain/http://example.com/", 400, "'bg'"),
    ("/_/bg:1:2:256/plain/http://example.com/", 400, "'bg'"),
    ("/_/q:101/plain/http://example.com/", 400, "'q'"),
    ("/_/fq:webp/plain/http://example.com/", 400, "'fq'"),
    ("/_/f:svg/plain/http://example.com/", 400, "the format 'svg' is not one of jpg, png"),
    ("/_/plain/http://example.com/@html", 400, "the format 'html'"),
    ("/_/plain/http://example.com/@png@webp", 400, "%40"),
    ("/_/plain/http://example.com/%", 400, "a % is written %25"),
    ("/_/plain/http://example.com/%zz", 400, "a % is written %25"),
    ("/_/plain/http://example.com/%ff", 400, "a % is written %25"),
    ("/_/plain/http://example.com/%00", 400, "a % is written %25"),
    ("/_/plain/ftp://example.com/", 400, "not an http or https URL"),
    ("/_/plain/javascript:alert(1)", 400, "not an http or https URL"),
    ("/_/plain/data:image/png;base64,AAAA", 400, "not an http or https URL"),
    ("/_/plain/http://user:secret@example.com/", 400, "the format"),
    ("/_/plain/http://user%40example.com/", 400, "user names"),
    ("/_/raw:1/plain/http://example.com/", 400, "'raw' is not supported: name the formats"),
    ("/_/mb:1000/plain/http://example.com/", 400, "'mb' is not supported"),
    ("/_/pix:5/plain/http://example.com/", 400, "'pix' is not supported"),
    ("/_/wm:0.5:re:-1/plain/http://example.com/", 400, "'wm' takes no negative distance between pictures, not '-1'"),
    ("/_/wm:0.5:xx/plain/http://example.com/", 400, "'wm'"),
    ("/_/fn:..%2Fx/plain/http://example.com/", 400, "'fn'"),
    ("/_/fn:a%0D%0AX/plain/http://example.com/", 400, "'fn'"),
    ("/_/fn:a%E2%80%AEgpj/plain/http://example.com/", 400, "'fn'"),
    ("/_/pr:nothing/plain/http://example.com/", 400, "unknown preset 'nothing'"),
    ("/_/notbase64!", 400, "neither an option"),
    ("/_/aHR0cDovL2V4YW1wbGUuY29tL2NhdC5qcGd", 400, "neither an option"),
    ("/_/plain/http://exa mple.com/", 400, "percent-encoded"),
    ("/_/plain/http://ex\u{301}ample.com/", 400, "percent-encoded"),
    ("/_/plain/local:///etc/passwd", 403, "local files are not allowed"),
  ])
  func whatIsNotUnderstoodIsRefusedByName(path: String, status: Int, text: String) throws {
    let refusal = try #require(try ThumbnailURLs().refusal(of: path))
    #expect(refusal.status == status)
    #expect(refusal.text.contains(text), "\(refusal)")
  }

  @Test
  func aQueryBehindAPathCountsForNothing() throws {
    let path = "/_/w:1/plain/http://example.com/cat.jpg"
    #expect(try ThumbnailURLs().request(path: path, query: "v=2") == ThumbnailURLs().request(path: path))
  }

  @Test
  func lengthAndNumberOfOptionsAreBounded() throws {
    let urls = try ThumbnailURLs()
    let long = "/_/plain/http://example.com/" + String(repeating: "a", count: 8192)
    #expect(urls.refusal(of: long)?.status == 414)
    func path(_ count: Int) -> String { "/_/" + String(repeating: "w:1/", count: count) + "plain/http://example.com/" }
    #expect(urls.refusal(of: path(64)) == nil)
    #expect(urls.refusal(of: path(65))?.text == "there are more than 64 options")
  }

  @Test
  func theLongestSideOfAResultIsTheLowestThatIsNamed() throws {
    let urls = try ThumbnailURLs { $0.maxResultSide = 1000 }
    for (asked, options) in [
      ("w:30", "w:30/mrd:1000"), ("mrd:0", "mrd:1000"), ("mrd:9", "mrd:9"), ("mrd:1001", "mrd:1000"),
    ] {
      #expect(try urls.request(path: "/_/\(asked)/plain/\(Self.cat)").options.canonical == options)
    }
    #expect(try ThumbnailURLs().request(path: "/_/mrd:9/plain/\(Self.cat)").options.canonical == "mrd:9")
    // It shrinks what would be refused for its size.
    #expect(urls.refusal(of: "/_/s:20000:30000:1/pd:9000/plain/\(Self.cat)") == nil)
    #expect(try ThumbnailURLs().refusal(of: "/_/w:20000/plain/\(Self.cat)")?.status == 400)
  }

  @Test
  func infoAsksForFactsOfTheOriginal() throws {
    let request = try ThumbnailURLs().request(path: "/info/_/plain/\(Self.cat)")
    #expect(request.isInfo)
    #expect(request.source == .url(Self.cat))
  }

  @Test
  func aMessageHasNoControlCharacters() throws {
    let refusal = try #require(try ThumbnailURLs().refusal(of: "/_/w:%1B%5B31m%C3%A9/plain/http://example.com/"))
    #expect(refusal.text.utf8.allSatisfy { (32...126).contains($0) })
  }

  @Test
  func everyRefusedOptionIsNotAlsoUnderstood() {
    let names = OptionTable.rows.flatMap(\.names)
    #expect(Set(names).count == names.count)
    #expect(Set(names).isDisjoint(with: OptionTable.refused.keys))
  }
}

/// The page of the documentation that lists the options.
@Suite
struct DocumentedOptionTests {
  @Test
  func everyOptionIsDocumented() throws {
    let page = "Sources/Server/Requests/VitrineServingRequests.docc/OptionsOfURLs.md"
    let text = try String(decoding: Data(contentsOf: Repository.folder.appending(path: page)), as: UTF8.self)
    let parts = text.split(separator: "### Signatures")
    try #require(parts.count == 2)
    for row in OptionTable.rows { #expect(parts[0].contains(row.documentation + "\n"), "\(row.documentation)") }
    #expect(parts[0].split(separator: "\n").count { $0.hasPrefix("| `") } == OptionTable.rows.count)
    let order = ImageOperation.order.map { "`\($0)`" }.joined(separator: ", ")
    #expect(parts[0].split(whereSeparator: \.isWhitespace).joined(separator: " ").contains("in one order: \(order)."))
    let refusals = text.split(separator: "These options of imgproxy are refused")
    try #require(refusals.count == 2)
    for name in OptionTable.refused.keys { #expect(refusals[1].contains("`\(name)`"), "\(name)") }
  }
}
