import Testing
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// No more waits than may.
@Suite(.patient)
struct BoundsTests {
  /// A loader whose loads wait for the test to begin them.
  private final class Waiting: DataLoader {
    private final class Load: LoadHandle {
      let sink: any LoadSink
      let url: HTTPURL
      private let isEnded = Lock(false)

      init(_ request: HTTPRequest, _ sink: any LoadSink) { (url, self.sink) = (request.url, sink) }

      var priority: Priority {
        get { .normal }
        set { _ = newValue }
      }

      func resume() {}

      // It never says that it was cancelled: what was not begun need not be waited for.
      func cancel() { isEnded.withLock { $0 = true } }

      func answer(_ data: Data) {
        guard !isEnded.withLock({ $0 }) else { return }
        _ = sink.receive(HTTPResponse(status: 200, url: url))
        _ = sink.receive(data)
        sink.finish(nil)
      }
    }

    private let loads = Lock<[Load]>([])

    var count: Int { loads.withLock { $0.count } }

    func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
      let load = Load(request, sink)
      loads.withLock { $0.append(load) }
      return load
    }

    func begin(_ index: Int) { loads.withLock { $0[index] }.sink.begin() }

    func answer(_ index: Int, _ data: Data) { loads.withLock { $0[index] }.answer(data) }
  }

  private let file = TestPicture.png
  private let parts = PipelineParts()
  private let loader = Waiting()

  private func url(_ number: Int) -> String { "https://example.org/\(number).png" }

  private func start(_ limit: Int?, over loader: (any DataLoader)? = nil) -> ImagePipeline {
    .testing(parts) {
      $0.queueLimit = limit
      $0.loader = loader ?? parts.loader
      $0.memoryCache = nil
    }
  }

  private func error(of task: ImageTask) async -> LoadError? {
    do throws(LoadError) {
      _ = try await task.image
      return nil
    } catch {
      return error
    }
  }

  /// A request that is handed to the loader within the call that makes its task.
  private func reloading(_ number: Int) -> ImageRequest {
    var request = ImageRequest(url: url(number))
    request.cachePolicy = .reload
    return request
  }

  private func data(_ number: Int, _ size: TargetSize? = nil) -> ImageRequest {
    ImageRequest(.data(file, id: "\(number)"), size: size)
  }

  // MARK: Decoding, reading

  @Test
  func oneDecodeMoreThanMayWaitFailsAtOnce() async throws {
    let pipeline = start(2)
    let gate = try pipeline.context.decodeQueue.hold()
    let waiting = (0..<2).map { pipeline.imageTask(for: data($0)) }
    let refused = pipeline.imageTask(for: data(2))
    let failure = await error(of: refused)
    #expect((failure?.code, failure?.stage) == (.overloaded, .decode))
    // Who joins what waits already is no more of it.
    let joined = pipeline.imageTask(for: data(0))
    #expect(pipeline.loadCount == 2)
    gate.open()
    for task in waiting + [joined] { #expect(try await task.image.width == 64) }
    #expect(pipeline.loadCount == 0)
    // There is room again.
    #expect(try await pipeline.image(for: data(2)).width == 64)
  }

  /// A full queue says nothing about the bytes: they stay on disk, and are not fetched again.
  @Test
  func bytesOnDiskOutliveAFullQueue() async throws {
    parts.loader.answer("*") { [file] _ in FakeResponse(headers: ["Cache-Control": "max-age=86400"], body: file) }
    let earlier = start(nil)
    _ = try await earlier.data(for: ImageRequest(url: url(0)))
    await earlier.cache.flush()
    let pipeline = start(1)
    let gate = try pipeline.context.decodeQueue.hold()
    let waiting = pipeline.imageTask(for: data(1))
    let failure = await error(of: pipeline.imageTask(for: ImageRequest(url: url(0))))
    #expect((failure?.code, failure?.stage) == (.overloaded, .decode))
    gate.open()
    #expect(try await waiting.image.width == 64)
    await pipeline.cache.flush()
    #expect(await pipeline.cache.data(for: url(0)) == file)
    #expect(try await pipeline.image(for: ImageRequest(url: url(0))).width == 64)
    #expect(parts.loader.counts.loads == 1)
  }

  @Test
  func aPlaceIsFreedByACancel() async throws {
    let pipeline = start(1)
    let gate = try pipeline.context.decodeQueue.hold()
    pipeline.imageTask(for: data(0)).cancel()
    let task = pipeline.imageTask(for: data(1))
    #expect(!task.isEnded)
    gate.open()
    #expect(try await task.image.width == 64)
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func readsOfFilesAreBoundedToo() async throws {
    let folder = try TemporaryFolder()
    let paths = (0..<3).map { folder.file("\($0).png").path }
    for path in paths { try file.write(to: URL(filePath: path)) }
    let pipeline = start(2)
    let gate = try pipeline.context.fileReads.queue.hold()
    let tasks = paths.map { pipeline.imageTask(for: ImageRequest(.file($0))) }
    let failure = await error(of: tasks[2])
    #expect((failure?.code, failure?.stage) == (.overloaded, .fetch))
    #expect(pipeline.loadCount == 4)
    gate.open()
    for task in tasks.dropLast() { #expect(try await task.image.width == 64) }
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func imagesThatWaitToBeProcessedAreBoundedToo() async throws {
    let pipeline = start(1)
    let gate = try pipeline.context.processQueue.hold()
    let requests = (0..<2).map { number in
      var request = data(number)
      request.processors = [.custom(id: "same") { $0 }]
      return request
    }
    let first = pipeline.imageTask(for: requests[0])
    // The one that finds no place leaves no load of any stage behind.
    let second = pipeline.imageTask(for: requests[1])
    async let results = [error(of: first), error(of: second)]
    await pipeline.untilOnlyOneJobIsLeft(of: [first, second])
    gate.open()
    let codes = await results.map { $0?.code }
    #expect(codes.count { $0 == nil } == 1)
    #expect(codes.contains(.overloaded))
    #expect(pipeline.loadCount == 0)
  }

  // MARK: Fetching

  @Test
  func oneFetchMoreThanMayWaitFailsAtOnceAndNothingIsSent() async throws {
    let pipeline = start(2, over: loader)
    let reload = (0..<4).map { reloading($0) }
    let tasks = reload[..<2].map { pipeline.imageTask(for: $0) }
    let failure = await error(of: pipeline.imageTask(for: reload[2]))
    #expect((failure?.code, failure?.stage, failure?.source) == (.overloaded, .fetch, url(2)))
    #expect(loader.count == 2)
    let joined = pipeline.imageTask(for: reload[0])
    let shared = reload[1]
    let bytes = Task { try await pipeline.data(for: shared) }
    // One has begun, so another may wait.
    loader.begin(0)
    let third = pipeline.imageTask(for: reload[3])
    #expect(loader.count == 3)
    for index in 0..<3 { loader.answer(index, file) }
    for task in tasks + [joined, third] { #expect(try await task.image.width == 64) }
    bytes.cancel()
    _ = await bytes.result
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func cancelledFetchesAndBrokenOnesGiveTheirPlacesBack() async throws {
    let pipeline = start(3, over: loader)
    for round in 0..<5 {
      let tasks = (0..<3).map { pipeline.imageTask(for: reloading(round * 3 + $0)) }
      #expect(loader.count == round * 3 + 3)
      for task in tasks { task.cancel() }
    }
    #expect(pipeline.loadCount == 0)
    parts.loader.answer("*", failing: .cannotConnect)
    let broken = start(1)
    for number in 0..<5 {
      let failure = await error(of: broken.imageTask(for: ImageRequest(url: url(number))))
      #expect(failure?.code == .fetchFailed)
    }
    #expect(broken.loadCount == 0)
  }

  @Test
  func withALimitOfZeroNothingIsFetchedButWhatIsThereIsServed() async throws {
    parts.loader.answer("*", with: file, headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""])
    let open = start(nil)
    _ = try await open.image(for: ImageRequest(url: url(0)))
    await open.cache.flush()
    let closed = start(0)
    #expect(try await closed.image(for: ImageRequest(url: url(0))).width == 64)
    #expect(await error(of: closed.imageTask(for: ImageRequest(url: url(1))))?.code == .overloaded)
    // What is stale stands in, as for a server that cannot be reached.
    parts.clock.advance(by: .seconds(100))
    let stale = try await closed.imageTask(for: ImageRequest(url: url(0))).response
    #expect(stale.isStale)
    #expect(parts.loader.counts.loads == 1)
    #expect(closed.loadCount == 0)
  }

  @Test
  func unlessToldThereIsNoLimit() async throws {
    let pipeline = start(nil, over: loader)
    let tasks = (0..<500).map { pipeline.imageTask(for: reloading($0)) }
    #expect(loader.count == 500)
    for task in tasks { task.cancel() }
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func aStormOfRequestsAndCancelsLeavesNoPlaceTaken() async throws {
    parts.loader.answer("*", with: file, headers: ["Cache-Control": "no-store"])
    let pipeline = start(8)
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<300 {
        group.addTask {
          let task = pipeline.imageTask(for: ImageRequest(url: url(number % 40)))
          if number % 3 == 0 { task.cancel() }
          let failure = await error(of: task)
          #expect(failure == nil || failure?.code == .overloaded || failure?.code == .cancelled)
        }
      }
    }
    #expect(pipeline.loadCount == 0)
    for number in 0..<20 { #expect(try await pipeline.image(for: ImageRequest(url: url(number))).width == 64) }
  }
}

extension ImagePipeline {
  /// Waits, by the tasks' own ends, until one of two has ended.
  fileprivate func untilOnlyOneJobIsLeft(of tasks: [ImageTask]) async {
    let ended = Gate()
    for task in tasks { task.whenEnded { ended.open() } }
    await ended.value()
  }
}
