import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// What is left of downloads that break off, where a request says what the disk is for.
@Suite(.patient)
struct PartialUseTests {
  private let parts = PipelineParts()
  private let url = "https://example.org/a.png"
  /// 720,000 bytes of noise.
  private let file: Data

  init() throws {
    file = try Bitmap.noise(width: 500, height: 480, seed: 1).encoded(as: .png)
  }

  private func request(_ caches: CacheAccess) -> ImageRequest {
    var request = ImageRequest(url: url)
    request.cacheAccess = caches
    return request
  }

  private func head(tag: String = "a", from start: Int = 0) -> HTTPFields {
    var head: HTTPFields = ["ETag": "\"\(tag)\"", "Cache-Control": "max-age=60"]
    head["Content-Length"] = "\(file.count - start)"
    if start > 0 { head["Content-Range"] = "bytes \(start)-\(file.count - 1)/\(file.count)" }
    return head
  }

  /// Runs a test over a disk cache of its own.
  private func withCache(_ body: (ImagePipeline, DiskCache) async throws -> Void) async throws {
    let folder = try TemporaryFolder()
    let cache = try folder.cache(parts.clock)
    try await body(ImagePipeline.testing(parts) { $0.diskCache = cache }, cache)
    await cache.close()
  }

  /// Breaks a download off after 600,000 bytes.
  private func leave(
    _ caches: CacheAccess,
    in pipeline: ImagePipeline,
    because code: HTTPError.Code = .connectionLost,
  ) async throws {
    let task = pipeline.imageTask(for: request(caches))
    let load = try await parts.loader.nextLoad(of: url)
    load.respond(headers: head())
    for start in stride(from: 0, to: 600_000, by: 100_000) { load.send(file[start..<start + 100_000]) }
    load.fail(code)
    await #expect(throws: LoadError.self) { try await task.image }
    await pipeline.cache.flush()
  }

  @Test(arguments: [CacheAccess.all, .memory, .disk, .diskReads, .diskWrites, .none])
  func theBeginningIsLeftOnlyWhereItMayBe(caches: CacheAccess) async throws {
    try await withCache { pipeline, cache in
      try await leave(caches, in: pipeline)
      #expect(await cache.statistics().partials == (caches.contains(.diskWrites) ? 1 : 0))
    }
  }

  @Test
  func ofABodyThatIsTooLargeNothingIsLeft() async throws {
    try await withCache { pipeline, cache in
      try await leave(.all, in: pipeline, because: .tooLarge)
      #expect(await cache.statistics().partials == 0)
    }
  }

  @Test
  func ofABodyThatIsNoImageNothingIsLeft() async throws {
    try await withCache { pipeline, cache in
      let task = pipeline.imageTask(for: request(.all))
      let load = try await parts.loader.nextLoad(of: url)
      load.respond(headers: head())
      load.send(Data(count: file.count))
      load.finish()
      await #expect(throws: LoadError.self) { try await task.image }
      await pipeline.cache.flush()
      #expect(await cache.statistics().originals == 0)
      // Nor is it there for as long as its loader holds on to the load.
      let files = try FileManager.default.contentsOfDirectory(atPath: cache.directory.path)
      #expect(files.filter { $0.hasSuffix("partial") } == [])
      #expect(load.status.isEnded)
    }
  }

  @Test
  func aBeginningThatItsServerDoesNotGoOnFromIsGone() async throws {
    try await withCache { pipeline, cache in
      try await leave(.all, in: pipeline)
      let task = pipeline.imageTask(for: request(.all))
      let load = try await parts.loader.nextLoad(of: url)
      #expect(load.request.headers["Range"] == "bytes=600000-")
      load.respond(status: 416)
      load.finish()
      let again = try await parts.loader.nextLoad(of: url)
      #expect(again.request.headers["Range"] == nil)
      again.fail(.connectionLost)
      await #expect(throws: LoadError.self) { try await task.image }
      await pipeline.cache.flush()
      // Else each load would be refused once before it is answered.
      #expect(await cache.statistics().partials == 0)
    }
  }

  @Test(arguments: [CacheAccess.memory, .diskWrites, .none])
  func whoDoesNotLookOnDiskFetchesTheWhole(caches: CacheAccess) async throws {
    try await withCache { pipeline, cache in
      try await leave(.all, in: pipeline)
      #expect(await pipeline.explain(request(caches)).transfer == .full)
      let task = pipeline.imageTask(for: request(caches))
      let load = try await parts.loader.nextLoad(of: url)
      #expect(load.request.headers["Range"] == nil)
      #expect(load.request.headers["If-Range"] == nil)
      load.respond(with: FakeResponse(headers: head(), body: file))
      #expect(try await task.image.width == 500)
      await pipeline.cache.flush()
      let statistics = await cache.statistics()
      let isKept = caches.contains(.diskWrites)
      #expect(statistics.originals == (isKept ? 1 : 0))
      #expect(statistics.partials == (isKept ? 0 : 1))
    }
  }

  @Test
  func whoAsksForAPartOfItsOwnGetsThat() async throws {
    try await withCache { pipeline, cache in
      try await leave(.all, in: pipeline)
      var request = request(.all)
      request.headers["Range"] = "bytes=0-99"
      let task = pipeline.imageTask(for: request)
      let load = try await parts.loader.nextLoad(of: url)
      #expect(load.request.headers["Range"] == "bytes=0-99")
      #expect(load.request.headers["If-Range"] == nil)
      load.fail(.connectionLost)
      await #expect(throws: LoadError.self) { try await task.image }
      await pipeline.cache.flush()
      #expect(await cache.statistics().partials == 1)
    }
  }

  @Test
  func whoKeepsNothingGoesOnFromABeginningAndLeavesIt() async throws {
    try await withCache { pipeline, cache in
      try await leave(.all, in: pipeline)
      let task = pipeline.imageTask(for: request(.diskReads))
      let load = try await parts.loader.nextLoad(of: url)
      #expect(load.request.headers["Range"] == "bytes=600000-")
      load.respond(status: 206, headers: head(from: 600_000))
      load.send(file.dropFirst(600_000))
      load.finish()
      let image = try await task.image
      #expect(image.largestDifference(from: try Bitmap(decoding: file)) == 0)
      await pipeline.cache.flush()
      #expect(await cache.statistics().originals == 0)
      #expect(await cache.statistics().partials == 1)
    }
  }

  @Test
  func aBeginningOfSomethingElseIsRemovedAllTheSame() async throws {
    try await withCache { pipeline, cache in
      try await leave(.all, in: pipeline)
      let task = pipeline.imageTask(for: request(.diskReads))
      let load = try await parts.loader.nextLoad(of: url)
      load.respond(with: FakeResponse(headers: head(tag: "b"), body: file))
      #expect(try await task.image.width == 500)
      await pipeline.cache.flush()
      #expect(await cache.statistics().originals == 0)
      #expect(await cache.statistics().partials == 0)
    }
  }
}
