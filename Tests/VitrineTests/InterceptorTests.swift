import Testing
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// What stands around the loading of images.
@Suite(.patient)
struct InterceptorTests {
  /// Does what the test says, and counts how often.
  private struct Says: ImageInterceptor {
    let asked = Counter()
    let body: @Sendable (ImageRequest, InterceptorChain) async throws -> ImageResponse

    func image(for request: ImageRequest, next: InterceptorChain) async throws -> ImageResponse {
      asked.increase()
      return try await body(request, next)
    }
  }

  private struct Refusal: Error, Equatable {}

  private static let url = "https://example.org/a.png"
  private static let other = "https://example.org/b.png"
  private let parts = PipelineParts()
  private let file = TestPicture.png
  private let headers: HTTPFields = ["Cache-Control": "max-age=60"]

  private func start(_ interceptors: [any ImageInterceptor]) -> ImagePipeline {
    .testing(parts) { $0.interceptors = interceptors }
  }

  private func serve(_ url: String = url) { parts.loader.answer(url, with: file, headers: headers) }

  private let passes = Says { request, next in try await next(request) }
  private let request = ImageRequest(url: url)

  private func failure(_ task: ImageTask) async -> LoadError? {
    do throws(LoadError) {
      _ = try await task.image
      return nil
    } catch {
      return error
    }
  }

  /// Loads from the pipeline that calls it, for ever.
  private final class Endless: ImageInterceptor {
    let calls = Counter()
    let pipeline = Lock(ImagePipeline?.none)

    func image(for request: ImageRequest, next: InterceptorChain) async throws -> ImageResponse {
      calls.increase()
      return try await #require(pipeline.withLock { $0 }).imageTask(for: request).response
    }
  }

  @Test
  func oneThatCallsItselfEndsInAnErrorAtADepth() async throws {
    serve()
    let endless = Endless()
    let pipeline = start([endless])
    endless.pipeline.withLock { $0 = pipeline }
    let error = await failure(pipeline.imageTask(for: request))
    #expect(error?.code == .intercepted)
    #expect(error?.detail.contains("nested 32 deep") == true)
    #expect(endless.calls.count == 32)
    // The next one begins anew.
    _ = await failure(pipeline.imageTask(for: request))
    #expect(endless.calls.count == 64)
    endless.pipeline.withLock { $0 = nil }
  }

  // MARK: What it may do

  @Test
  func oneThatPassesEverythingOnChangesNothingAndIsNotAskedForAHit() async throws {
    serve()
    let pipeline = start([passes])
    let response = try await pipeline.imageTask(for: request).response
    #expect(response.origin == .network)
    #expect(response.status == 200)
    #expect(try await pipeline.image(for: request).width == 64)
    #expect(pipeline.cachedImage(for: request) != nil)
    #expect(passes.asked.count == 1)
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func theyStandOneAroundTheOther() async throws {
    serve()
    let log = Lock<[String]>([])
    let named = ["outer", "inner"].map { name in
      Says { request, next in
        log.withLock { $0.append(name) }
        let response = try await next(request)
        log.withLock { $0.append("\(name) again") }
        return response
      }
    }
    _ = try await start(named).image(for: request)
    #expect(log.withLock { $0 } == ["outer", "inner", "inner again", "outer again"])
  }

  @Test
  func itMayAskForAnother() async throws {
    serve(Self.other)
    let pipeline = start([
      Says { request, next in
        var request = request
        request.source = .url(Self.other)
        return try await next(request)
      }
    ])
    _ = try await pipeline.image(for: request)
    #expect(parts.loader.requests.map(\.url.string) == [Self.other])
    // What came is kept for what it is.
    #expect(pipeline.cachedImage(for: request) == nil)
    #expect(pipeline.cachedImage(for: ImageRequest(url: Self.other)) != nil)
    #expect(try await pipeline.imageTask(for: request).response.origin == .memory)
  }

  @Test
  func itMayAnswerItself() async throws {
    let pipeline = start([Says { _, _ in ImageResponse(.testPattern(width: 3, height: 2), from: .disk) }])
    let response = try await pipeline.imageTask(for: request).response
    #expect(response.image.width == 3)
    #expect(response.origin == .disk)
    #expect(parts.loader.counts.loads == 0)
    #expect(pipeline.cachedImage(for: request) == nil)
  }

  @Test
  func itMayGiveOtherPixels() async throws {
    serve()
    let pipeline = start([
      Says { request, next in try await next(request).replacingImage(.testPattern(width: 3, height: 2)) }
    ])
    let response = try await pipeline.imageTask(for: request).response
    #expect((response.image.width, response.info.width) == (3, 64))
    #expect(response.origin == .network)
    #expect(pipeline.cachedImage(for: request)?.image.width == 64)
  }

  @Test
  func itMayTryAgainWithAnother() async throws {
    parts.loader.answer(Self.url, FakeResponse(status: 404))
    serve(Self.other)
    let pipeline = start([
      Says { request, next in
        do {
          return try await next(request)
        } catch let error as LoadError where error.status == 404 {
          var request = request
          request.source = .url(Self.other)
          return try await next(request)
        }
      }
    ])
    #expect(try await pipeline.image(for: request).width == 64)
    #expect(parts.loader.requests.map(\.url.string) == [Self.url, Self.other])
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func whatItThrowsIsTheCauseOfTheError() async {
    let pipeline = start([passes, Says { _, _ in throw Refusal() }])
    let error = await failure(pipeline.imageTask(for: request))
    #expect(error?.code == .intercepted)
    #expect(error?.source == Self.url)
    #expect(error?.cause as? Refusal == Refusal())
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func errorsOfLoadingPassThroughAsTheyAre() async {
    parts.loader.answer(Self.url, FakeResponse(status: 404))
    let error = await failure(start([passes, passes]).imageTask(for: request))
    #expect((error?.code, error?.status) == (.badStatus, 404))
  }

  // MARK: What passes through

  @Test
  func tasksOfOneImageShareTheWorkBehindIt() async throws {
    let pipeline = start([passes])
    let tasks = (0..<3).map { _ in pipeline.imageTask(for: request) }
    let load = try await parts.loader.nextLoad(of: Self.url)
    load.respond(headers: headers)
    load.send(file)
    load.finish()
    for task in tasks { #expect(try await task.image.width == 64) }
    #expect(parts.loader.counts.loads == 1)
    #expect(passes.asked.count == 3)
  }

  @Test
  func progressAndPreviewsPassThrough() async throws {
    let file = try Photograph.data("lighthouse-progressive.jpg")
    let pipeline = start([passes])
    let task = pipeline.imageTask(for: request)
    var events = task.events.makeAsyncIterator()
    let load = try await parts.loader.nextLoad(of: Self.url)
    load.respond(headers: ["Content-Length": "\(file.count)"])
    load.send(file.prefix(9000))
    var kinds: [String] = []
    while kinds.count < 2, let event = await events.next() {
      switch event {
      case .progress(let progress):
        #expect(progress.total == file.count)
        if kinds.isEmpty { kinds.append("progress") }
      case .preview: kinds.append("preview")
      case .finished: kinds.append("finished")
      }
    }
    #expect(kinds == ["progress", "preview"])
    load.send(file.dropFirst(9000))
    load.finish()
    #expect(try await task.image.width == 768)
  }

  @Test
  func prioritiesPassThrough() async throws {
    let pipeline = start([passes])
    let task = pipeline.imageTask(for: ImageRequest(url: Self.url, priority: .low))
    let load = try await parts.loader.nextLoad(of: Self.url)
    #expect(load.status.priority == .low)
    task.priority = .veryHigh
    await load.wait { $0.priority == .veryHigh }
    task.cancel()
  }

  @Test
  func cancellingEndsTheTaskAtOnceAndTheWork() async throws {
    let ended = Gate<Bool>()
    let pipeline = start([
      Says { request, next in
        do {
          return try await next(request)
        } catch {
          ended.open(Task.isCancelled)
          throw error
        }
      }
    ])
    let task = pipeline.imageTask(for: request)
    let load = try await parts.loader.nextLoad(of: Self.url)
    task.cancel()
    #expect(await failure(task)?.code == .cancelled)
    #expect(pipeline.loadCount == 0)
    await load.wait { $0.isCancelled }
    #expect(await ended.value())
    // The next one is loaded.
    serve()
    #expect(try await pipeline.image(for: request).width == 64)
  }

  @Test
  func oneThatDoesNotHearOfTheCancelHoldsNobodyUp() async throws {
    let (begun, gate, result) = (Gate(), Gate(), Gate<LoadError?>())
    let pipeline = start([
      Says { request, next in
        begun.open()
        await gate.value()
        do throws(LoadError) {
          let response = try await next(request)
          result.open(nil)
          return response
        } catch {
          result.open(error)
          throw error
        }
      }
    ])
    let task = pipeline.imageTask(for: request)
    await begun.value()
    task.cancel()
    #expect(await failure(task)?.code == .cancelled)
    #expect(pipeline.loadCount == 0)
    gate.open()
    // What it then asks for is not begun.
    #expect(await result.value()?.code == .cancelled)
    #expect(parts.loader.counts.loads == 0)
  }

  @Test
  func cancellingByRequestEndsTasksThatAreStillWithIt() async throws {
    let (begun, gate) = (Gate(), Gate())
    let pipeline = start([
      Says { request, next in
        begun.open()
        await gate.value()
        return try await next(request)
      }
    ])
    let task = pipeline.imageTask(for: request)
    await begun.value()
    pipeline.cancel(for: ImageRequest(url: Self.other))
    #expect(!task.isEnded)
    pipeline.cancel(for: request)
    #expect(await failure(task)?.code == .cancelled)
    #expect(pipeline.loadCount == 0)
    gate.open()
  }

  @Test
  func whatItLeavesBehindIsStopped() async throws {
    let pipeline = start([
      Says { request, next in
        let abandoned = Task { try await next(request) }
        var other = request
        other.source = .url(Self.other)
        let response = try await next(other)
        withExtendedLifetime(abandoned) {}
        return response
      }
    ])
    let task = pipeline.imageTask(for: request)
    let abandoned = try await parts.loader.nextLoad(of: Self.url)
    let wanted = try await parts.loader.nextLoad(of: Self.other)
    wanted.respond(headers: headers)
    wanted.send(file)
    wanted.finish()
    #expect(try await task.image.width == 64)
    #expect(pipeline.loadCount == 0)
    await abandoned.wait { $0.isCancelled }
  }

  @Test
  func ofTwoAtOnceTheOneThatIsGivenUpIsCancelled() async throws {
    let pipeline = start([
      Says { request, next in
        try await withThrowingTaskGroup(of: ImageResponse.self) { group in
          group.addTask { try await next(request) }
          group.addTask {
            var other = request
            other.source = .url(Self.other)
            return try await next(other)
          }
          guard let first = try await group.next() else { throw Refusal() }
          group.cancelAll()
          return first
        }
      }
    ])
    let task = pipeline.imageTask(for: request)
    let slow = try await parts.loader.nextLoad(of: Self.url)
    let quick = try await parts.loader.nextLoad(of: Self.other)
    quick.respond(headers: headers)
    quick.send(file)
    quick.finish()
    #expect(try await task.image.width == 64)
    #expect(pipeline.loadCount == 0)
    await slow.wait { $0.isCancelled }
  }

  @Test
  func aDownloadThatIsToGoOnGoesOn() async throws {
    let pipeline = start([passes])
    var request = request
    request.continuesDownload = true
    let task = pipeline.imageTask(for: request)
    let load = try await parts.loader.nextLoad(of: Self.url)
    load.respond(headers: headers)
    task.cancel()
    #expect(!load.status.isCancelled)
    load.send(file)
    load.finish()
    await parts.diskCache.wait(forWrites: 1)
    #expect(parts.loader.counts.loads == 1)
  }

  @Test
  func whatMayBeServedWhileItIsRevalidatedIs() async throws {
    parts.loader.answer(
      Self.url,
      with: file,
      headers: ["Cache-Control": "max-age=1, stale-while-revalidate=60", "ETag": "\"1\""],
    )
    let pipeline = start([passes])
    _ = try await pipeline.image(for: request)
    parts.clock.advance(by: .seconds(5))
    let response = try await pipeline.imageTask(for: request).response
    #expect(response.isStale)
    #expect(response.isRevalidationDue)
    await parts.loader.wait { $0.loads == 2 }
  }

  @Test
  func aScopeThatWaitsAsksNobody() async throws {
    serve()
    let pipeline = start([passes])
    let scope = LoadScope(pipeline)
    scope.pause()
    let task = scope.imageTask(for: request)
    #expect(passes.asked.count == 0)
    scope.resume()
    #expect(try await task.image.width == 64)
    #expect(passes.asked.count == 1)
  }

  @Test
  func aThousandTasksCancelledAtOnceLeaveNothingBehind() async throws {
    let pipeline = start([passes, passes])
    let tasks = (0..<1000).map { pipeline.imageTask(for: ImageRequest(url: "https://example.org/\($0 % 100)")) }
    await withTaskGroup { group in
      for task in tasks { group.addTask { task.cancel() } }
    }
    for task in tasks { #expect(await failure(task)?.code == .cancelled) }
    #expect(pipeline.loadCount == 0)
    await parts.loader.wait { $0.running == 0 }
  }
}
