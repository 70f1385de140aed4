import Dispatch
import Testing
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// What a task says of itself while nobody awaits it.
@Suite(.patient)
struct TaskTests {
  private static let url = "https://example.org/a.png"
  private let parts = PipelineParts()
  private let pipeline: ImagePipeline
  private let file = TestPicture.png
  private let request = ImageRequest(url: url, size: .pixels(16, 16))

  init() {
    pipeline = .testing(parts)
  }

  private func load() async throws -> FakeLoad { try await parts.loader.nextLoad(of: Self.url) }

  // MARK: Identity

  @Test
  func noTwoTasksHaveOneNumber() async {
    let tasks = await withTaskGroup { group in
      for _ in 0..<8 { group.addTask { (0..<125).map { _ in pipeline.imageTask(for: request) } } }
      return await group.reduce(into: [ImageTask]()) { $0 += $1 }
    }
    #expect(Set(tasks.map(\.id)).count == 1000)
    #expect(Set(tasks).count == 1000)
    pipeline.cancel(for: request)
  }

  @Test
  func aTaskEqualsItselfAlone() {
    let (one, other) = (pipeline.imageTask(for: request), pipeline.imageTask(for: request))
    #expect(one == one)
    #expect(one != other)
    #expect([one: 1, other: 2][one] == 1)
    pipeline.cancel(for: request)
  }

  // MARK: State and result

  @Test
  func aTaskRunsUntilItsImageIsThere() async throws {
    let task = pipeline.imageTask(for: request)
    #expect(task.state == .running)
    #expect(task.result == nil)
    try await load().respond(with: FakeResponse(body: file))
    let image = try await task.image
    #expect(task.state == .finished)
    #expect(try task.result?.get().image.width == image.width)
  }

  @Test
  func anImageInMemoryIsThereAtOnce() async throws {
    parts.loader.answer(Self.url, with: file, headers: ["Cache-Control": "max-age=60"])
    _ = try await pipeline.image(for: request)
    let task = pipeline.imageTask(for: request)
    #expect(task.state == .finished)
    #expect(try task.result?.get().origin == .memory)
    #expect(task.progress == LoadProgress())
  }

  @Test
  func aFailureIsAnEndAndACancellationAnother() async throws {
    let failing = pipeline.imageTask(for: ImageRequest(url: "no url"))
    await #expect(throws: LoadError.self) { try await failing.image }
    #expect(failing.state == .finished)

    let cancelled = pipeline.imageTask(for: request)
    cancelled.cancel()
    #expect(cancelled.state == .cancelled)
    let error = #expect(throws: LoadError.self) { try cancelled.result?.get() }
    #expect(error?.isCancellation == true)
  }

  @Test
  func aTaskInAPausedScopeRuns() {
    let scope = LoadScope(pipeline)
    scope.pause()
    let task = scope.imageTask(for: request)
    #expect(task.state == .running)
    #expect(task.progress == LoadProgress())
    scope.cancelAll()
    #expect(task.state == .cancelled)
  }

  // MARK: Progress

  @Test
  func progressIsThereWithoutAnyoneWatching() async throws {
    let task = pipeline.imageTask(for: request)
    #expect(task.progress == LoadProgress())
    let load = try await load()
    load.respond(headers: ["Content-Length": "\(file.count)"])
    #expect(task.progress == LoadProgress())
    load.send(file.prefix(10))
    #expect(task.progress == LoadProgress(completed: 10, total: file.count))
    load.send(file.dropFirst(10).prefix(1))
    #expect(task.progress == LoadProgress(completed: 11, total: file.count))
    // Previews would be made for someone who watches.
    let key = pipeline.context.imageKey(of: request.prepared(by: nil), step: 0)
    #expect(pipeline.context.images.demand(on: key)?.interest == WorkDemand.Interest.none)
    load.send(file.dropFirst(11))
    load.finish()
    _ = try await task.image
    #expect(task.progress == LoadProgress(completed: file.count, total: file.count))
  }

  @Test
  func progressOfAnUnknownLengthHasNoTotal() async throws {
    let task = pipeline.imageTask(for: request)
    let load = try await load()
    load.respond()
    load.send(file.prefix(10))
    #expect(task.progress == LoadProgress(completed: 10, total: 0))
    task.cancel()
    #expect(task.progress == LoadProgress(completed: 10, total: 0))
  }

  @Test(arguments: [true, false])
  func progressComesFromBehindProcessorsSourcesAndInterceptors(isIntercepted: Bool) async throws {
    struct Passes: ImageInterceptor {
      func image(for request: ImageRequest, next: InterceptorChain) async throws -> ImageResponse {
        try await next(request)
      }
    }
    let pipeline = ImagePipeline.testing(parts) { if isIntercepted { $0.interceptors = [Passes()] } }
    let (gate, begun) = (Gate(), Gate())
    let slow = ImageProcessor.custom(id: "slow") { bitmap in
      begun.open()
      gate.wait()
      return bitmap
    }
    let processors = [ImageProcessor.custom(id: "a") { $0 }, slow]
    let task = pipeline.imageTask(for: ImageRequest(.first(of: [.url(Self.url)]), processors: processors))
    let load = try await load()
    load.respond(headers: ["Content-Length": "\(file.count)"])
    load.send(file.prefix(10))
    #expect(task.progress == LoadProgress(completed: 10, total: file.count))
    load.send(file.dropFirst(10))
    load.finish()
    // All of it is there, and something is still done to it.
    await begun.value()
    #expect(task.progress == LoadProgress(completed: file.count, total: file.count))
    gate.open()
    #expect(try await task.image.width == 64)
  }

  @Test
  func whoListensAfterProgressWasReadIsToldIt() async throws {
    let task = pipeline.imageTask(for: request)
    let load = try await load()
    load.respond(headers: ["Content-Length": "\(file.count)"])
    load.send(file.prefix(10))
    let known = task.progress
    var events = task.events.makeAsyncIterator()
    guard case .progress(let first)? = await events.next() else {
      Issue.record("no progress")
      return
    }
    #expect(first == known)
    task.cancel()
  }

  // MARK: Races

  /// Whatever is read at whatever moment fits together, and what has ended stays as it is.
  @Test
  func whatIsReadWhileItEndsFitsTogether() async throws {
    for round in 0..<50 {
      let url = "https://example.org/\(round).png"
      let task = pipeline.imageTask(for: ImageRequest(url: url))
      let load = try await parts.loader.nextLoad(of: url)
      load.respond(headers: ["Content-Length": "\(file.count)"])
      await withTaskGroup { group in
        group.addTask {
          var last = 0
          while task.state == .running {
            let progress = task.progress
            #expect(progress.completed >= last && progress.completed <= file.count)
            last = progress.completed
            await Task.yield()
          }
          #expect(task.result != nil)
        }
        group.addTask {
          load.send(file.prefix(100))
          if round.isMultiple(of: 2) { task.cancel() }
          load.send(file.dropFirst(100))
          load.finish()
        }
        group.addTask { _ = try? await task.image }
      }
      #expect(task.state != .running)
      if round.isMultiple(of: 2) { continue }
      #expect(task.state == .finished)
    }
    #expect(pipeline.loadCount == 0)
  }
}
