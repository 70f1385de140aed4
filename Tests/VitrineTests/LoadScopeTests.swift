import Testing
import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Loads that belong together.
@Suite(.patient)
struct LoadScopeTests {
  private let parts = PipelineParts()
  private let pipeline: ImagePipeline
  private let scope: LoadScope
  private let file = TestPicture.png

  init() {
    pipeline = .testing(parts)
    scope = LoadScope(pipeline)
  }

  private func request(_ name: String, _ priority: Priority = .normal) -> ImageRequest {
    ImageRequest(url: "https://example.org/\(name)", size: .pixels(16, 16), priority: priority)
  }

  private func load(_ name: String) async throws -> FakeLoad {
    try await parts.loader.nextLoad(of: "https://example.org/\(name)")
  }

  @Test
  func pausedNothingBeginsAndWhatRunsGoesOnBehindEverything() async throws {
    let running = scope.imageTask(for: request("a", .high))
    let load = try await load("a")
    scope.pause()
    await load.wait { $0.priority == .veryLow }
    let waiting = scope.imageTask(for: request("b"))
    #expect(parts.loader.counts.loads == 1)

    load.respond(with: FakeResponse(body: file))
    #expect(try await running.image.width == 16)
    #expect(scope.taskCount == 1)

    scope.resume()
    try await self.load("b").respond(with: FakeResponse(body: file))
    #expect(try await waiting.image.width == 16)
    #expect(scope.taskCount == 0)
  }

  @Test
  func resumedWhatRunsHasItsPriorityBack() async throws {
    let task = scope.imageTask(for: request("a", .high))
    let load = try await load("a")
    scope.pause()
    await load.wait { $0.priority == .veryLow }
    task.priority = .veryHigh
    scope.resume()
    await load.wait { $0.priority == .veryHigh }
    #expect(task.priority == .veryHigh)
    task.cancel()
  }

  @Test
  func aLimitBoundsEveryPriority() async throws {
    scope.priorityLimit = .low
    let task = scope.imageTask(for: request("a", .veryHigh))
    let load = try await load("a")
    await load.wait { $0.priority == .low }
    #expect(load.status.priorities == [.low])
    scope.priorityLimit = .veryHigh
    await load.wait { $0.priority == .veryHigh }
    task.cancel()
  }

  @Test
  func whoeverElseWaitsIsNotHeldBack() async throws {
    let mine = scope.imageTask(for: request("a", .normal))
    let theirs = pipeline.imageTask(for: request("a", .high))
    let load = try await load("a")
    scope.pause()
    await load.wait { $0.priority == .high }
    scope.cancelAll()
    #expect(!load.status.isCancelled)
    load.respond(with: FakeResponse(body: file))
    #expect(try await theirs.image.width == 16)
    await #expect(throws: LoadError.self) { try await mine.image }
  }

  @Test
  func cancelledTogetherAllEndAtOnceAndLaterOnesLoad() async throws {
    let tasks = (0..<20).map { scope.imageTask(for: request("\($0)")) }
    scope.pause()
    let waiting = (20..<40).map { scope.imageTask(for: request("\($0)")) }
    scope.cancelAll()

    for task in tasks + waiting {
      let error = await #expect(throws: LoadError.self) { try await task.image }
      #expect(error?.isCancellation == true)
    }
    #expect(scope.taskCount == 0)
    #expect(pipeline.loadCount == 0)
    scope.resume()
    await parts.loader.wait { $0.running == 0 }

    parts.loader.answer("https://example.org/later", with: file)
    #expect(try await scope.image(for: request("later")).width == 16)
  }

  @Test
  func cancelledWhileItWaitsATaskNeverBegins() async throws {
    scope.pause()
    let task = scope.imageTask(for: request("a"))
    task.cancel()
    scope.resume()
    #expect(parts.loader.counts.loads == 0)
    #expect(pipeline.loadCount == 0)
    await #expect(throws: LoadError.self) { try await task.image }
  }

  @Test
  func listenedToWhileItWaitsATaskTellsOfItsProgress() async throws {
    scope.pause()
    let task = scope.imageTask(for: request("a"))
    let events = task.events
    scope.resume()
    let load = try await load("a")
    load.respond(headers: ["Content-Length": "\(file.count)"])
    load.send(file)
    load.finish()
    #expect(await events.contains { if case .progress = $0 { true } else { false } })
  }

  @Test
  func aPriorityThatIsSetWhileItsLoadBeginsCounts() async throws {
    let clock = NoticingClock()
    let pipeline = ImagePipeline.testing(parts) {
      ($0.memoryCache, $0.diskCache) = (nil, nil)
      $0.clock = clock
    }
    let scope = LoadScope(pipeline)
    scope.pause()
    let task = scope.imageTask(for: request("a"))
    // The time is read when the load begins, while the request has yet to be sent.
    clock.whenAsked.withLock { $0 = { task.priority = .high } }
    scope.resume()
    let load = try await load("a")
    #expect(clock.whenAsked.withLock { $0 == nil })
    #expect(load.status.priorities == [.high])
    task.cancel()
  }

  @Test
  func cancelledWhileItsLoadBeginsATaskLeavesItsJob() async throws {
    let clock = NoticingClock()
    let pipeline = ImagePipeline.testing(parts) {
      ($0.memoryCache, $0.diskCache) = (nil, nil)
      $0.clock = clock
    }
    let scope = LoadScope(pipeline)
    scope.pause()
    let task = scope.imageTask(for: request("a"))
    clock.whenAsked.withLock { $0 = { task.cancel() } }
    scope.resume()
    #expect(clock.whenAsked.withLock { $0 == nil })
    #expect(pipeline.loadCount == 0)
    await parts.loader.wait { $0.running == 0 }
  }

  @Test
  func whatIsInMemoryIsThereThoughItIsPaused() async throws {
    parts.loader.answer("*", with: file, headers: ["Cache-Control": "max-age=60"])
    _ = try await pipeline.image(for: request("a"))
    scope.pause()
    #expect(try await scope.image(for: request("a")).width == 16)
  }

  @Test
  func whatHasEndedIsLetGo() async throws {
    parts.loader.answer("*", with: file)
    weak var held: ImageTask?
    do {
      let task = scope.imageTask(for: request("a"))
      held = task
      _ = try await task.image
    }
    // Whoever is about to let go of it does so.
    try await until { held == nil }
  }

  @Test
  func releasedWhilePausedNobodyWaitsForEver() async throws {
    var scope: LoadScope? = LoadScope(pipeline)
    scope?.pause()
    let task = try #require(scope?.imageTask(for: request("a")))
    scope = nil
    let error = await #expect(throws: LoadError.self) { try await task.image }
    #expect(error?.isCancellation == true)
  }
}

/// Does something when it is asked for the time, once.
final class NoticingClock: TimeSource {
  let whenAsked = Lock<(@Sendable () -> Void)?>(nil)
  private let inner = ManualClock()

  var uptime: Duration { inner.uptime }
  var now: Date {
    let act = whenAsked.withLock { action in
      defer { action = nil }
      return action
    }
    act?()
    return inner.now
  }

  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
    inner.schedule(after: delay, action)
  }
}
