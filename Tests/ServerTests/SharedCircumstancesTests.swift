import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting
import VitrineTiers

@testable import VitrineServing
@testable import VitrineServingRequests

/// Everything that may differ between two requests for one picture, in each order of two, wherever the second one finds
/// the picture: each answer has the fields of its own request.
@Suite(.patient)
struct SharedCircumstancesTests {
  /// A request for the picture, 64 pixels wide, as WebP of quality 60.
  enum Circumstance: CaseIterable {
    case named, ending, attached, attachedElsewhere, negotiated, width, ratio, saving, all, known, head

    func target(_ end: Int) -> String {
      let options =
        switch self {
        case .ending: "w:64/dpr:1/q:60/exp:\(end)"
        case .attached: "w:64/dpr:1/q:60/att:1"
        case .attachedElsewhere: "w:64/dpr:1/q:60/att:1/fn:elsewhere"
        case .width: "dpr:1/q:60"
        case .ratio: "w:64/q:60"
        case .saving: "w:64/dpr:1"
        case .all: "el:0"
        case .named, .negotiated, .known, .head: "w:64/dpr:1/q:60"
        }
      return TestServer.target(options, of: TestServer.source, self == .negotiated || self == .all ? "" : "@webp")
    }

    var fields: HTTPFields {
      switch self {
      case .negotiated: ["Accept": "image/webp"]
      case .width: ["Width": "64"]
      case .ratio: ["DPR": "1"]
      case .saving: ["Save-Data": "on"]
      case .all: ["Accept": "image/webp", "Width": "64", "DPR": "1", "Save-Data": "on"]
      case .known: ["If-None-Match": "*"]
      default: [:]
      }
    }

    var method: HTTPMethod { self == .head ? .head : .get }

    /// The fields on which its answer depends.
    var vary: Set<String> {
      switch self {
      case .negotiated: ["Accept"]
      case .width: ["Sec-CH-Width", "Width"]
      case .ratio: ["Sec-CH-DPR", "DPR", "Save-Data"]
      case .saving: ["Save-Data"]
      case .all: ["Accept", "Sec-CH-Width", "Width", "Sec-CH-DPR", "DPR", "Save-Data"]
      default: []
      }
    }

    var fileName: String? {
      switch self {
      case .attached: "cat.webp"
      case .attachedElsewhere: "elsewhere.webp"
      default: nil
      }
    }
  }

  /// Where the second request finds the picture.
  enum Place: CaseIterable {
    case joined, memory, disk, fleet
  }

  private let clock = ManualClock()
  private let remote = FakeRemoteCache()
  private var end: Int { Int(clock.now.timeIntervalSince1970) + 100 }

  private func start(
    _ loader: FakeLoader = FakeLoader(),
    folder: String? = nil,
    isShared: Bool = false,
  ) throws
    -> TestServer
  {
    try TestServer(loader) {
      ($0.clock, $0.cacheFolder) = (clock, folder)
      ($0.negotiation.usesWidthHints, $0.negotiation.usesPixelRatioHints) = (true, true)
      ($0.negotiation.usesSaveData, $0.negotiation.widthStep, $0.negotiation.savingQuality) = (true, 64, 60)
      guard isShared else { return }
      var limits = TieredDataCache.RemoteLimits()
      (limits.headDeadline, limits.bodyDeadline) = (.seconds(60), .seconds(60))
      (limits.headPatience, limits.bodyPatience) = (.seconds(60) ... .seconds(60), .seconds(60) ... .seconds(60))
      $0.sharedTiers = [.remote(remote, name: "shared", limits: limits)]
    }
  }

  private typealias Received = (response: HTTPResponse, body: Data)

  private func ask(_ server: TestServer, _ one: Circumstance, _ end: Int) async throws -> Received {
    try await server.get(one.target(end), one.fields, method: one.method)
  }

  private func check(_ answer: Received, _ one: Circumstance, _ picture: Data, _ comment: Comment) {
    let headers = answer.response.headers
    #expect(answer.response.status == (one == .known ? 304 : 200), comment)
    let vary = headers["Vary"].map { Set($0.split(separator: ",").map { $0.trimmingSpaces }.map(String.init)) } ?? []
    #expect(vary == one.vary, comment)
    let control = headers["Cache-Control"] ?? ""
    #expect(control == "public, max-age=\(one == .ending ? "100" : "3600, stale-if-error=86400")", comment)
    if let name = one.fileName {
      #expect(headers["Content-Disposition"]?.contains(name) == true, comment)
    } else {
      #expect(headers["Content-Disposition"] == nil, comment)
    }
    if one == .known || one == .head {
      #expect(answer.body.isEmpty, comment)
    } else {
      #expect(answer.body == picture && headers["Content-Type"] == "image/webp", comment)
    }
  }

  private static let source: HTTPFields = ["Cache-Control": "max-age=3600", "ETag": "\"1\""]

  /// The picture that all of them ask for.
  private func picture() async throws -> Data {
    let loader = FakeLoader()
    loader.answer(TestServer.source, with: TestServer.photograph, headers: Self.source)
    let server = try start(loader)
    let picture = try await ask(server, .named, end).body
    await server.server.stop()
    #expect(!picture.isEmpty)
    return picture
  }

  @Test(arguments: Circumstance.allCases)
  func whoJoinsHasTheFieldsOfItsOwnRequest(first: Circumstance) async throws {
    let (server, picture, end) = (try start(), try await picture(), end)
    for second in Circumstance.allCases {
      let joined = server.metrics.counts.joined
      async let one = ask(server, first, end)
      let load = try await server.loader.nextLoad(of: TestServer.source)
      async let other = ask(server, second, end)
      try await until { server.metrics.counts.joined > joined }
      load.respond(headers: Self.source)
      load.send(TestServer.photograph)
      load.finish()
      check(try await one, first, picture, "\(first) with \(second)")
      check(try await other, second, picture, "\(second) joins \(first)")
      await server.server.service.purge(ImageRequest(url: TestServer.source))
    }
    await server.server.stop()
  }

  @Test(arguments: Circumstance.allCases, [Place.memory, .disk, .fleet])
  func whoComesLaterHasTheFieldsOfItsOwnRequest(first: Circumstance, place: Place) async throws {
    let (folder, picture, end) = (try TemporaryFolder(), try await picture(), end)
    let loader = FakeLoader()
    loader.answer(TestServer.source, with: TestServer.photograph, headers: Self.source)
    func server(_ loader: FakeLoader) throws -> TestServer {
      try start(loader, folder: place != .fleet ? folder.path + "/cache" : nil, isShared: place == .fleet)
    }
    var current = try server(loader)
    check(try await ask(current, first, end), first, picture, "\(first)")
    await current.server.pipeline.cache.flush()
    for second in Circumstance.allCases {
      if place != .memory {
        await current.server.stop()
        // One that has nothing in memory, and reaches no source.
        current = try server(FakeLoader())
      }
      let answer = try await ask(current, second, end)
      check(answer, second, picture, "\(second) from \(place) after \(first)")
      // What others have stored counts as stored, and so does what was made for another URL.
      let tier = answer.response.headers["Server-Timing"] ?? ""
      #expect(tier.hasPrefix("disk") || place == .memory && tier.hasPrefix("memory"), "\(second): \(tier)")
    }
    #expect(loader.counts.loads == 1)
    // Past the end of one URL, that one alone is refused.
    clock.advance(by: .seconds(200))
    for second in Circumstance.allCases {
      let status = try await ask(current, second, end).response.status
      #expect(second == .ending ? status == 404 : status == 200 || status == 304, "\(second) later: \(status)")
    }
    await current.server.stop()
  }
}
