import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// For everything that can be where, how often each layer is used.
// One after the other: they keep a thread busy each, and other suites wait for a core.
@Suite(.serialized, .patient)
struct ExactCountTests {
  private static let url = "https://example.org/0"
  private static let lifetime = 60.0
  /// All situations are played where `VITRINE_ALL_SITUATIONS` is set, and otherwise a part of them, the same each time.
  static let playsAll = ProcessInfo.processInfo.environment["VITRINE_ALL_SITUATIONS"] != nil

  private static func situations(_ memory: Situation.Memory, _ caches: CacheAccess, oneIn many: Int) -> [Situation] {
    let number = Situation.Memory.allCases.firstIndex(of: memory) ?? 0
    var random = SplitMix64(seed: UInt64(caches.rawValue) * 8 + UInt64(number) + 1)
    return Situation.all(caches).filter { $0.memory == memory && (playsAll || random.chance(1, in: many)) }
  }

  @Test(arguments: Situation.Memory.allCases, (UInt8(0)..<16).map { CacheAccess(rawValue: $0) })
  func eachLayerIsUsedAsOftenAsItMustBeAndNoMore(memory: Situation.Memory, caches: CacheAccess) async throws {
    // Of its own, since what is stepped must not run within a task of Swift's.
    let queue = WorkQueue(label: "counts", width: 1)
    let wrong = try await queue.run { _ in
      var wrong: [String] = []
      for situation in Self.situations(memory, caches, oneIn: 4) {
        let (expected, counted) = (Expectation(situation).counts, try Self.play(situation))
        if expected != counted { wrong.append("\(situation)\n  expected \(expected)\n  counted  \(counted)") }
      }
      return wrong
    }
    #expect(wrong.isEmpty, "\(wrong.count):\n\(wrong.prefix(20).joined(separator: "\n"))")
  }

  @Test(arguments: Situation.Memory.allCases)
  func whatExplainSaysIsWhatThenHappens(memory: Situation.Memory) async throws {
    let queue = WorkQueue(label: "explained", width: 1)
    let wrong = try await queue.run { _ in
      var wrong: [String] = []
      for caches in (UInt8(0)..<16).map({ CacheAccess(rawValue: $0) }) {
        // Each is one of thousands; which of them is left to chance.
        for situation in Self.situations(memory, caches, oneIn: 8) {
          var said: Explanation?
          let counted = try Self.play(situation) { said = $0 }
          guard let said else { throw BrokenSituation(what: "\(situation): not explained") }
          if let difference = said.difference(from: counted, situation) {
            wrong.append("\(situation): \(difference)\n\(said)\n  \(counted)")
          }
        }
      }
      return wrong
    }
    #expect(wrong.isEmpty, "\(wrong.count):\n\(wrong.prefix(10).joined(separator: "\n"))")
  }

  @Test
  func thereAreThousandsOfSituations() {
    #expect(Situation.all(.all).count == 6600)
    #expect(Situation.all(.none).count == 1980)
  }

  // MARK: One situation

  private struct BrokenSituation: Error {
    var what: String
  }

  private static func play(
    _ situation: Situation,
    explained: (Explanation) -> Void = { _ in },
  ) throws -> Counts {
    let (executor, loader, disk, clock) = (StepExecutor(), StepLoader(), StepDisk(), ManualClock())
    let counted = Box(Counts())
    let memory = MemoryCache<CachedImage>(costLimit: 1 << 20, clock: clock)
    let pipeline = ImagePipeline(.ephemeral) {
      $0.memoryCache = memory
      $0.memoryPressure = nil
      $0.diskCache = disk
      $0.loader = loader
      $0.clock = clock
      // Every step is the test's, and what fails is asked for again when the test does.
      ($0.retryPolicy, $0.remembersFailures) = (.never, false)
      $0.storagePolicy = situation.storage
      $0.stepper = executor
      $0.decoders = DecoderRegistry([CountingDecoder { _ in counted.value.decodes += 1 }])
    }
    var request = request(situation.asked) { counted.value.processed += 1 }
    (request.cachePolicy, request.cacheAccess) = (situation.policy, situation.caches)
    try fill(memory, situation.memory, request, clock)
    try fill(disk, situation.disk, image(request, steps: situation.steps, age: 10, clock), request, clock)
    let explanation = Box<Explanation?>(nil)
    Task(executorPreference: executor) { [request] in explanation.value = await pipeline.explain(request) }
    while executor.count > 0 { executor.run(0) }
    explanation.value.map(explained)
    let untouched = counted.value == Counts() && loader.count == 0 && disk.count(.read) == 0
    guard untouched, disk.count(.write) + disk.count(.renew) + disk.count(.remove) == 0 else {
      throw BrokenSituation(what: "\(situation): to explain it has changed something")
    }
    disk.forgetCounts()
    let before = memory.statistics

    let end = Box<Result<ImageResponse, LoadError>?>(nil)
    let task = pipeline.imageTask(for: request, isWatching: false) { event in
      if case .finished(let result) = event { end.value = result }
    }
    drain(pipeline, executor, loader) { load in
      switch situation.network {
      case .cancelled: task.cancel()
      case .unreachable: load.end(.cannotConnect)
      case .notFound: load.respond(404)
      case .confirms: load.respond(304, headers(version: 1))
      case .answers:
        load.respond(200, headers(version: 2))
        load.send(Pictures.file(0, 2))
      }
      if !load.isEnded { load.end(load.isCancelled ? .cancelled : nil) }
    }

    let after = memory.statistics
    counted.value.memoryReads = after.hits + after.misses - before.hits - before.misses
    counted.value.memoryWrites = after.insertions - before.insertions
    counted.value.diskLookUps = disk.count(.lookUp)
    counted.value.diskReads = disk.count(.read)
    counted.value.diskWrites = disk.count(.write)
    counted.value.renewals = disk.count(.renew)
    counted.value.removals = disk.count(.remove)
    counted.value.requests = loader.count
    guard let result = end.value, pipeline.loadCount == 0 else {
      let left = pipeline.loadCount
      throw BrokenSituation(what: "\(situation): \(left) loads are left, \(String(describing: end.value))")
    }
    switch result {
    case .success(let response):
      let name = Pictures.name(of: response.image)
      guard let name, name.steps == (situation.steps == 0 ? 0 : 6),
        (response.image.width, response.image.height) == (situation.isChanged ? (8, 6) : (16, 12))
      else { throw BrokenSituation(what: "\(situation): got \(String(describing: name))") }
      counted.value.end = .image(version: name.version, response.origin, isStale: response.isStale)
    case .failure(let error): counted.value.end = .error(error.code)
    }
    return counted.value
  }

  /// Lets everything that is due happen, in order, until nothing is.
  private static func drain(
    _ pipeline: ImagePipeline,
    _ executor: StepExecutor,
    _ loader: StepLoader,
    answer: (StepLoad) -> Void,
  ) {
    while true {
      if executor.count > 0 {
        executor.run(0)
      } else if let load = loader.running.first {
        loader.forget(load)
        answer(load)
      } else if !pipeline.context.decodeQueue.runNext(), !pipeline.context.processQueue.runNext() {
        return
      }
    }
  }

  // MARK: What is where

  private static func request(_ asked: Situation.Asked, _ run: @escaping @Sendable () -> Void = {}) -> ImageRequest {
    ImageRequest(
      url: url,
      size: asked == .plain ? nil : .pixels(8, 8),
      processors: asked == .processed ? [1, 2].map { Pictures.mark($0) { _ in run() } } : [],
    )
  }

  private static func headers(version: Int) -> HTTPFields {
    ["ETag": "\"\(version)\"", "Cache-Control": "max-age=\(Int(lifetime))"]
  }

  private static func validity(age: Double, _ clock: ManualClock) -> Validity {
    let received = clock.now.addingTimeInterval(-age)
    return Validity(
      expires: received.addingTimeInterval(lifetime),
      confirmed: received,
      usableOnErrorUntil: received.addingTimeInterval(lifetime + 86_400),
      isKept: true,
    )
  }

  /// Version 1 as the request has it after its first processors.
  private static func image(
    _ request: ImageRequest,
    steps: Int,
    age: Double,
    _ clock: ManualClock,
  ) throws -> LoadedImage {
    let file = Pictures.file(0, 1)
    let info = try DecoderRegistry([PNGDecoder()]).info(of: file)
    let bytes = FetchedBytes(
      .data(file),
      contentID: ContentID(of: file),
      validity: validity(age: age, clock),
      origin: .network,
      status: 200,
    )
    let name = Pictures.Name(address: 0, version: 1, steps: [0, 1, 6][steps])
    let (width, height) = request.size == nil ? Pictures.size : (8, 6)
    let parameters = steps == 0 ? DecodeParameters(of: info, DecodeOptions(size: request.size)) : nil
    let container = ImageContainer(Pictures.bitmap(name, width: width, height: height), info: info)
    return LoadedImage(container, of: bytes, parameters)
  }

  private static func fill(
    _ memory: MemoryCache<CachedImage>,
    _ state: Situation.Memory,
    _ request: ImageRequest,
    _ clock: ManualClock,
  ) throws {
    let steps = request.processors.count
    func set(_ image: LoadedImage, _ key: CacheKey) {
      memory.store(CachedImage(image), for: key, cost: image.cost, group: request.keys.fetch)
    }
    switch state {
    case .nothing: break
    case .final: set(try image(request, steps: steps, age: 10, clock), request.keys.image)
    case .stale: set(try image(request, steps: steps, age: 100, clock), request.keys.image)
    case .prefix: set(try image(request, steps: 1, age: 10, clock), request.keys.key(step: 1))
    case .larger:
      let whole = self.request(.plain)
      set(try image(whole, steps: 0, age: 10, clock), whole.keys.image)
    }
  }

  private static func fill(
    _ disk: StepDisk,
    _ state: Situation.Disk,
    _ finished: LoadedImage,
    _ request: ImageRequest,
    _ clock: ManualClock,
  ) throws {
    let address = try HTTPURL(url)
    func original(_ data: Data, version: Int, age: Double) -> CachedData {
      let received = clock.now.addingTimeInterval(-age)
      let head = HTTPResponse(status: 200, headers: headers(version: version), url: address)
      return CachedData(
        data: data,
        metadata: StoredResponse(head, requested: received, received: received).encoded,
        contentID: ContentID(of: data),
        expires: received.addingTimeInterval(lifetime),
        stored: received,
      )
    }
    let key = request.keys.fetch
    switch state {
    case .nothing: break
    case .fresh: disk.entries[key] = original(Pictures.file(0, 1), version: 1, age: 10)
    case .stale: disk.entries[key] = original(Pictures.file(0, 1), version: 1, age: 100)
    case .garbage: disk.entries[key] = original(Pictures.garbage, version: 1, age: 10)
    case .finished, .orphaned:
      disk.entries[request.keys.image] = FinishedImage.entry(of: finished, stored: clock.now)
      if state == .orphaned { disk.entries[key] = original(Pictures.file(0, 2), version: 2, age: 10) }
    }
  }
}

extension Explanation {
  /// What it said otherwise than it then was; `nil` for nothing.
  fileprivate func difference(from counts: Counts, _ situation: Situation) -> String? {
    // That bytes on disk are no image is not known before they are decoded.
    if situation.disk == .garbage, original != .notAsked, decodes == true { return nil }
    let requests = transfer == .none || transfer == .behind ? 0 : 1
    if requests != counts.requests { return "\(requests) requests" }
    switch counts.end {
    case .error(let code):
      // What the server says is not known before.
      if failure == nil, requests == 0 { return "no error, and there was \(code)" }
      return nil
    case .image(_, let origin, let isStale):
      if let failure { return "the error \(failure), and there was an image" }
      if requests == 0, self.origin ?? origin != origin { return "from \(self.origin as Any)" }
      if requests == 0, self.isStale != isStale { return "\(isStale ? "not " : "")stale" }
      if let decodes, decodes != (counts.decodes == 1), requests == 0 || decodes { return "decodes: \(decodes)" }
      if decodes != nil, processorCount != counts.processed { return "\(processorCount) processors" }
      return nil
    }
  }
}
