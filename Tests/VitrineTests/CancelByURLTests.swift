import Testing
import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Everything of a URL cancelled at once.
@Suite(.patient)
struct CancelByURLTests {
  private struct Passes: ImageInterceptor {
    func image(for request: ImageRequest, next: InterceptorChain) async throws -> ImageResponse {
      try await next(request)
    }
  }

  private struct Mirror: PipelineDelegate {
    func willLoad(_ request: ImageRequest) -> ImageRequest {
      guard request.size != nil, let url = request.url?.absoluteString else { return request }
      var request = request
      request.source = .url(url.replacing("example.org", with: "mirror.example.org"))
      return request
    }
  }

  private static let text = "https://example.org/a.png"
  private let url: URL
  private let parts = PipelineParts()
  private let file = TestPicture.png

  init() throws {
    url = try #require(URL(string: Self.text))
  }

  /// Requests for one image in all that may be different of them.
  private var variants: [ImageRequest] {
    var signed = ImageRequest(url: url)
    signed.headers = ["Authorization": "secret"]
    var partitioned = ImageRequest(url: url)
    partitioned.cachePartition = "a user"
    var named = ImageRequest(url: url)
    named.cacheID = "one"
    return [
      ImageRequest(url: url), ImageRequest(url: url, size: .pixels(8, 8)),
      ImageRequest(url: url, processors: [.custom(id: "a") { $0 }]),
      // The same URL, written in another way.
      ImageRequest(url: "HTTPS://EXAMPLE.org:443/a.png#top"), ImageRequest(.url { _ in Self.text }),
      signed, partitioned, named,
    ]
  }

  @Test
  func aLoadThatPrefersAThumbnailBelongsToItsFile() async throws {
    let pipeline = ImagePipeline.testing(parts)
    let (path, release) = (URL(filePath: "/nowhere/a.png"), Gate())
    let request = ImageRequest(url: path, size: .pixels(8, 8)).preferring {
      _ = release.wait(atMost: .seconds(60))
      return Data()
    }
    let task = pipeline.imageTask(for: request)
    pipeline.cancel(for: path)
    await expectCancelled([task])
    release.open()
  }

  private func expectCancelled(_ tasks: [ImageTask]) async {
    for task in tasks {
      let error = await #expect(throws: LoadError.self) { try await task.image }
      #expect(error?.isCancellation == true)
      #expect(task.state == .cancelled)
    }
  }

  @Test(arguments: [true, false], [true, false])
  func everyTaskOfTheURLEndsAndNoOther(isCoalescing: Bool, isIntercepted: Bool) async throws {
    let pipeline = ImagePipeline.testing(parts) {
      $0.isCoalescingEnabled = isCoalescing
      if isIntercepted { $0.interceptors = [Passes()] }
    }
    let tasks = variants.map { pipeline.imageTask(for: $0) }
    let otherURLs = ["https://example.org/a.png?b", "https://example.org/b.png", "http://example.org/a.png"]
    let others = otherURLs.map { pipeline.imageTask(for: ImageRequest(url: $0)) }

    pipeline.cancel(for: url)

    await expectCancelled(tasks)
    for task in others { #expect(task.state == .running) }
    for url in otherURLs { try await parts.loader.nextLoad(of: url).respond(with: FakeResponse(body: file)) }
    for task in others { #expect(try await task.image.width == 64) }
    pipeline.cancel(for: url)
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func theDownloadIsStoppedAndWhoAsksAfterwardsBeginsANewOne() async throws {
    let pipeline = ImagePipeline.testing(parts)
    let tasks = [8, 16].map { pipeline.imageTask(for: ImageRequest(url: url, size: .pixels($0, $0))) }
    let first = try await parts.loader.nextLoad(of: Self.text)
    pipeline.cancel(for: url)
    await first.wait { $0.isCancelled }
    await expectCancelled(tasks)
    parts.loader.answer(Self.text, with: file)
    #expect(try await pipeline.image(for: url).width == 64)
  }

  /// What the first of several sources is loaded for is more than that source.
  @Test
  func aTaskForSeveralSourcesGoesOn() async throws {
    let pipeline = ImagePipeline.testing(parts)
    let task = pipeline.imageTask(for: ImageRequest(.first(of: [.url(url), .url("https://example.org/b.png")])))
    let alone = pipeline.imageTask(for: url)
    let load = try await parts.loader.nextLoad(of: Self.text)
    pipeline.cancel(for: url)
    await expectCancelled([alone])
    #expect(!load.status.isCancelled)
    load.respond(with: FakeResponse(body: file))
    #expect(try await task.image.width == 64)
  }

  @Test
  func aScopeCancelsItsOwnByURLAndByRequestAlsoWhilePaused() async {
    let pipeline = ImagePipeline.testing(parts)
    let scope = LoadScope(pipeline)
    scope.pause()
    let small = ImageRequest(url: url, size: .pixels(8, 8))
    let (one, two) = (scope.imageTask(for: small), scope.imageTask(for: ImageRequest(url: url)))
    let other = scope.imageTask(for: ImageRequest(url: "https://example.org/b.png"))
    pipeline.cancel(for: small)
    pipeline.cancel(for: url)
    #expect([one, two].map(\.state) == [.running, .running])
    scope.cancel(for: small)
    await expectCancelled([one])
    #expect(two.state == .running)
    scope.cancel(for: url)
    await expectCancelled([two])
    #expect(scope.taskCount == 1)
    #expect(other.state == .running)
    scope.cancelAll()
    scope.resume()
    #expect(parts.loader.counts.loads == 0)
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func whatAnotherHasBegunGoesOn() async throws {
    let pipeline = ImagePipeline.testing(parts)
    let (scope, prefetcher) = (LoadScope(pipeline), ImagePrefetcher(pipeline))
    let request = ImageRequest(url: url)
    let own = pipeline.imageTask(for: request)
    let load = try await parts.loader.nextLoad(of: Self.text)
    let scoped = scope.imageTask(for: request)
    let (viewed, prefetched) = (Watched(0), Watched(0))
    let view = pipeline.startLoading(request, isWatching: false, in: nil) { event in
      if case .finished(.success) = event { viewed.change { $0 += 1 } }
    }
    prefetcher.start([request]) { _, result in
      if case .success = result { prefetched.change { $0 += 1 } }
    }
    pipeline.cancel(for: request)
    pipeline.cancel(for: url)
    await expectCancelled([own])
    #expect(!load.status.isCancelled)
    load.respond(with: FakeResponse(body: file))
    #expect(try await scoped.image.width == 64)
    await viewed.wait { $0 == 1 }
    await prefetched.wait { $0 == 1 }
    withExtendedLifetime(view) {}
  }

  @Test
  func aScopeLeavesThePipelinesOwn() async throws {
    let pipeline = ImagePipeline.testing(parts)
    let scope = LoadScope(pipeline)
    let (own, scoped) = (pipeline.imageTask(for: url), scope.imageTask(for: ImageRequest(url: url)))
    let load = try await parts.loader.nextLoad(of: Self.text)
    scope.cancel(for: url)
    await expectCancelled([scoped])
    load.respond(with: FakeResponse(body: file))
    #expect(try await own.image.width == 64)
  }

  /// Text is taken wherever a URL is.
  @Test
  func aURLMayBeGivenAsText() async throws {
    let pipeline = ImagePipeline.testing(parts)
    let tasks = [pipeline.imageTask(for: Self.text), pipeline.imageTask(for: url)]
    let bytes = pipeline.dataTask(for: Self.text)
    pipeline.cancel(for: Self.text)
    await expectCancelled(tasks)
    await #expect(throws: LoadError.self) { try await bytes.data }
    parts.loader.answer(Self.text, with: file)
    #expect(try await pipeline.image(for: Self.text).width == 64)
    #expect(try await pipeline.image(for: "https://example.org/a.png").width == 64)
    #expect(pipeline.cache[Self.text]?.width == 64)
    #expect(await pipeline.cache.contains(Self.text))
    await pipeline.cache.remove(Self.text)
    #expect(await !pipeline.cache.contains(url))
    let error = await #expect(throws: LoadError.self) { try await pipeline.image(for: "no URL") }
    #expect(error?.code == .invalidURL)
  }

  @Test
  func withADelegateTheURLCountsThatItHasBecome() async {
    let pipeline = ImagePipeline.testing(parts) { $0.delegate = Mirror() }
    let tasks = variants.map { pipeline.imageTask(for: $0) }
    pipeline.cancel(for: url)
    // What went to the mirror is of another URL now.
    let moved = tasks.filter { $0.request.size != nil }
    await expectCancelled(tasks.filter { $0.request.size == nil })
    for task in moved { #expect(task.state == .running) }
    if let mirror = URL(string: "https://mirror.example.org/a.png") { pipeline.cancel(for: mirror) }
    await expectCancelled(moved)
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func aFileAndADataURLAreFoundToo() async throws {
    let gate = GatedSource()
    let pipeline = ImagePipeline.testing(parts) { $0.interceptors = [Waits(gate: gate)] }
    let urls = try [
      #require(URL(string: "file:///nowhere/a.png")), #require(URL(string: "data:image/png;base64,AAAA")),
    ]
    let tasks = urls.map { pipeline.imageTask(for: ImageRequest(url: $0, size: .pixels(8, 8))) }
    await gate.hasBegun()
    pipeline.cancel(for: urls[0])
    #expect(tasks.map(\.state) == [.cancelled, .running])
    pipeline.cancel(for: urls[1])
    await expectCancelled(tasks)
    gate.open(Data())
  }

  private struct Waits: ImageInterceptor {
    let gate: GatedSource

    func image(for request: ImageRequest, next: InterceptorChain) async throws -> ImageResponse {
      try await next(ImageRequest(gate.source))
    }
  }

  /// A completion that is told of the end may load and cancel in turn.
  @Test
  func aCompletionMayCancelAndLoadTheSameURL() async throws {
    let pipeline = ImagePipeline.testing(parts)
    let (url, again) = (url, Watched<[ImageTask]>([]))
    for size in [8.0, 16] {
      pipeline.loadImage(for: ImageRequest(url: url, size: .pixels(size, size))) { _ in
        pipeline.cancel(for: url)
        let task = pipeline.imageTask(for: ImageRequest(url: url, size: .pixels(32, 32)))
        again.change { $0.append(task) }
      }
    }
    pipeline.cancel(for: url)
    #expect(again.value.count == 2)
    pipeline.cancel(for: url)
    await expectCancelled(again.value)
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func whatIsCancelledWhileItBeginsAndEndsLeavesNothingBehind() async throws {
    let pipeline = ImagePipeline.testing(parts)
    parts.loader.answer(Self.text, with: file)
    let url = url
    await withTaskGroup { group in
      for index in 0..<400 {
        group.addTask {
          let size = TargetSize.pixels(Double(8 + index % 10), 8)
          _ = try? await pipeline.imageTask(for: ImageRequest(url: url, size: size)).image
        }
        if index.isMultiple(of: 7) { group.addTask { pipeline.cancel(for: url) } }
      }
    }
    #expect(pipeline.loadCount == 0)
  }
}
