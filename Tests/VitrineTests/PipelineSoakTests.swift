import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// A pipeline used in every way by sixteen threads at once, for VITRINE_SOAK_SECONDS; without, for so many operations
/// as take about a second.
@Suite(.patient)
struct PipelineSoakTests {
  private static let seconds = ProcessInfo.processInfo.environment["VITRINE_SOAK_SECONDS"].flatMap { Double($0) } ?? 0
  private static let operations = 400
  private static let threads = 16
  private static let addresses = 6
  /// The address that is never answered.
  private static let silent = 5

  /// What all threads use.
  private final class Ground: Sendable {
    let loader = FakeLoader()
    let disk = CountingDataCache()
    let memory = MemoryCache<CachedImage>(costLimit: 20_000)
    let pipeline: ImagePipeline
    let scopes: [LoadScope]
    let prefetchers: [ImagePrefetcher]
    let version = Lock(1)
    let wrong = Lock<[String]>([])
    /// Tasks of Swift's that have not ended.
    let awaiting = Watched(0)
    let ends = Watched((begun: 0, told: 0))

    init() {
      let pipeline = ImagePipeline(.ephemeral) { [loader, disk, memory] in
        $0.memoryCache = memory
        $0.memoryPressure = nil
        $0.diskCache = disk
        $0.loader = loader
        $0.decoders = DecoderRegistry([PNGDecoder()])
        $0.storagePolicy = .both
      }
      self.pipeline = pipeline
      scopes = (0..<2).map { _ in LoadScope(pipeline) }
      prefetchers = [.memory, .disk].map { ImagePrefetcher(pipeline, destination: $0, maxConcurrentLoads: 4) }
      for address in 0..<addresses where address != silent {
        loader.answer(Self.url(address)) { [version] request in
          let number = version.withLock { version in
            version = version % 200 + 1
            return version / 20 + 1
          }
          if number == 3, address == 4 { return FakeResponse(status: 503) }
          if number == 4, address == 4 { return FakeResponse(error: .connectionLost) }
          let control = ["max-age=1", "no-cache", "no-store", "max-age=0, stale-while-revalidate=9", "max-age=1"][
            address
          ]
          return FakeResponse(
            headers: ["ETag": "\"\(number)\"", "Cache-Control": control],
            body: number == 5 ? Pictures.garbage : Pictures.file(address, number),
          )
        }
      }
    }

    static func url(_ address: Int) -> String { "https://example.org/\(address)" }

    func request(_ random: inout SplitMix64) -> (ImageRequest, Wish) {
      let wish = Wish(
        address: random.below(20) == 0 ? silent : random.below(silent),
        size: random.below(3),
        processing: random.below(4),
        way: random.chance(2, in: 3) ? 0 : random.below(5),
      )
      var request = ImageRequest(
        url: Self.url(wish.address),
        size: Wish.sizes[wish.size],
        processors: wish.steps.map { number in
          Pictures.mark(number) { _ in if number == Wish.broken { throw World.BrokenProcessor() } }
        },
        priority: Priority.allCases[random.below(5)],
      )
      request.cachePolicy = wish.policy
      request.continuesDownload = wish.address != silent && random.chance(1, in: 10)
      return (request, wish)
    }

    func check(_ image: Bitmap, _ wish: Wish) {
      let name = Pictures.name(of: image)
      let steps = wish.steps.reduce(0) { $0 * 4 + $1 }
      let isRight =
        name?.address == wish.address && name?.steps == steps && (image.width, image.height) == Wish.shown[wish.size]
      if !isRight { wrong.withLock { $0.append("\(wish): \(String(describing: name)), \(image.width)") } }
    }

    /// Begins something that awaits, unless very much does already.
    func begin(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never>? {
      guard
        awaiting.change({
          $0 += 1; return $0 <= 200
        })
      else {
        awaiting.change { $0 -= 1 }
        return nil
      }
      return Task {
        await body()
        awaiting.change { $0 -= 1 }
      }
    }
  }

  /// What one thread has begun and not let go.
  private struct Hands {
    var tasks: [ImageTask] = []
    var awaited: [Task<Void, Never>] = []
    var random: SplitMix64
  }

  private static func step(_ ground: Ground, _ hands: inout Hands) {
    let (request, wish) = ground.request(&hands.random)
    let pipeline = ground.pipeline
    switch hands.random.below(100) {
    case 0..<30:
      let scope = hands.random.chance(1, in: 3) ? ground.scopes[hands.random.below(2)] : nil
      ground.ends.change { $0.begun += 1 }
      hands.tasks.append(
        pipeline.imageTask(for: request, isWatching: hands.random.chance(1, in: 4), in: scope) { event in
          guard case .finished(let result) = event else { return }
          ground.ends.change { $0.told += 1 }
          if case .success(let response) = result { ground.check(response.image, wish) }
        }
      )
    case 30..<45:
      let task = ground.begin {
        if let image = try? await pipeline.image(for: request) { ground.check(image, wish) }
      }
      if let task { hands.awaited.append(task) }
    case 45..<50:
      let task = ground.begin {
        guard let data = try? await pipeline.data(for: request), data != Pictures.garbage else { return }
        if Pictures.name(of: data)?.address != wish.address { ground.wrong.withLock { $0.append("\(wish): bytes") } }
      }
      if let task { hands.awaited.append(task) }
    case 50..<60: hands.tasks.randomElement(using: &hands.random)?.cancel()
    case 60..<64: hands.awaited.randomElement(using: &hands.random)?.cancel()
    case 64..<70:
      let priority = Priority.allCases[hands.random.below(5)]
      hands.tasks.randomElement(using: &hands.random)?.priority = priority
    case 70..<74:
      guard let task = hands.tasks.randomElement(using: &hands.random), wish.address != silent else { return }
      _ = ground.begin { for await event in task.events { if case .finished = event { return } } }
    case 74..<77: if let hit = pipeline.cachedImage(for: request) { ground.check(hit.image, wish) }
    case 77..<79:
      guard !wish.steps.contains(Wish.broken) else { return }
      let (width, height) = Wish.shown[wish.size]
      let steps = wish.steps.reduce(0) { $0 * 4 + $1 }
      let name = Pictures.Name(address: wish.address, version: Pictures.put, steps: steps)
      pipeline.cache[request] = Pictures.bitmap(name, width: width, height: height)
    case 79..<81: pipeline.cache[request] = nil
    case 81..<84: _ = ground.begin { await pipeline.cache.remove(request) }
    case 84: _ = ground.begin { await pipeline.cache.removeAll(in: wish.size == 0 ? .all : .memory) }
    case 85..<89: ground.prefetchers[wish.size % 2].start([request])
    case 89..<91: ground.prefetchers[wish.size % 2].stop([request])
    case 91: ground.prefetchers[wish.size % 2].isPaused = wish.way == 1
    case 92: ground.scopes[wish.size % 2].pause()
    case 93..<95: ground.scopes[wish.size % 2].resume()
    case 95: ground.scopes[wish.size % 2].priorityLimit = request.priority
    case 96: ground.scopes[wish.size % 2].cancelAll()
    default: pipeline.cancel(for: request)
    }
    if hands.tasks.count > 30 { hands.tasks.removeFirst().cancel() }
    if hands.awaited.count > 30 { hands.awaited.removeFirst().cancel() }
  }

  /// A view that checks that it is shown what it asked for last.
  @MainActor
  private final class View: ImageDisplay {
    let ground: Ground
    var wish: Wish?

    init(_ ground: Ground) { self.ground = ground }

    func show(_ content: ImageSlot.Content) {
      if case .image(let response, _) = content, let wish { ground.check(response.image, wish) }
    }
  }

  @MainActor
  private static func use(_ ground: Ground, until isOver: () -> Bool) async {
    var random = SplitMix64(seed: 99)
    let slot = ImageSlot(pipeline: ground.pipeline)
    let view = View(ground)
    slot.display = view
    while !isOver() {
      let (request, wish) = ground.request(&random)
      view.wish = wish
      slot.load(random.chance(1, in: 10) ? nil : request)
      for _ in 0..<random.below(30) { await Task.yield() }
    }
    slot.load(nil)
  }

  @Test
  func sixteenThreadsLeaveNothingBehind() async throws {
    weak var pipeline: ImagePipeline?
    let samples = Lock<[WeakTask]>([])
    do {
      let ground = Ground()
      pipeline = ground.pipeline
      let left = Watched(Self.threads)
      let queue = WorkQueue(label: "soak", width: Self.threads)
      let start = ContinuousClock.now
      for thread in 0..<Self.threads {
        try queue.enqueue { _ in
          var hands = Hands(random: SplitMix64(seed: UInt64(thread)))
          var number = 0
          while number < Self.operations || start.duration(to: .now) < .seconds(Self.seconds) {
            Self.step(ground, &hands)
            number += 1
          }
          for task in hands.tasks { task.cancel() }
          for task in hands.awaited { task.cancel() }
          samples.withLock { $0 += hands.tasks.map(WeakTask.init) }
          left.change { $0 -= 1 }
        }
      }
      await Self.use(ground) { left.value == 0 }
      for scope in ground.scopes { scope.cancelAll() }
      for prefetcher in ground.prefetchers { prefetcher.stopAll() }
      await ground.awaiting.wait { $0 == 0 }
      try await Self.settle(ground)
      await Self.check(ground)
    }
    // Whatever was the last to hold them may be about to let go.
    try await until { pipeline == nil }
    try await until { !samples.withLock({ $0.contains { $0.task != nil } }) }
  }

  private struct WeakTask: Sendable {
    weak var task: ImageTask?
  }

  /// Waits for what goes on behind its callers: revalidation, what is decoded and kept.
  private static func settle(_ ground: Ground) async throws {
    try await until { ground.pipeline.loadCount == 0 && ground.loader.counts.running == 0 }
    let context = ground.pipeline.context
    // What nobody waits for any more may still be decoded or processed, and keep what it has made.
    for queue in [context.decodeQueue, context.processQueue] {
      try await until { queue.pendingCount + queue.runningCount == 0 }
    }
    // Observers are told after their jobs have ended.
    await ground.ends.wait { $0.begun == $0.told }
    await ground.pipeline.cache.flush()
  }

  private static func check(_ ground: Ground) async {
    #expect(ground.wrong.withLock { $0.first } == nil)
    let ends = ground.ends.value
    #expect(ends.begun == ends.told)
    #expect(ground.pipeline.loadCount == 0)
    #expect(ground.scopes.allSatisfy { $0.taskCount == 0 })
    #expect(ground.prefetchers.allSatisfy { $0.statistics.waiting + $0.statistics.running == 0 })

    var (count, cost) = (0, 0)
    ground.memory.removeAll { _, image in
      (count, cost) = (count + 1, cost + image.image.byteCount)
      return false
    }
    #expect((ground.memory.statistics.count, ground.memory.statistics.cost) == (count, cost))
    #expect(cost <= 20_000)
    let entries = await ground.disk.entries().count
    #expect(await ground.disk.statistics().entries == entries)
    await ground.pipeline.cache.removeAll()
    #expect((ground.memory.statistics.count, ground.memory.statistics.cost) == (0, 0))
    #expect(await ground.disk.entries().isEmpty)
  }
}
