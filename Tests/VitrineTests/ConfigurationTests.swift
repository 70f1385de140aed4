import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Pipelines made of configurations, and the one that a program shares.
struct ConfigurationTests {
  @Test
  func aPipelineNeedsNoSetUp() async throws {
    let pipeline = ImagePipeline(.ephemeral)
    #expect(pipeline.configuration.memoryCache != nil)
    let file = try Bitmap.testPattern(width: 8, height: 8).encoded(as: .png)
    #expect(try await pipeline.image(for: ImageRequest(.data(file, id: "a"))).width == 8)
  }

  @Test
  func aDerivedPipelineSharesCachesAndHasItsOwnSettings() async throws {
    let parts = PipelineParts()
    let file = try Bitmap.testPattern(width: 8, height: 8).encoded(as: .png)
    parts.loader.answer("https://example.org/a.png", with: file, headers: ["Cache-Control": "max-age=60"])
    let pipeline = ImagePipeline.testing(parts)
    _ = try await pipeline.image(for: "https://example.org/a.png")

    var configuration = pipeline.configuration
    configuration.maxConcurrentDecodes += 1
    let derived = ImagePipeline(configuration)

    #expect(derived.cachedImage(for: "https://example.org/a.png") != nil)
    #expect(derived.configuration.maxConcurrentDecodes == pipeline.configuration.maxConcurrentDecodes + 1)
  }

  @Test
  func theSharedPipelineMayBeSetAtAnyTime() async {
    await #expect(processExitsWith: .success) {
      // Where no folder can be made, so that no disk cache is.
      unsafe setenv("XDG_CACHE_HOME", "/proc/none", 1)
      let first = ImagePipeline.shared
      precondition(ImagePipeline.shared === first)
      for pipeline in [ImagePipeline(), ImagePipeline(.ephemeral), first] {
        ImagePipeline.shared = pipeline
        precondition(ImagePipeline.shared === pipeline)
      }
    }
  }

  @Test
  func theSharedPipelineMayBeSetBeforeItsFirstUse() async {
    await #expect(processExitsWith: .success) {
      let pipeline = ImagePipeline(.ephemeral)
      ImagePipeline.shared = pipeline
      precondition(ImagePipeline.shared === pipeline)
    }
  }

  @Test
  func aReplacedSharedPipelineFinishesItsLoads() async {
    await #expect(processExitsWith: .success) {
      let file = try Bitmap.testPattern(width: 8, height: 8).encoded(as: .png)
      let (isReplaced, replace) = AsyncStream<Void>.makeStream()
      ImagePipeline.shared = ImagePipeline(.ephemeral)
      let source = ImageSource.closure(id: "a") {
        for await _ in isReplaced {}
        return file
      }
      let task = ImagePipeline.shared.imageTask(for: ImageRequest(source))
      ImagePipeline.shared = ImagePipeline(.ephemeral)
      replace.finish()
      let image = try await task.image
      precondition(image.width == 8)
      precondition(ImagePipeline.shared.cachedImage(for: ImageRequest(source)) == nil)
    }
  }

  @Test
  func pipelinesHaveTheDiskCacheOfTheSharedOneUnlessTheyAreEphemeral() async {
    await #expect(processExitsWith: .success) {
      let folder = FileManager.default.temporaryDirectory.appending(path: "vitrine-\(UUID().uuidString)")
      unsafe setenv("XDG_CACHE_HOME", folder.path, 1)
      defer { try? FileManager.default.removeItem(at: folder) }
      // Nothing is opened for a pipeline without it.
      let parts = ImagePipeline { $0.diskCache = nil }
      precondition(parts.configuration.diskCache == nil)
      precondition(ImagePipeline.ephemeral.configuration.diskCache == nil)
      precondition(!FileManager.default.fileExists(atPath: folder.path))
      let shared = ImagePipeline.shared.configuration.diskCache as? DiskCache
      precondition(shared != nil)
      precondition(ImagePipeline().configuration.diskCache as? DiskCache === shared)
      precondition(ImagePipeline { $0.maxConcurrentDecodes = 1 }.configuration.diskCache as? DiskCache === shared)
      let memory = ImagePipeline.shared.configuration.memoryCache
      let derived = ImagePipeline(.shared) { $0.retryPolicy = .never }.configuration
      precondition(derived.diskCache as? DiskCache === shared && derived.memoryCache === memory)
      precondition(ImagePipeline().configuration.memoryCache !== memory)
    }
  }

  @Test
  func onePipelineStoresWhatAnotherOverTheSameFolderReads() async throws {
    let folder = try TemporaryFolder()
    let writing = try folder.cache()
    let lines = Watched<[String]>([])
    let parts = PipelineParts()
    func pipeline(_ disk: DiskCache) -> ImagePipeline {
      ImagePipeline(.ephemeral) {
        ($0.diskCache, $0.loader, $0.memoryPressure) = (disk, parts.loader, nil)
        $0.log = { entry in
          if entry.level >= .warning { lines.change { $0.append("\(entry)") } }
        }
      }
    }
    let file = try Bitmap.testPattern(width: 8, height: 8).encoded(as: .png)
    parts.loader.answer("*", with: file, headers: ["Cache-Control": "max-age=60"])
    let first = pipeline(writing)
    _ = try await first.image(for: "https://example.invalid/a.png")
    await first.cache.flush()
    await first.flushEvents()
    #expect(lines.value.isEmpty)
    // The folder is read when the second cache opens.
    let second = pipeline(try folder.cache())
    _ = try await second.image(for: "https://example.invalid/a.png")
    _ = try await second.image(for: "https://example.invalid/b.png")
    await second.cache.flush()
    await second.flushEvents()
    #expect(parts.loader.counts.loads == 2)
    #expect(lines.value.count == 1 && lines.value.first?.contains("writes to this folder") == true, "\(lines.value)")
    withExtendedLifetime(writing) {}
  }

  @Test(arguments: [(1, 1), (0, 1), (3, 3)])
  func aPipelineMayHaveAConnectionLimitOfItsOwn(limit: Int, expected: Int) async throws {
    let (server, file) = (try LoopbackServer(), try Bitmap.testPattern(width: 8, height: 8).encoded(as: .png))
    let gate = server.makeGate()
    server.route("/a.png") { exchange in
      gate.wait()
      exchange.respond(LoopbackResponse(body: file))
    }
    let pipeline = ImagePipeline(.ephemeral) { ($0.connectionLimitPerHost, $0.memoryPressure) = (limit, nil) }
    let tasks = (0..<4).map { pipeline.imageTask(for: server.url("/a.png?\($0)")) }
    await server.wait(forRequests: expected)
    gate.open()
    for task in tasks { _ = try await task.image }
    #expect(server.counts.mostRunning == expected)
  }
}
