import Testing
import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTesting

/// Callers without `await`, and what goes on when they leave.
@Suite(.timeLimit(.minutes(20)))
struct CallerTests {
  private static let url = "https://example.org/a.png"
  private let parts = PipelineParts()
  private let decoder = CountingDecoder()
  private let pipeline: ImagePipeline
  private let file: Data
  private var request = ImageRequest(url: url, size: .pixels(16, 16))

  init() throws {
    file = try Bitmap.testPattern(width: 64, height: 48).encoded(as: .png)
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

  @Test
  func cancelledByRequestEveryTaskOfItEndsAndNoOther() async throws {
    let tasks = (0..<3).map { _ in pipeline.imageTask(for: request) }
    let other = pipeline.imageTask(for: ImageRequest(url: Self.url, size: .pixels(8, 8)))
    let load = try await load()

    pipeline.cancel(for: request)

    for task in tasks {
      let error = await #expect(throws: LoadError.self) { try await task.image }
      #expect(error?.isCancellation == true)
    }
    #expect(!load.status.isCancelled)
    load.respond(with: FakeResponse(body: file))
    #expect(try await other.image.width == 8)
    pipeline.cancel(for: request)
    #expect(pipeline.jobCount == 0)
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
    #expect(pipeline.jobCount == 0)
    #expect(try await pipeline.imageTask(for: request).response.origin == .disk)
  }

  @Test
  func otherwiseItIsCancelled() async throws {
    let task = pipeline.imageTask(for: request)
    let load = try await load()
    task.cancel()
    await load.wait { $0.isCancelled }
    #expect(pipeline.jobCount == 0)
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
    #expect(pipeline.jobCount == 0)
  }
}
