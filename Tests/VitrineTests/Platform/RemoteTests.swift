import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@Suite(.patient)
struct RemoteTests {
  private let server: LoopbackServer
  private let file = TestPicture.png
  private let disk = CountingDataCache()
  private let clock = ManualClock()
  private let loader = PatientLoader()

  init() throws {
    server = try LoopbackServer()
  }

  /// A pipeline as after a start of the program: nothing in memory, the disk as it was.
  private func makePipeline() -> ImagePipeline {
    ImagePipeline(.ephemeral) {
      $0.memoryCache = MemoryCache(costLimit: 10 << 20)
      $0.diskCache = disk
      $0.loader = loader
      $0.clock = clock
      $0.retryPolicy = .never
    }
  }

  private func response(_ body: Data? = nil, maxAge: Int = 60, tag: String? = nil) -> LoopbackResponse {
    var response = LoopbackResponse(headers: ["Cache-Control": "max-age=\(maxAge)"], body: body ?? file)
    response.entityTag = tag
    return response
  }

  @Test
  func afterARestartItComesFromDiskWithoutARequest() async throws {
    server.route("/a.png", response())
    let request = ImageRequest(url: server.url("/a.png"))
    #expect(try await makePipeline().imageTask(for: request).response.origin == .network)
    await disk.wait(forWrites: 1)

    let again = try await makePipeline().imageTask(for: request).response

    #expect(again.origin == .disk)
    #expect(again.isStale == false)
    #expect(again.status == 200)
    #expect(server.counts.requests == 1)
  }

  @Test
  func whatIsStaleAndUnchangedIsRevalidatedAndFreshAgain() async throws {
    server.route("/a.png", response(tag: "\"one\""))
    let request = ImageRequest(url: server.url("/a.png"))
    _ = try await makePipeline().image(for: request)
    await disk.wait(forWrites: 1)

    clock.advance(by: .seconds(61))
    #expect(try await makePipeline().imageTask(for: request).response.origin == .revalidated)
    #expect(server.requests.last?["If-None-Match"] == "\"one\"")
    #expect(server.counts.requests == 2)
  }

  @Test
  func withTheServerDownWhatIsStaleIsServedAndSaysSo() async throws {
    server.route("/a.png", response())
    let request = ImageRequest(url: server.url("/a.png"))
    _ = try await makePipeline().image(for: request)
    await disk.wait(forWrites: 1)
    clock.advance(by: .seconds(3600))
    server.stop()

    let response = try await makePipeline().imageTask(for: request).response

    #expect(response.origin == .disk)
    #expect(response.isStale)
  }

  @Test
  func anErrorStatusIsAnErrorWithItsNumberAndIsNotStored() async {
    server.route("/a.png", LoopbackResponse(status: 404, body: file))
    let error = await #expect(throws: LoadError.self) {
      try await makePipeline().image(for: ImageRequest(url: server.url("/a.png")))
    }
    #expect(error?.code == .badStatus)
    #expect(error?.status == 404)
    #expect(error?.source == server.url("/a.png"))
    #expect(disk.counts.writes == 0)
  }

  @Test
  func aPageWithStatus200IsADecodeErrorAndIsNotStored() async {
    server.route("/a.png", response(Data("<html>".utf8)))
    let pipeline = makePipeline()
    let error = await #expect(throws: LoadError.self) {
      try await pipeline.image(for: ImageRequest(url: server.url("/a.png")))
    }
    #expect(error?.stage == .decode)
    #expect(disk.counts.writes == 0)
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func storedBytesThatDoNotDecodeAreDroppedAndFetchedAgain() async throws {
    server.route("/a.png", response())
    let request = ImageRequest(url: server.url("/a.png"))
    _ = try await makePipeline().image(for: request)
    await disk.wait(forWrites: 1)
    disk.damage(with: Data("rubbish".utf8))

    let response = try await makePipeline().imageTask(for: request).response

    #expect(response.origin == .network)
    #expect(server.counts.requests == 2)
  }

  @Test
  func cancellingTheOnlyCallerClosesTheConnection() async {
    server.route("/a.png") { $0.waitForDisconnect() }
    let pipeline = makePipeline()
    let task = pipeline.imageTask(for: ImageRequest(url: server.url("/a.png")))
    await server.wait(forRequests: 1)
    task.cancel()
    await server.wait { $0.openConnections == 0 }
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func bytesOfAnyKindComeThroughTheSameCaches() async throws {
    server.route("/a.txt", response(Data("text".utf8)))
    let request = ImageRequest(url: server.url("/a.txt"))
    #expect(try await makePipeline().data(for: request) == Data("text".utf8))
    await disk.wait(forWrites: 1)
    #expect(try await makePipeline().data(for: request) == Data("text".utf8))
    #expect(server.counts.requests == 1)
  }

  @Test
  func afterARestartTheRealDiskBringsItBackWithoutARequest() async throws {
    // By the time of the machine, which may be a slow one.
    server.route("/a.png", response(maxAge: 86_400))
    let folder = try TemporaryFolder()
    let request = ImageRequest(url: server.url("/a.png"), size: .pixels(32, 32))
    for origin in [ImageResponse.Origin.network, .disk, .disk] {
      let cache = try folder.cache(sizeLimit: 4 << 20)
      let pipeline = ImagePipeline(.ephemeral) { [loader] in
        $0.diskCache = cache
        $0.loader = loader
      }
      let response = try await pipeline.imageTask(for: request).response
      #expect(response.origin == origin)
      #expect(response.image.width == 32)
      // What is decoded is stored a moment later.
      try await until { await cache.statistics().entries != 0 }
      await cache.flush()
      await cache.close()
    }
    #expect(server.counts.requests == 1)
  }
}
