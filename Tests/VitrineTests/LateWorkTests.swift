import Testing
import Vitrine
import VitrineCaching
import VitrineRuntime
import VitrineTesting

@testable import Vitrine

/// Work that ends after other work has brought something newer, each step taken by hand.
@Suite(.timeLimit(.minutes(20)))
struct LateWorkTests {
  /// What is where in the end.
  private struct Ends {
    var late: Pictures.Name?
    var inMemory: [Pictures.Name?] = []
    var onDisk: Pictures.Name?
  }

  /// Has the first version decoded after the second, which came later; the first comes from disk or from the server.
  private static func play(isOnDisk: Bool, isSmall: Bool) throws -> Ends {
    let (executor, loader, disk, clock) = (StepExecutor(), StepLoader(), StepDisk(), ManualClock())
    let pipeline = ImagePipeline {
      $0.memoryCache = MemoryCache(costLimit: 1 << 20, clock: clock)
      $0.memoryPressure = nil
      $0.diskCache = disk
      $0.loader = loader
      $0.clock = clock
      $0.stepper = executor
      $0.storage = .original
    }
    let url = "https://example.org/0"
    let (small, whole) = (ImageRequest(url: url, size: .pixels(8, 8)), ImageRequest(url: url))
    var late = isSmall ? small : whole
    late.priority = .low
    func run() { while executor.count > 0 { executor.run(0) } }
    func answer(_ version: Int) throws {
      let load = try #require(loader.running.first)
      loader.forget(load)
      load.respond(200, ["ETag": "\"\(version)\"", "Cache-Control": "max-age=60"])
      load.send(Pictures.file(0, version))
      load.end()
    }
    func decode() {
      while pipeline.context.decodeQueue.runNext() {}
      run()
    }

    if isOnDisk {
      _ = pipeline.imageTask(for: whole)
      run()
      try answer(1)
      decode()
      pipeline.cache[whole] = nil
    }
    let end = Box<Pictures.Name?>(nil)
    pipeline.loadImage(for: late) { end.value = (try? $0.get()).flatMap { Pictures.name(of: $0.image) } }
    run()
    if !isOnDisk { try answer(1) }
    // Its bytes are there, and wait to be decoded.
    clock.advance(by: .seconds(1))
    var anew = whole
    (anew.policy, anew.priority) = (.reload, .high)
    _ = pipeline.imageTask(for: anew)
    run()
    try answer(2)
    decode()
    let images = [small, whole].map { pipeline.cachedImage(for: $0).flatMap { Pictures.name(of: $0.image) } }
    let onDisk = disk.entries[whole.keys.fetch].flatMap { Pictures.name(of: $0.data) }
    try #require(pipeline.jobCount == 0)
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
}
