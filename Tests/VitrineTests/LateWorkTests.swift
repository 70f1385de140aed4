import Testing
import Vitrine
import VitrineCaching
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// Work that ends after other work has brought something newer, each step taken by hand.
@Suite(.patient)
struct LateWorkTests {
  /// What is where in the end.
  private struct Ends {
    var late: Pictures.Name?
    var inMemory: [Pictures.Name?] = []
    var onDisk: Pictures.Name?
  }

  /// A pipeline of which every step is taken by hand.
  private struct Bench {
    let executor = StepExecutor()
    let loader = StepLoader()
    let disk = StepDisk()
    let clock = ManualClock()
    let pipeline: ImagePipeline

    init(_ storage: StoragePolicy = .original) {
      pipeline = ImagePipeline(.ephemeral) { [executor, loader, disk, clock] in
        $0.memoryCache = MemoryCache(costLimit: 1 << 20, clock: clock)
        $0.memoryPressure = nil
        $0.diskCache = disk
        $0.loader = loader
        $0.clock = clock
        $0.stepper = executor
        $0.storagePolicy = storage
      }
    }

    func run() { while executor.count > 0 { executor.run(0) } }

    func answer(_ version: Int) throws {
      let load = try #require(loader.running.first)
      loader.forget(load)
      load.respond(200, ["ETag": "\"\(version)\"", "Cache-Control": "max-age=60"])
      load.send(Pictures.file(0, version))
      load.end()
    }

    func decode() { while pipeline.context.decodeQueue.runNext() {} }
  }

  private static let url = "https://example.org/0"

  /// Has the first version decoded after the second, which came later; the first comes from disk or from the server.
  private static func play(isOnDisk: Bool, isSmall: Bool, caches: CacheAccess = .all) throws -> Ends {
    let bench = Bench()
    let pipeline = bench.pipeline
    let (small, whole) = (ImageRequest(url: url, size: .pixels(8, 8)), ImageRequest(url: url))
    var late = isSmall ? small : whole
    (late.priority, late.cacheAccess) = (.low, caches)

    if isOnDisk {
      _ = pipeline.imageTask(for: whole)
      bench.run()
      try bench.answer(1)
      bench.decode()
      bench.run()
      pipeline.cache[whole] = nil
    }
    let end = Box<Pictures.Name?>(nil)
    pipeline.loadImage(for: late) { end.value = (try? $0.get()).flatMap { Pictures.name(of: $0.image) } }
    bench.run()
    if !isOnDisk { try bench.answer(1) }
    // Its bytes are there, and wait to be decoded.
    bench.clock.advance(by: .seconds(1))
    var anew = whole
    (anew.cachePolicy, anew.priority) = (.reload, .high)
    _ = pipeline.imageTask(for: anew)
    bench.run()
    try bench.answer(2)
    bench.decode()
    bench.run()
    let images = [small, whole].map { pipeline.cachedImage(for: $0).flatMap { Pictures.name(of: $0.image) } }
    let onDisk = bench.disk.entries[whole.keys.fetch].flatMap { Pictures.name(of: $0.data) }
    try #require(pipeline.loadCount == 0)
    return Ends(late: end.value, inMemory: images, onDisk: onDisk)
  }

  @Test(arguments: [true, false], [true, false])
  func whatIsDecodedLateGoesToWhoWaitsAndReplacesNothing(isOnDisk: Bool, isSmall: Bool) async throws {
    // Of its own, since what is stepped must not run within a task of Swift's.
    let queue = WorkQueue(label: "steps", width: 1)
    let ends = try await queue.run { _ in try Self.play(isOnDisk: isOnDisk, isSmall: isSmall) }
    #expect(ends.late?.version == 1)
    #expect(ends.inMemory.map { $0?.version } == [nil, 2])
    #expect(ends.onDisk?.version == 2)
  }

  @Test
  func aDownloadThatHasNotBegunDoesNotGoOn() async throws {
    let queue = WorkQueue(label: "steps", width: 1)
    let loads = try await queue.run { _ in
      let bench = Bench()
      var request = ImageRequest(url: Self.url, size: .pixels(8, 8))
      request.continuesDownload = true
      let tasks = [request, ImageRequest(url: Self.url)].map { bench.pipeline.imageTask(for: $0) }
      // Both wait for the look-up on disk.
      for task in tasks { task.cancel() }
      bench.run()
      try #require(bench.pipeline.loadCount == 0)
      return bench.loader.running.count
    }
    #expect(loads == 0)
  }

  @Test
  func whatIsDecodedLateAndNotKeptTakesNothingFromDisk() async throws {
    let queue = WorkQueue(label: "steps", width: 1)
    let caches = CacheAccess.all.subtracting(.diskWrites)
    let ends = try await queue.run { _ in try Self.play(isOnDisk: false, isSmall: true, caches: caches) }
    #expect(ends.late?.version == 1)
    #expect(ends.onDisk?.version == 2)
  }

  @Test
  func whatIsOutOfDateBeforeItIsWrittenIsNotWritten() async throws {
    let queue = WorkQueue(label: "steps", width: 1)
    let (writes, version) = try await queue.run { _ in
      let bench = Bench()
      let request = ImageRequest(url: Self.url)
      _ = bench.pipeline.imageTask(for: request)
      bench.run()
      try bench.answer(1)
      bench.decode()
      // About to be written.
      try #require(bench.executor.count == 1 && bench.disk.entries.isEmpty)
      var anew = request
      anew.cachePolicy = .reload
      _ = bench.pipeline.imageTask(for: anew)
      try bench.answer(2)
      bench.decode()
      bench.run()
      return (
        bench.disk.count(.write), bench.disk.entries.values.first.flatMap { Pictures.name(of: $0.data) }?.version,
      )
    }
    #expect(writes == 1)
    #expect(version == 2)
  }

  @Test
  func whatComesWhileAnImageIsPutIntoMemoryTakesItAway() {
    let clock = NoticingClock()
    let memory = MemoryCache<CachedImage>(costLimit: 1 << 20, expiration: .after(.seconds(60)), clock: clock)
    let pipeline = ImagePipeline.testing { $0.memoryCache = memory }
    let request = ImageRequest(url: Self.url)
    let container = ImageContainer(.solid(SIMD4(1, 2, 3, 255), width: 8, height: 6))
    let (older, newer) = (ContentID(low: 1, high: 1), ContentID(low: 2, high: 2))
    func isKept(_ contentID: ContentID) -> Bool {
      let record = pipeline.context.sources.record(of: request.keys.fetch)
      let image = LoadedImage(container, contentID, .unlimited, status: 200, byteCount: 9, nil)
      // The cache asks for the time when it is given an image.
      clock.whenAsked.withLock { $0 = { _ = record.acceptResponse(1, newer) } }
      pipeline.context.cacheWriter.keepInMemory(
        CacheWriter.NewImage(
          image: image,
          request: request,
          step: 0,
          sequence: 0,
          record: record,
          hasImageSubscriber: true,
        )
      )
      #expect(record.sequence == 1)
      return pipeline.cache[request] != nil
    }
    #expect(isKept(newer))
    pipeline.cache[request] = nil
    #expect(!isKept(older))
  }

  @Test
  func whatWasNotThereBeforeANewerAnswerCameIsLookedForAgain() async throws {
    let queue = WorkQueue(label: "steps", width: 1)
    let (version, loads) = try await queue.run { _ in
      let bench = Bench(.both)
      var anew = ImageRequest(url: Self.url)
      (anew.cachePolicy, anew.cacheAccess) = (.reload, .disk)
      _ = bench.pipeline.imageTask(for: anew)
      bench.run()
      let version = Box<Int?>(nil)
      bench.pipeline.loadImage(for: ImageRequest(url: Self.url, size: .pixels(8, 8))) {
        version.value = (try? $0.get()).flatMap { Pictures.name(of: $0.image) }?.version
      }
      // The answer comes while the disk is asked, which does not have it yet.
      bench.disk.whenRead = { _, _ in
        bench.disk.whenRead = { _, _ in }
        try? bench.answer(2)
        bench.decode()
      }
      bench.run()
      bench.decode()
      bench.run()
      return (version.value, bench.loader.count)
    }
    #expect(version == 2)
    #expect(loads == 1)
  }

  @Test
  func whatWaitsToBeDecodedGoesAheadWhenItsPriorityRises() async throws {
    let queue = WorkQueue(label: "steps", width: 1)
    let order = try await queue.run { _ in
      let (bench, order) = (Bench(), Box<[Int]>([]))
      var tasks: [ImageTask] = []
      for number in 0...1 {
        var request = ImageRequest(url: "https://example.org/\(number)")
        request.priority = .low
        tasks.append(bench.pipeline.loadImage(for: request) { _ in order.value.append(number) })
        bench.run()
        try bench.answer(1)
      }
      tasks[1].priority = .high
      bench.decode()
      bench.run()
      return order.value
    }
    #expect(order == [1, 0])
  }

  @Test(arguments: [StoragePolicy.original, .both])
  func aLoadThatIsCancelledWhileTheDiskIsAskedSendsNothing(storage: StoragePolicy) async throws {
    let queue = WorkQueue(label: "steps", width: 1)
    let (loads, running) = try await queue.run { _ in
      let bench = Bench(storage)
      let task = bench.pipeline.imageTask(for: ImageRequest(url: Self.url, size: .pixels(8, 8)))
      bench.disk.whenRead = { _, _ in task.cancel() }
      bench.run()
      return (bench.loader.count, bench.pipeline.loadCount)
    }
    #expect(loads == 0)
    #expect(running == 0)
  }

  @Test
  func aDownloadOfBeforeARemovalDoesNotLetALaterOneContinue() async throws {
    let queue = WorkQueue(label: "steps", width: 1)
    let (loads, running) = try await queue.run { _ in
      let bench = Bench()
      var request = ImageRequest(url: Self.url)
      request.continuesDownload = true
      _ = bench.pipeline.imageTask(for: request)
      bench.run()
      bench.pipeline.context.detachLoads(of: nil)
      // The later load has sent nothing when it is cancelled.
      bench.pipeline.imageTask(for: request).cancel()
      bench.run()
      return (bench.loader.count, bench.pipeline.context.images.count)
    }
    #expect(loads == 1)
    #expect(running == 1)
  }
}
