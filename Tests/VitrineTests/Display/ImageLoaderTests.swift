import Observation
import Testing
import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// State that views bind to.
@MainActor
@Suite(.patient)
struct ImageLoaderTests {
  private let parts = PipelineParts()
  private let pipeline: ImagePipeline
  private let file = TestPicture.png
  private let delivered = AsyncStream<Void>.makeStream()
  private let mailbox: FrameMailbox

  init() {
    pipeline = .testing(parts)
    mailbox = FrameMailbox { [delivered] mailbox in
      Task { @MainActor in
        mailbox.deliver()
        delivered.continuation.yield()
      }
    }
  }

  private func request(_ name: String) -> ImageRequest {
    ImageRequest(url: "https://example.org/\(name)", size: .pixels(16, 16))
  }

  private func serve(_ name: String, _ response: FakeResponse? = nil) {
    let response = response ?? FakeResponse(headers: ["Cache-Control": "max-age=60"], body: file)
    parts.loader.answer("https://example.org/\(name)", response)
  }

  private func settles(_ loader: ImageLoader) async {
    while case .loading = loader.phase {
      for await _ in delivered.stream { break }
    }
  }

  @Test
  func aLoadThatItsScopeCancelsIsNoFailure() async throws {
    let scope = LoadScope(pipeline)
    let loader = ImageLoader(in: scope, mailbox: mailbox)
    loader.load(request("never"))
    guard case .loading = loader.phase else { throw Unexpected() }
    scope.cancel(for: "https://example.org/never")
    await settles(loader)
    guard case .empty = loader.phase else { throw Unexpected() }
  }

  @Test
  func aReloadKeepsTheImageUntilTheNewOneComesOrAnErrorIsReported() async throws {
    serve("a")
    let loader = ImageLoader(pipeline, mailbox: mailbox)
    loader.load(request("a"))
    await settles(loader)
    let first = try #require(loader.image)
    // A prepared response could arrive before `reload()` returns.
    parts.loader.removeAnswer("https://example.org/a")
    _ = try await parts.loader.nextLoad(of: "https://example.org/a")
    loader.reload()
    guard case .loading = loader.phase, loader.image?.isSamePixels(as: first) == true else { throw Unexpected() }
    try await parts.loader.nextLoad(of: "https://example.org/a").respond(with: FakeResponse(status: 404))
    await settles(loader)
    guard case .failure(let error) = loader.phase, error.status == 404, loader.image != nil else { throw Unexpected() }
    serve("a")
    loader.retry()
    await settles(loader)
    guard case .success = loader.phase else { throw Unexpected() }
    #expect(parts.loader.counts.loads == 3)
  }

  @Test
  func itGoesFromNothingOverLoadingToTheImageAndTellsItsObservers() async throws {
    serve("a")
    let loader = ImageLoader(pipeline, mailbox: mailbox)
    let changes = Watched(0)
    withObservationTracking {
      _ = loader.phase
    } onChange: {
      changes.change { $0 += 1 }
    }
    guard case .empty = loader.phase else { throw Unexpected() }

    loader.load(request("a"))
    #expect(changes.value == 1)

    await settles(loader)
    guard case .success(let response) = loader.phase else { throw Unexpected() }
    #expect(response.origin == .network)
    #expect(loader.image?.width == 16)
    #expect(loader.progress == nil)
  }

  @Test
  func whatIsInMemoryIsThereAtOnceAndTheSameRequestChangesNothing() async throws {
    serve("a")
    _ = try await pipeline.image(for: request("a"))
    let loader = ImageLoader(pipeline, mailbox: mailbox)
    loader.load(request("a"))
    #expect(loader.image?.width == 16)
    loader.load(request("a"))
    guard case .success(let response) = loader.phase else { throw Unexpected() }
    #expect(response.origin == .memory)
    loader.load(nil as ImageRequest?)
    guard case .empty = loader.phase else { throw Unexpected() }
    #expect(loader.image == nil)
  }

  @Test
  func aFailureIsAPhase() async throws {
    serve("a", FakeResponse(status: 404))
    let loader = ImageLoader(pipeline, mailbox: mailbox)
    loader.load(request("a"))
    await settles(loader)
    guard case .failure(let error) = loader.phase else { throw Unexpected() }
    #expect(error.status == 404)
    // Asked for again it is tried again.
    serve("a")
    loader.load(request("a"))
    await settles(loader)
    #expect(loader.image?.width == 16)
  }

  @Test
  func anImageCanStayUntilTheNextOneIsThere() async throws {
    serve("a")
    let loader = ImageLoader(pipeline, mailbox: mailbox)
    loader.keepsImage = true
    loader.load(request("a"))
    await settles(loader)
    loader.load(request("b"))
    guard case .loading = loader.phase else { throw Unexpected() }
    #expect(loader.image?.width == 16)
    try await parts.loader.nextLoad(of: "https://example.org/b").respond(with: FakeResponse(status: 500))
    await settles(loader)
    #expect(loader.image?.width == 16)
    guard case .failure = loader.phase else { throw Unexpected() }
  }

  @Test
  func anEarlierAnswerNeverTakesThePlaceOfALaterOne() async throws {
    let loader = ImageLoader(pipeline, mailbox: mailbox)
    loader.load(request("a"))
    let first = try await parts.loader.nextLoad(of: "https://example.org/a")
    serve("b", FakeResponse(status: 410))
    loader.load(request("b"))
    first.respond(with: FakeResponse(body: file))
    await settles(loader)
    guard case .failure(let error) = loader.phase else { throw Unexpected() }
    #expect(error.status == 410)
    #expect(loader.image == nil)
  }

  @Test
  func cancelledOrReleasedItStopsTheLoad() async throws {
    var loader: ImageLoader? = ImageLoader(pipeline, mailbox: mailbox)
    loader?.load(request("a"))
    let first = try await parts.loader.nextLoad(of: "https://example.org/a")
    loader?.cancel()
    await first.wait { $0.isCancelled }
    guard case .empty? = loader?.phase else { throw Unexpected() }

    loader?.load(request("a"))
    let second = try await parts.loader.nextLoad(of: "https://example.org/a")
    loader = nil
    await second.wait { $0.isCancelled }
    #expect(pipeline.loadCount == 0)
  }
}
