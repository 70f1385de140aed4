import Testing
import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Callers without `await`, and what goes on when they leave.
@Suite(.patient)
struct CallerTests {
  private static let url = "https://example.org/a.png"
  private let parts = PipelineParts()
  private let decoder = CountingDecoder()
  private let pipeline: ImagePipeline
  private let file = TestPicture.png
  private var request = ImageRequest(url: url, size: .pixels(16, 16))

  init() throws {
    pipeline = .testing(parts) { [decoder] in $0.decoders = DecoderRegistry([decoder]) }
  }

  private func load() async throws -> FakeLoad { try await parts.loader.nextLoad(of: Self.url) }

  // MARK: Callbacks

  @Test
  func anImageIsCalledBackOnceAndAtOnceWhenItIsInMemory() async throws {
    let results = Watched<[Result<ImageResponse, LoadError>]>([])
    parts.loader.answer(Self.url, with: file, headers: ["Cache-Control": "max-age=60"])
    pipeline.loadImage(for: request) { result in results.change { $0.append(result) } }
    await results.wait { $0.count == 1 }
    #expect(try results.value[0].get().origin == .network)

    pipeline.loadImage(for: request) { result in results.change { $0.append(result) } }
    #expect(results.value.count == 2)
    #expect(try results.value[1].get().origin == .memory)
  }

  @Test
  func aFailureAndACancellationAreCalledBackToo() async throws {
    let results = Watched<[LoadError.Code]>([])
    let note: @Sendable (Result<ImageResponse, LoadError>) -> Void = { result in
      if case .failure(let error) = result { results.change { $0.append(error.code) } }
    }
    let task = pipeline.loadImage(for: request, completion: note)
    task.cancel()
    #expect(results.value == [.cancelled])

    pipeline.loadImage(for: ImageRequest(url: "no address"), completion: note)
    await results.wait { $0.count == 2 }
    #expect(results.value == [.cancelled, .invalidURL])
  }

  // MARK: On an actor

  @MainActor
  private final class Results {
    var all: [Result<ImageResponse, LoadError>] = []
    private let came = Watched(0)

    func add(_ result: Result<ImageResponse, LoadError>) {
      all.append(result)
      came.change { $0 += 1 }
    }

    func wait(for count: Int) async { await came.wait { $0 >= count } }
  }

  @Test
  @MainActor
  func aCompletionOnTheMainActorIsCalledThereOnceTheImageHasCome() async throws {
    let results = Results()
    let task = pipeline.loadImage(for: request, on: MainActor.shared) { results.add($0) }
    try await load().respond(with: FakeResponse(headers: ["Cache-Control": "max-age=60"], body: file))
    // However long it has been there, it is told when the main actor is free.
    _ = try await task.image
    await results.wait(for: 1)
    #expect(try results.all[0].get().origin == .network)

    pipeline.loadImage(for: request, on: MainActor.shared) { results.add($0) }
    #expect(try results.all.last?.get().origin == .memory)
    #expect(results.all.count == 2)
  }

  @Test
  @MainActor
  func aCancellationIsToldOnTheMainActorAfterTheCall() async {
    let results = Results()
    let task = pipeline.loadImage(for: request, on: MainActor.shared) { results.add($0) }
    task.cancel()
    #expect(results.all.isEmpty)
    await results.wait(for: 1)
    #expect(results.all.map { result in (try? result.get()) == nil } == [true])
  }

  /// An actor whose state is not `Sendable`, and which its completions change.
  private actor Album {
    private let results = Watched(0)
    private var origins: [ImageResponse.Origin] = []

    func add(_ request: ImageRequest, from pipeline: ImagePipeline) -> Int {
      pipeline.loadImage(for: request, on: self) { [self] result in
        assertIsolated()
        origins += (try? [result.get().origin]) ?? []
        results.change { $0 += 1 }
      }
      return origins.count
    }

    func wait(for count: Int) async -> [ImageResponse.Origin] {
      await results.wait { $0 >= count }
      return origins
    }
  }

  @Test
  func aCompletionRunsOnTheActorOfItsCaller() async throws {
    parts.loader.answer(Self.url, with: file, headers: ["Cache-Control": "max-age=60"])
    let album = Album()
    #expect(await album.add(request, from: pipeline) == 0)
    #expect(await album.wait(for: 1) == [.network])
    // An image in memory has come when the call returns.
    #expect(await album.add(request, from: pipeline) == 2)
    #expect(await album.wait(for: 2) == [.network, .memory])
  }

  // MARK: By request

  @Test
  func cancelledByRequestEveryTaskOfItEndsAndNoOther() async throws {
    // The other one first: it must have the load before those that are cancelled leave it.
    let other = pipeline.imageTask(for: ImageRequest(url: Self.url, size: .pixels(8, 8)))
    let load = try await load()
    let tasks = (0..<3).map { _ in pipeline.imageTask(for: request) }

    pipeline.cancel(for: request)

    for task in tasks {
      let error = await #expect(throws: LoadError.self) { try await task.image }
      #expect(error?.isCancellation == true)
    }
    #expect(!load.status.isCancelled)
    load.respond(with: FakeResponse(body: file))
    #expect(try await other.image.width == 8)
    pipeline.cancel(for: request)
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func cancelledByRequestItCanBeAskedForAgain() async throws {
    let task = pipeline.imageTask(for: request)
    let first = try await load()
    pipeline.cancel(for: request)
    await first.wait { $0.isCancelled }
    parts.loader.answer(Self.url, with: file)
    #expect(try await pipeline.image(for: request).width == 16)
    await #expect(throws: LoadError.self) { try await task.image }
  }

  // MARK: Downloads that go on

  @Test
  func aDownloadGoesOnBehindEverythingWhenSoAsked() async throws {
    var request = request
    request.priority = .high
    request.continuesDownload = true
    let task = pipeline.imageTask(for: request)
    let load = try await load()
    load.respond(headers: ["Cache-Control": "max-age=60", "Content-Length": "\(file.count)"])
    load.send(file.prefix(100))

    task.cancel()

    await #expect(throws: LoadError.self) { try await task.image }
    await load.wait { $0.priority == .veryLow }
    #expect(!load.status.isCancelled)
    load.send(file.dropFirst(100))
    load.finish()
    await pipeline.cache.flush()
    #expect(decoder.decodes.count == 0)
    #expect(pipeline.loadCount == 0)
    #expect(try await pipeline.imageTask(for: request).response.origin == .disk)
  }

  @Test
  func otherwiseItIsCancelled() async throws {
    let task = pipeline.imageTask(for: request)
    let load = try await load()
    task.cancel()
    await load.wait { $0.isCancelled }
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func whatGoesOnAndIsNoImageIsNotKept() async throws {
    var request = request
    request.continuesDownload = true
    let task = pipeline.imageTask(for: request)
    let load = try await load()
    task.cancel()
    load.respond(with: FakeResponse(body: Data("<html>".utf8)))
    await pipeline.cache.flush()
    #expect(parts.diskCache.counts.writes == 0)
    #expect(pipeline.loadCount == 0)
  }
}
