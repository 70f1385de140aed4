import Testing
import VitrineImaging
import VitrineRuntime
import VitrineServingRequests
import VitrineTestSupport

/// What is written is read back.
@Suite
struct RoundTripTests {
  @Test
  func optionsAreReadBackAsTheyAreWritten() throws {
    let urls = try ThumbnailURLs { ($0.maxSide, $0.maxPixels) = (.max, .max) }
    var numbers = SplitMix64(seed: 7)
    var texts: [String: ThumbnailOptions] = [:]
    for _ in 0..<(Situations.areAllWanted ? 5000 : 400) {
      let options = ThumbnailOptions.random(&numbers)
      let text = options.canonical
      // One text, one meaning.
      #expect(texts[text] == nil || texts[text] == options)
      texts[text] = options
      let path = "/_/\(text.isEmpty ? "" : text + "/")plain/http://example.com/"
      let request = try urls.request(path: path)
      #expect(request.options == options, "\(text)")
    }
    #expect(Set(texts.values).count == texts.count)
  }

  @Test
  func theOrderOfOptionsDoesNotMatter() throws {
    let urls = try ThumbnailURLs()
    let options = ["rt:fill", "w:300", "h:200", "q:70", "g:sm", "bl:2", "pd:1:2:3:4", "dpr:2", "bg:102030"]
    let usual = try urls.request(path: "/_/\(options.joined(separator: "/"))/plain/http://example.com/")
    var numbers = SplitMix64(seed: 8)
    for _ in 0..<50 {
      let text = options.shuffled(using: &numbers).joined(separator: "/")
      #expect(try urls.request(path: "/_/\(text)/plain/http://example.com/") == usual)
    }
  }

  @Test
  func pathAndQueryMeanTheSame() throws {
    let urls = try ThumbnailURLs()
    let path = "/_/rs:fill:300:200/q:70/g:nowe:10:20/pd:10:20/plain/http://example.com/a%2520b.jpg%3Fx%3D1%26y%3D2@webp"
    let query =
      "src=http://example.com/a%2520b.jpg%3Fx%3D1%26y%3D2&fit=fill&w=300&h=200&q=70&g=nowe:10:20&pd=10:20&format=webp"
    #expect(try urls.request(path: path) == urls.request(path: "/", query: query))
    #expect(try urls.request(path: "/info", query: query).isInfo)
  }

  @Test(arguments: [
    ("", 404, "the source is missing"),
    ("w=1", 400, "the source is missing"),
    ("src=", 400, "the source is missing"),
    ("src=http://example.com/&w", 400, "'w' is not name=value"),
    ("src=http://example.com/&w=1&w=2", 400, "'w' is there twice"),
    ("src=http://example.com/&src=http://example.org/", 400, "'src' is there twice"),
    ("src=http://example.com/&width=x", 400, "'width' takes a number"),
    ("src=http://example.com/&size=1&nothing=2", 400, "unknown option 'nothing'"),
    ("src=http://example.com/%", 400, "a % is written %25"),
    ("sig=1&src=http://example.com/", 400, "sig must be last"),
    ("src=http://example.com/&&w=1", 400, "is not name=value"),
    ("src=http://example.com/&fit=cover", 400, "one of fit, fill"),
  ])
  func aQueryIsRefusedByName(query: String, status: Int, text: String) throws {
    let refusal = try #require(try ThumbnailURLs().refusal(of: "/", query: query))
    #expect(refusal.status == status)
    #expect(refusal.text.contains(text), "\(refusal)")
  }

  /// "é" as one character and as two; "K" and the sign of kelvin.
  @Test(arguments: [("caf\u{E9}", "caf%C3%A9", "cafe%CC%81"), ("K", "K", "%E2%84%AA")])
  func namesOfPresetsAreBytes(preset: String, name: String, other: String) throws {
    var configuration = ThumbnailURLs.Configuration()
    configuration.presets = [preset: "w:100"]
    let urls = try ThumbnailURLs(configuration)
    func width(_ preset: String) throws -> Int {
      try urls.request(path: "/_/pr:\(preset)/plain/http://example.com/a.jpg").options.width
    }
    #expect(try width(name) == 100)
    #expect(throws: RequestError.self) { try width(other) }
    #expect(throws: RequestError.self) { try urls.request(path: "/", query: "src=http://example.com/&pr=\(other)") }
  }

  @Test
  func presetsStandForOptions() throws {
    let urls = try ThumbnailURLs {
      $0.presets = [
        "default": "q:70/kcr:0", "small": "rs:fill:100:100", "sharp": "sh:0.5/dpr:2", "both": "pr:small:sharp",
      ]
    }
    func canonical(_ options: String) throws -> String {
      try urls.request(path: "/_/\(options)plain/http://example.com/").options.canonical
    }
    #expect(try canonical("") == "q:70/kcr:0")
    #expect(try canonical("pr:small/w:50/") == "rt:fill/w:50/h:100/q:70/kcr:0")
    #expect(try canonical("preset:small:sharp/") == canonical("pr:both/"))
    #expect(try canonical("pr:both/q:90/") == "rt:fill/w:100/h:100/dpr:2/sh:0.5/q:90/kcr:0")
    #expect(try urls.request(path: "/", query: "src=http://example.com/&preset=small").options.width == 100)
  }

  @Test
  func onlyPresetsAllowsNothingElse() throws {
    let urls = try ThumbnailURLs {
      $0.presets = ["small": "rs:fill:100:100", "soft": "bl:2"]
      $0.allowsOnlyPresets = true
    }
    let request = try urls.request(path: "/_/small:soft/plain/http://example.com/@png")
    #expect(request.options.canonical == "rt:fill/w:100/h:100/bl:2")
    #expect(request.format == .png)
    #expect(urls.refusal(of: "/_/w:5000/plain/http://example.com/")?.status == 400)
    #expect(urls.refusal(of: "/_/small/w:5000/plain/http://example.com/")?.status == 400)
    #expect(urls.refusal(of: "/_/plain/http://example.com/")?.status == 400)
    #expect(
      urls.refusal(of: "/", query: "src=http://example.com/&w=1")?.text
        == "only presets are allowed, not the option 'w'"
    )
  }

  @Test(arguments: [
    ["a": "w"], ["a": "w:x"], ["a": "pr:b"], ["a": "pr:a"], ["a": "pr:b", "b": "pr:a"], ["a": "w:100000"],
    ["a": "raw:1"],
  ])
  func aPresetThatIsWrongIsNamedAtTheStart(presets: [String: String]) {
    let error = #expect(throws: ConfigurationError.self) { try ThumbnailURLs { $0.presets = presets } }
    #expect(error?.description.hasPrefix("the preset 'a' is not valid") == true)
  }

  @Test
  func presetsThatGrowWithoutBoundEnd() {
    // Each names the one before ten times.
    var presets = ["p0": "w:1"]
    for level in 1...9 {
      presets["p\(level)"] = "pr:" + Array(repeating: "p\(level - 1)", count: 10).joined(separator: ":")
    }
    #expect(throws: ConfigurationError.self) { try ThumbnailURLs { $0.presets = presets } }
  }
}

extension ThumbnailOptions {
  /// Makes options of which most have their defaults: operations by their table, and the rest by hand.
  static func random(_ numbers: inout SplitMix64) -> ThumbnailOptions {
    var options = ThumbnailOptions()
    func rarely(_ change: (inout SplitMix64) -> Void) { if Bool.random(using: &numbers) { change(&numbers) } }
    options.operations = .random(using: &numbers)
    options.width = Int.random(in: 1...8000, using: &numbers)
    rarely { options.quality = Int.random(in: 1...100, using: &$0) }
    rarely { options.formatQualities["webp"] = Int.random(in: 1...100, using: &$0) }
    rarely { options.formatQualities["avif"] = Int.random(in: 1...100, using: &$0) }
    rarely { options.metadata = Metadata.allCases.randomElement(using: &$0) ?? .none }
    rarely { options.keepsWideColors = Bool.random(using: &$0) }
    rarely { options.keepsGainMap = Bool.random(using: &$0) }
    rarely { options.page = Int.random(in: 0...9999, using: &$0) }
    rarely { options.animates = Bool.random(using: &$0) }
    rarely { options.isAttachment = Bool.random(using: &$0) }
    rarely { options.fileName = ["cat", "a b", "ü:%2F", "1"].randomElement(using: &$0) }
    rarely { options.cacheBuster = ["1", "a:b", "x/y%", "ü"].randomElement(using: &$0) }
    return options
  }
}
