import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTesting

@testable import Vitrine

/// The plan's table: for every situation of ``ExactCountTests`` the row that it falls under says what is done.
struct PlanTests {
  /// A row; what is not named is any.
  private struct Row {
    var memory: Set<Situation.Memory> = Set(Situation.Memory.allCases)
    var disk: Set<Situation.Disk> = Set(Situation.Disk.allCases)
    var asked: Set<Situation.Asked> = Set(Situation.Asked.allCases)
    /// The kind of the policy, by its name.
    var policy: Set<String> = ["standard", "reload", "cacheFirst", "cacheOnly", "maxAge"]
    /// Whether memory, and the disk, may be read.
    var memoryReads: Bool?
    var diskReads: Bool?
    /// Whether images may be on disk as they are shown.
    var storesFinished: Bool?
    let plan: String

    func covers(_ one: Situation) -> Bool {
      memory.contains(one.memory) && disk.contains(one.disk) && asked.contains(one.asked)
        && policy.contains(one.policyName) && memoryReads ?? one.readsMemory == one.readsMemory
        && diskReads ?? one.readsDisk == one.readsDisk && storesFinished ?? one.storesFinished == one.storesFinished
    }
  }

  private static let anyAge: Set<String> = ["cacheFirst", "cacheOnly"]
  private static let timed: Set<String> = ["standard", "maxAge"]

  /// The first row that covers a situation counts.
  private static let images: [Row] = [
    // In memory, exactly.
    Row(memory: [.final, .stale], policy: ["reload"], memoryReads: true, plan: "memory 2: revalidate"),
    Row(memory: [.final], memoryReads: true, plan: "memory 2: serve"),
    Row(memory: [.stale], policy: anyAge, memoryReads: true, plan: "memory 2: serve"),
    Row(memory: [.stale], policy: timed, memoryReads: true, plan: "memory 2: revalidate"),
    // In memory, larger: resampling spares a look on disk where nothing is processed.
    Row(memory: [.larger], asked: [.resized], policy: timed.union(anyAge), memoryReads: true, plan: "larger 0"),
    // On disk as it is shown: better than what would have to be processed.
    Row(
      disk: [.finished],
      policy: timed.union(anyAge),
      diskReads: true,
      storesFinished: true,
      plan: "finished 2: serve",
    ),
    // In memory, after one of two processors.
    Row(memory: [.prefix], policy: ["reload"], memoryReads: true, plan: "memory 1: revalidate"),
    Row(memory: [.prefix], memoryReads: true, plan: "memory 1: serve"),
    // In memory, larger, to be processed.
    Row(memory: [.larger], policy: timed.union(anyAge), memoryReads: true, plan: "larger 0"),
    // Nowhere but in its bytes.
    Row(plan: "bytes 0"),
  ]

  private static let bytes: [Row] = [
    Row(policy: ["cacheOnly"], diskReads: false, plan: "fail: notCached"),
    Row(diskReads: false, plan: "ask"),
    Row(policy: ["reload"], plan: "ask"),
    Row(disk: [.nothing, .finished], policy: ["cacheOnly"], plan: "fail: notCached"),
    Row(disk: [.nothing, .finished], plan: "ask"),
    // That they are no image is found out when they are decoded.
    Row(disk: [.fresh, .orphaned, .garbage], plan: "serve"),
    Row(disk: [.stale], policy: anyAge, plan: "serve stale"),
    Row(disk: [.stale], plan: "ask whether it has changed"),
  ]

  @Test
  func theFirstRowThatCoversASituationSaysWhatIsDone() throws {
    var used: [Set<Int>] = [[], []]
    for caches in (UInt8(0)..<16).map({ CacheAccess(rawValue: $0) }) {
      for situation in Situation.all(caches) {
        let planned = try Plans(situation)
        for (table, (rows, plan)) in [(Self.images, planned.image), (Self.bytes, planned.bytes)].enumerated() {
          let row = try #require(rows.firstIndex { $0.covers(situation) }, "\(situation)")
          used[table].insert(row)
          let expected = rows[row].plan.replacing("2", with: "\(situation.steps)")
          try #require(plan == expected, "\(situation)")
        }
      }
    }
    #expect(used.map(\.count) == [Self.images.count, Self.bytes.count], "a row that nothing falls under")
  }

  @Test
  func atTheMomentAtWhichItsTimeEndsAnImageIsStale() throws {
    for (age, expected) in [(59.0, "finished 0: serve"), (60, "finished 0: serve stale")] {
      var request = ImageRequest(url: Plans.url, size: .pixels(8, 8))
      request.cachePolicy = .cacheFirst
      var findings = CacheLookup()
      findings.finished = [
        CacheLookup.Finished(
          key: request.keys.image,
          step: 0,
          contentID: ContentID(low: 1, high: 1),
          validity: Validity(of: try Plans.stored(age), by: Freshness(), at: Plans.now),
        )
      ]
      #expect(LoadPlan(request, upTo: 0, findings, fields: [:], now: Plans.now).words == expected)
    }
  }

  @Test
  func anImageThatNobodyCouldConfirmIsOfNoUseToWhoWantsItAnew() {
    var request = ImageRequest(url: Plans.url)
    var findings = CacheLookup()
    let put = CachedImage(ImageContainer(.solid(SIMD4(1, 2, 3, 255), width: 8, height: 6))).loaded
    findings.known = CacheLookup.InMemory(image: put, step: 0)
    #expect(LoadPlan(request, upTo: 0, findings, fields: [:], now: Plans.now).words == "memory 0: serve")
    request.cachePolicy = .reload
    #expect(LoadPlan(request, upTo: 0, findings, fields: [:], now: Plans.now).words == "bytes 0")
  }

  // MARK: What stands in a server's way

  private struct Case {
    var age = 10.0
    var policy = CachePolicy.standard
    var control = "max-age=60"
    var change: (inout CacheLookup) -> Void = { _ in }
    let plan: String
  }

  @Test
  func whatStandsInAServersWay() throws {
    let refused = LoadError(.badStatus, .fetch, "a", "failed 1 s ago", status: 503)
    let gone = LoadError(.badStatus, .fetch, "a", "failed 1 s ago", status: 404)
    let cases: [Case] = [
      Case(change: { $0.access = .offline("train") }, plan: "serve"),
      Case(age: 100, change: { $0.access = .offline("train") }, plan: "stand in for offline"),
      Case(
        age: 100,
        control: "max-age=60, must-revalidate",
        change: { $0.access = .offline("train") },
        plan: "fail: offline",
      ),
      Case(age: 100, change: { $0.failure = refused }, plan: "fail: badStatus"),
      Case(
        age: 100,
        control: "max-age=60, stale-if-error=60",
        change: { $0.failure = refused },
        plan: "stand in for badStatus",
      ),
      Case(age: 100, change: { $0.failure = gone }, plan: "fail: badStatus"),
      Case(
        age: 120,
        control: "max-age=60, stale-if-error=60",
        change: { $0.failure = refused },
        plan: "fail: badStatus",
      ),
      // What its server has said of it tells more than that nobody can be asked now.
      Case(
        age: 100,
        change: { ($0.failure, $0.access) = (gone, .offline("train")) },
        plan: "fail: badStatus",
      ),
      Case(age: 100, policy: .reload, change: { $0.failure = refused }, plan: "ask"),
      Case(age: 100, change: { $0.objection = "private" }, plan: "fail: forbidden"),
      Case(age: 100, control: "max-age=60, stale-while-revalidate=60", plan: "serve and revalidate"),
      Case(age: 10, control: "no-cache", plan: "ask whether it has changed"),
      Case(age: 40, policy: .maxAge(.seconds(30)), plan: "ask whether it has changed"),
      Case(age: 40, policy: .maxAge(.seconds(30)), control: "max-age=60, immutable", plan: "serve stale"),
    ]
    for one in cases {
      var findings = CacheLookup()
      findings.original = CacheLookup.Original(
        contentID: ContentID(low: 1, high: 1),
        stored: try Plans.stored(one.age, one.control),
      )
      one.change(&findings)
      var request = ImageRequest(url: Plans.url)
      request.cachePolicy = one.policy
      let plan = BytesPlan(request, "a", findings, fields: [:], by: Freshness(), now: Plans.now)
      #expect(plan.words == one.plan, "\(one.age) s, \(one.control), \(one.policy)")
    }
  }

  @Test
  func aRequestThatAvoidsExpensiveNetworksIsRefusedOnOne() {
    var findings = CacheLookup()
    findings.access = .expensive("roaming")
    var request = ImageRequest(url: Plans.url)
    #expect(BytesPlan(request, "a", findings, fields: [:], by: Freshness(), now: Plans.now).words == "ask")
    request.allowsExpensiveNetworkAccess = false
    #expect(BytesPlan(request, "a", findings, fields: [:], by: Freshness(), now: Plans.now).words == "fail: offline")
  }
}

extension Situation {
  fileprivate var policyName: String {
    switch policy {
    case .standard: "standard"
    case .reload: "reload"
    case .cacheFirst: "cacheFirst"
    case .cacheOnly: "cacheOnly"
    case .maxAge: "maxAge"
    }
  }

  fileprivate var readsMemory: Bool { caches.contains(.memoryReads) }
  fileprivate var readsDisk: Bool { caches.contains(.diskReads) }
  fileprivate var storesFinished: Bool { storage != .original && isChanged }
}

/// Both plans of a situation, in words; made of findings alone, without a pipeline.
private struct Plans {
  static let url = "https://example.org/0"
  static let now = Date(timeIntervalSince1970: 1_000_000)
  let image: String
  let bytes: String

  static func stored(_ age: Double, _ control: String = "max-age=60") throws -> StoredResponse {
    let received = now.addingTimeInterval(-age)
    let head = HTTPResponse(status: 200, headers: ["ETag": "\"1\"", "Cache-Control": control], url: try HTTPURL(url))
    return StoredResponse(head, requested: received, received: received)
  }

  init(_ situation: Situation) throws {
    var request = ImageRequest(
      url: Self.url,
      size: situation.asked == .plain ? nil : .pixels(8, 8),
      processors: situation.asked == .processed ? [1, 2].map { Pictures.mark($0) { _ in } } : [],
    )
    (request.cachePolicy, request.cacheAccess) = (situation.policy, situation.caches)
    let (one, two) = (ContentID(low: 1, high: 1), ContentID(low: 2, high: 2))
    func image(_ bitmap: Bitmap, age: Double, _ parameters: DecodeParameters? = nil) throws -> LoadedImage {
      let info = ImageInfo(format: .png, storedWidth: 16, storedHeight: 12)
      let validity = Validity(of: try Self.stored(age), by: Freshness(), at: Self.now)
      return LoadedImage(ImageContainer(bitmap, info: info), one, validity, status: 200, byteCount: 9, parameters)
    }
    let small = Bitmap.solid(SIMD4(1, 2, 3, 255), width: 8, height: 6)
    var findings = CacheLookup()
    if situation.readsMemory {
      switch situation.memory {
      case .nothing: break
      case .final: findings.known = CacheLookup.InMemory(image: try image(small, age: 10), step: situation.steps)
      case .stale: findings.known = CacheLookup.InMemory(image: try image(small, age: 100), step: situation.steps)
      case .prefix: findings.known = CacheLookup.InMemory(image: try image(small, age: 10), step: 1)
      case .larger:
        let whole = Bitmap.solid(SIMD4(1, 2, 3, 255), width: 16, height: 12)
        let parameters = DecodeParameters(frame: 0, quality: .balanced, isWhole: true)
        if situation.policy != .reload {
          findings.larger = LargerVariant(
            try image(whole, age: 10, parameters),
            for: DecodeOptions(size: .pixels(8, 8)),
          )
        }
      }
    }
    if situation.readsDisk, situation.policy != .reload {
      let old = CacheLookup.Original(contentID: one, stored: try Self.stored(situation.disk == .stale ? 100 : 10))
      switch situation.disk {
      case .nothing, .finished: break
      case .fresh, .stale, .garbage: findings.original = old
      case .orphaned: findings.original = CacheLookup.Original(contentID: two, stored: old.stored)
      }
      if situation.storesFinished, situation.disk == .finished || situation.disk == .orphaned {
        findings.finished = [
          CacheLookup.Finished(
            key: request.keys.image,
            step: situation.steps,
            contentID: one,
            validity: Validity(of: try Self.stored(10), by: Freshness(), at: Self.now),
          )
        ]
      }
    }
    let plan = LoadPlan(request, upTo: situation.steps, findings, fields: [:], now: Self.now)
    self.image = plan.words
    bytes = BytesPlan(request, "a", findings, fields: [:], by: Freshness(), now: Self.now).words
    let isOrphaned = !findings.finished.isEmpty && situation.disk == .orphaned
    try #require(plan.orphans.isEmpty != isOrphaned, "\(situation)")
  }
}

extension LoadPlan {
  fileprivate var words: String {
    switch base {
    case .memory(_, let use): "memory \(step): \(use.words)"
    case .finished(_, let use): "finished \(step): \(use.words)"
    case .larger: "larger \(step)"
    case .bytes: "bytes \(step)"
    }
  }
}

extension LoadPlan.Use {
  fileprivate var words: String {
    switch self {
    case .serve(let isStale): isStale ? "serve stale" : "serve"
    case .serveAndRevalidate: "serve and revalidate"
    case .revalidate: "revalidate"
    }
  }
}

extension BytesPlan {
  fileprivate var words: String {
    switch step {
    case .serve(let isStale): isStale ? "serve stale" : "serve"
    case .serveAndRevalidate: "serve and revalidate"
    case .send(let conditions, _): conditions["If-None-Match"] == nil ? "ask" : "ask whether it has changed"
    case .serveStaleOnError(let error): "stand in for \(error.code)"
    case .fail(let error): "fail: \(error.code)"
    }
  }
}
