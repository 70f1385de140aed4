import Testing
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineServingRequests
import VitrineTestSupport

/// What a client gets, and what it depends on.
@Suite
struct NegotiationTests {
  /// A request for a thumbnail that every encoder makes in time.
  private let small = ThumbnailRequest(.url("http://example.com/"), options: .box(300, 200))

  private func choose(
    _ request: ThumbnailRequest,
    _ headers: HTTPFields,
    _ change: (inout Negotiation.Configuration) -> Void = { _ in },
  ) -> Negotiation {
    var configuration = Negotiation.Configuration()
    configuration.costs = FormatCosts([
      .avif: FormatCosts.Cost(timePerMegapixel: .milliseconds(400), relativeSize: 0.5),
      .jxl: FormatCosts.Cost(timePerMegapixel: .milliseconds(200), relativeSize: 0.6),
      .webp: FormatCosts.Cost(timePerMegapixel: .milliseconds(100), relativeSize: 0.7),
    ])
    configuration.timeLimit = .milliseconds(100)
    change(&configuration)
    return Negotiation.choose(request, headers: headers, configuration)
  }

  @Test(arguments: [
    ("image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8", "avif"),
    ("image/webp,*/*", "webp"),
    ("image/webp;q=0.9,image/avif;q=0.8", "webp"),
    ("image/webp;q=0.8,image/avif;q=0.8", "avif"),
    ("image/avif;q=0,image/webp", "webp"),
    ("image/avif;q=0.000,image/jxl;q=0.001", "jxl"),
    ("IMAGE/WEBP ; Q=1.0", "webp"),
    ("image/avif;q=2,image/webp", "webp"),
    ("image/avif;q=nan,image/webp;q=0.1", "webp"),
    ("image/avif;q=-1", nil),
    ("image/*,*/*;q=0.8", nil),
    ("image/jpeg", nil),
    ("text/html,application/avif", nil),
    ("", nil),
    (";;;,,,q=1", nil),
  ])
  func theFormatIsTheSmallestOfThosePreferred(accept: String, format: String?) {
    let answer = choose(small, ["Accept": accept])
    #expect(answer.format?.name == format)
    #expect(answer.vary == ["Accept"])
  }

  @Test
  func aFormatThatTakesTooLongIsNotChosen() {
    let all: HTTPFields = ["Accept": "image/avif,image/jxl,image/webp"]
    func format(_ width: Int, _ height: Int, ratio: Double? = nil) -> ImageFormat? {
      var request = ThumbnailRequest(small.source, options: .box(width, height))
      request.options.pixelRatio = ratio
      return choose(request, all).format
    }
    #expect(format(500, 500) == .avif)
    #expect(format(500, 501) == .jxl)
    #expect(format(250, 250, ratio: 2) == .avif)
    #expect(format(300, 300, ratio: 2) == .jxl)
    #expect(format(1000, 1000) == .webp)
    #expect(format(1000, 1001) == nil)
    // One side may be long, and both are where neither is given.
    #expect(format(408, 0) == .avif)
    #expect(format(409, 0) == .jxl)
    #expect(format(0, 0) == nil)
  }

  /// What a page shows becomes smaller by default: photographs of phones, and moving pictures.
  @Test(arguments: [
    ("a.jpg", 4000, 3000, "image/webp,*/*", "webp"), ("a.jpg", 3000, 2250, "image/avif,image/webp,*/*", "avif"),
    ("a.gif", 600, 0, "image/avif,image/webp,*/*", "webp"), ("a.gif", 8000, 4000, "image/webp", nil),
  ])
  func theDefaultTimeIsEnoughForPages(name: String, width: Int, height: Int, accept: String, format: String?) {
    let request = ThumbnailRequest(.url("http://example.com/\(name)"), options: .box(width, height))
    #expect(Negotiation.choose(request, headers: ["Accept": accept]).format?.name == format)
  }

  @Test
  func aFormatThatIsNamedNeedsNoHeader() {
    var request = small
    request.format = .png
    let answer = choose(request, ["Accept": "image/avif"])
    #expect(answer.format == .png)
    #expect(answer.vary.isEmpty)
  }

  @Test
  func aServerWithoutEncodersDoesNotLook() {
    let answer = choose(small, ["Accept": "image/avif"]) { $0.formats = [] }
    #expect(answer.format == nil)
    #expect(answer.vary.isEmpty)
    #expect(choose(small, ["Accept": "image/avif,image/webp"]) { $0.formats = [.webp] }.format == .webp)
  }

  @Test
  func hintsFillWhatTheURLLeavesOpen() {
    var open = small
    (open.options.width, open.options.height, open.format) = (0, 0, .jpeg)
    func all(_ configuration: inout Negotiation.Configuration) {
      (configuration.usesWidthHints, configuration.usesPixelRatioHints, configuration.usesSaveData) = (
        true, true, true,
      )
    }
    let names = ["Sec-CH-Width", "Width", "Sec-CH-DPR", "DPR", "Save-Data"]
    let answer = choose(open, ["Sec-CH-Width": "641", "Width": "100", "DPR": "1.4"], all)
    #expect(answer.options.canonical == "w:720/dpr:1")
    #expect(answer.vary == names)
    // Who sends none depends on that, too.
    #expect(choose(open, [:], all).options.canonical == "")
    #expect(choose(open, [:], all).vary == names)
    #expect(choose(open, ["DPR": "1.4"], all).options.canonical == "dpr:1.5")
    #expect(choose(open, ["DPR": "1.4", "Save-Data": "on"], all).options.canonical == "dpr:1/q:60")
    #expect(choose(open, ["Width": "99999"], all).options.canonical == "w:3840/dpr:1")
    for bad in ["", "-1", "0", "nan", "inf", "1e9", "0x10", "1,2", "９"] {
      #expect(choose(open, ["Width": bad, "DPR": bad], all).options.canonical == "", "\(bad)")
    }
    // Without the settings nothing is looked at.
    #expect(choose(open, ["Width": "640", "DPR": "2", "Save-Data": "on"]).options == open.options)
    #expect(choose(open, ["Width": "640"]).vary.isEmpty)
  }

  @Test
  func hintsKeepWithinTheLimitsOfURLs() throws {
    var boxed = small
    (boxed.options.width, boxed.options.height, boxed.format) = (400, 300, .jpeg)
    func ratio(_ ratio: String, side: Int = 8192, pixels: Int = .max, padding: Int = 0) throws -> Double? {
      try boxed.options.operations.apply("padding", ["0", "0", "0", "\(padding)"], at: .url)
      let answer = choose(boxed, ["DPR": ratio]) {
        ($0.usesPixelRatioHints, $0.maxSide, $0.maxPixels) = (true, side, pixels)
      }
      return answer.options.pixelRatio
    }
    #expect(try ratio("4") == 4)
    #expect(try ratio("4", side: 1599) == 3.5)
    #expect(try ratio("4", side: 500) == 1)
    #expect(try ratio("4", side: 1000, padding: 100) == 2)
    #expect(try ratio("4", pixels: 400 * 300 * 4) == 2)
  }

  @Test
  func hintsChangeNothingThatTheURLSays() {
    var full = small
    (full.options.pixelRatio, full.options.quality, full.format) = (2, 80, .jpeg)
    let headers: HTTPFields = ["Width": "640", "DPR": "3", "Save-Data": "on"]
    let answer = choose(full, headers) { configuration in
      (configuration.usesWidthHints, configuration.usesPixelRatioHints, configuration.usesSaveData) = (
        true, true, true,
      )
    }
    #expect(answer.options == full.options)
    #expect(answer.vary.isEmpty)
  }

  /// A shared cache that keys by `Vary` never gives one client's response to another for whom it would differ.
  @Test
  func clientsWithEqualVaryFieldsGetTheSame() {
    var numbers = SplitMix64(seed: 5)
    let values: [String: [String]] = [
      "Accept": ["image/avif", "image/webp,image/jxl;q=0.5", "*/*"], "Sec-CH-Width": ["100", "640", "x"],
      "Width": ["100", "1280"], "Sec-CH-DPR": ["1", "2"], "DPR": ["1.5", "3"], "Save-Data": ["on", "off"],
      "User-Agent": ["a", "b"], "Cookie": ["a", "b"],
    ]
    var seen: [String: Negotiation] = [:]
    for _ in 0..<(Situations.areAllWanted ? 20_000 : 1000) {
      var request = small
      if Bool.random(using: &numbers) { request.options.width = 0 }
      if Bool.random(using: &numbers) { request.options.pixelRatio = 1 }
      if Bool.random(using: &numbers) { request.options.quality = 50 }
      if Bool.random(using: &numbers) { request.format = .webp }
      var headers = HTTPFields()
      for (name, choices) in values.sorted(by: { $0.key < $1.key }) where Bool.random(using: &numbers) {
        headers[name] = choices.randomElement(using: &numbers)
      }
      let flags = UInt8.random(in: 0..<8, using: &numbers)
      let answer = choose(request, headers) { configuration in
        configuration.usesWidthHints = flags & 1 != 0
        configuration.usesPixelRatioHints = flags & 2 != 0
        configuration.usesSaveData = flags & 4 != 0
      }
      let varied = answer.vary.map { "\($0)=\(headers[$0] ?? "nothing")" }.joined(separator: "\n")
      let key = "\(request.options.canonical)@\(request.format?.name ?? "")\n\(flags)\n\(varied)"
      #expect(seen[key] == nil || seen[key] == answer)
      seen[key] = answer
      // What differs has another name.
      #expect(answer.canonical.hasSuffix("@\(answer.format?.name ?? "still")"))
      #expect(answer.options == request.options || answer.canonical != "\(request.options.canonical)@still")
    }
  }

  @Test
  func theFingerprintHasAllThatIsLookedAt() {
    var configuration = Negotiation.Configuration()
    let headers: HTTPFields = ["Accept": "image/webp", "Width": "1", "Cookie": "x"]
    #expect(Negotiation.fingerprint(configuration) { headers[$0] } == "image/webp")
    configuration.usesWidthHints = true
    #expect(Negotiation.fingerprint(configuration) { headers[$0] } == "image/webp\n\n1")
  }

  @Test
  func theEncodingHasTheQualityOfItsFormat() {
    var options = ThumbnailOptions()
    options.metadata = .none
    #expect(options.encoding(as: .webp) == ImageEncoding(.webp))
    options.formatQualities = ["webp": 40, "jpeg": 50]
    #expect(options.encoding(as: .webp) == ImageEncoding(.webp, quality: 40))
    #expect(options.encoding(as: nil) == .automatic(qualities: [.webp: 40, .jpeg: 50]))
    options.quality = 70
    #expect(options.encoding(as: nil) == .automatic(quality: 70))
    #expect(options.encoding(as: .webp) == ImageEncoding(.webp, quality: 70))
    options.metadata = .all
    #expect(options.encoding(as: .png).metadata == .keep)
  }
}

extension ThumbnailOptions {
  /// Options with a box.
  static func box(_ width: Int, _ height: Int) -> ThumbnailOptions {
    var options = ThumbnailOptions()
    (options.width, options.height) = (width, height)
    return options
  }
}
