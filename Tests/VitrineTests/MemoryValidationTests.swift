import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// Stale images in memory whose bytes are stored nowhere.
@Suite(.patient)
struct MemoryValidationTests {
  private static let url = "https://example.invalid/0"

  /// The reason why a request's bytes are not on disk.
  enum Missing: CaseIterable { case noDisk, notForTheRequest }

  private let loader = FakeLoader()
  private let clock = ManualClock()
  private let decoder = CountingDecoder()

  private func pipeline(_ missing: Missing = .noDisk) -> ImagePipeline {
    ImagePipeline(.ephemeral) {
      ($0.loader, $0.clock, $0.memoryPressure) = (loader, clock, nil)
      $0.memoryCache = MemoryCache(costLimit: 10 << 20)
      $0.decoders = DecoderRegistry([decoder])
      if missing == .notForTheRequest { $0.diskCache = CountingDataCache() }
    }
  }

  private func request(_ missing: Missing = .noDisk, side: Double? = nil) -> ImageRequest {
    var request = ImageRequest(url: Self.url, size: side.map { .pixels($0, $0) })
    if missing == .notForTheRequest { request.cacheAccess = .memory }
    return request
  }

  private func answer(_ load: FakeLoad, _ version: Int, _ headers: HTTPFields = [:]) {
    var fields: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"\(version)\""]
    for field in headers { fields[field.name] = field.value }
    load.respond(headers: fields)
    load.send(Pictures.file(0, version))
    load.finish()
  }

  private func load(_ request: ImageRequest, from pipeline: ImagePipeline) -> Task<ImageResponse, any Error> {
    Task { try await pipeline.imageTask(for: request).response }
  }

  private func loadFirst(_ request: ImageRequest, _ pipeline: ImagePipeline, _ headers: HTTPFields = [:]) async throws {
    let first = load(request, from: pipeline)
    answer(try await loader.nextLoad(of: Self.url), 1, headers)
    _ = try await first.value
    clock.advance(by: .seconds(61))
  }

  /// Another size of a stale image is on its way, with all bytes: they say whether the image in memory is still current.
  @Test(arguments: Missing.allCases, [1, 2])
  func aValidationJoinsBytesThatAreOnTheirWay(missing: Missing, version: Int) async throws {
    let pipeline = pipeline(missing)
    let known = request(missing, side: 8)
    try await loadFirst(known, pipeline)
    let larger = load(request(missing), from: pipeline)
    let transfer = try await loader.nextLoad(of: Self.url)
    #expect(transfer.request.headers["If-None-Match"] == nil)

    let same = pipeline.imageTask(for: known)
    let file = Pictures.file(0, version)
    transfer.respond(headers: [
      "Cache-Control": "max-age=60", "ETag": "\"\(version)\"", "Content-Length": "\(file.count)",
    ])
    transfer.send(file.prefix(9))
    // It has joined once it hears of the transfer.
    try await until { same.progress.completed > 0 }
    transfer.send(file.dropFirst(9))
    transfer.finish()

    #expect(Pictures.name(of: try await larger.value.image)?.version == version)
    #expect(Pictures.name(of: try await same.image)?.version == version)
    #expect(loader.counts.loads == 2)
  }

  @Test(arguments: Missing.allCases)
  func a304RenewsEverySizeInMemoryWithoutADecode(missing: Missing) async throws {
    let pipeline = pipeline(missing)
    let (large, small) = (request(missing), request(missing, side: 8))
    let first = load(large, from: pipeline)
    answer(
      try await loader.nextLoad(of: Self.url),
      1,
      ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"],
    )
    _ = try await first.value
    _ = try await pipeline.image(for: small)
    clock.advance(by: .seconds(61))

    #expect(await pipeline.explain(large).transfer == .conditional)
    let second = load(large, from: pipeline)
    let validation = try await loader.nextLoad(of: Self.url)
    #expect(validation.request.headers["If-None-Match"] == "\"1\"")
    #expect(validation.request.headers["If-Modified-Since"] == "Sun, 06 Nov 1994 08:49:37 GMT")
    validation.respond(with: FakeResponse(status: 304, headers: ["Cache-Control": "max-age=60"]))
    let response = try await second.value
    #expect(response.origin == .revalidated && !response.isStale)
    #expect(Pictures.name(of: response.image)?.version == 1)
    #expect(decoder.decodes.count == 1)
    for request in [large, small] { #expect(pipeline.cachedImage(for: request)?.isStale == false) }
    // The renewed image can be revalidated, too.
    clock.advance(by: .seconds(61))
    #expect(await pipeline.explain(small).transfer == .conditional)
  }

  @Test(arguments: Missing.allCases)
  func a200ReplacesTheImage(missing: Missing) async throws {
    let (pipeline, request) = (pipeline(missing), request(missing))
    try await loadFirst(request, pipeline)
    let second = load(request, from: pipeline)
    let validation = try await loader.nextLoad(of: Self.url)
    #expect(validation.request.headers["If-None-Match"] == "\"1\"")
    answer(validation, 2)
    #expect(Pictures.name(of: try await second.value.image)?.version == 2)
    #expect(pipeline.cachedImage(for: request).map { Pictures.name(of: $0.image)?.version } == 2)
    #expect(decoder.decodes.count == 2)
  }

  /// The confirmation has no bytes, which a load of the bytes needs.
  @Test
  func aLoadOfTheBytesDoesNotJoinAValidation() async throws {
    let pipeline = pipeline()
    try await loadFirst(request(), pipeline)
    let second = load(request(), from: pipeline)
    let validation = try await loader.nextLoad(of: Self.url)
    let data = Task { try await pipeline.data(for: Self.url) }
    let transfer = try await loader.nextLoad(of: Self.url)
    #expect(transfer.request.headers["If-None-Match"] == nil)
    validation.respond(with: FakeResponse(status: 304))
    answer(transfer, 1)
    _ = try await second.value
    #expect(try await data.value == Pictures.file(0, 1))
  }

  @Test
  func anImageThatIsServedStaleIsRevalidatedBehindIt() async throws {
    let pipeline = pipeline()
    try await loadFirst(request(), pipeline, ["Cache-Control": "max-age=60, stale-while-revalidate=600"])
    #expect(try await load(request(), from: pipeline).value.isStale)
    let validation = try await loader.nextLoad(of: Self.url)
    #expect(validation.request.headers["If-None-Match"] == "\"1\"")
    validation.respond(with: FakeResponse(status: 304, headers: ["Cache-Control": "max-age=60"]))
    while pipeline.loadCount > 0 { await Task.yield() }
    #expect(pipeline.cachedImage(for: request())?.isStale == false)
    #expect(decoder.decodes.count == 1)
  }

  @Test
  func withoutTheServerTheStaleImageIsServedFromMemory() async throws {
    let pipeline = ImagePipeline(.ephemeral) {
      ($0.loader, $0.clock, $0.memoryPressure, $0.retryPolicy) = (loader, clock, nil, .never)
    }
    try await loadFirst(request(), pipeline)
    let second = load(request(), from: pipeline)
    try await loader.nextLoad(of: Self.url).fail(.cannotConnect)
    let response = try await second.value
    #expect(response.isStale && response.origin == .memory)
  }

  /// A head beyond the limit is not worth its memory.
  @Test(arguments: [(500, true), (4000, false)])
  func headsInMemoryAreBoundedAndCounted(length: Int, isKept: Bool) async throws {
    let pipeline = pipeline()
    try await loadFirst(request(), pipeline, ["ETag": "\"\(String(repeating: "a", count: length))\""])
    let image = try #require(pipeline.configuration.memoryCache?.value(for: request().imageKey))
    let head = image.validity.response
    #expect((head != nil) == isKept)
    #expect(pipeline.configuration.memoryCache?.statistics.cost == image.image.byteCount + (head?.value.count ?? 0))
    let second = load(request(), from: pipeline)
    let validation = try await loader.nextLoad(of: Self.url)
    #expect((validation.request.headers["If-None-Match"] != nil) == isKept)
    answer(validation, 1)
    #expect(Pictures.name(of: try await second.value.image)?.version == 1)
  }

  /// The bytes on disk have their head there.
  @Test
  func imagesOfStoredBytesKeepNoHead() async throws {
    let pipeline = pipeline(.notForTheRequest)
    try await loadFirst(request(), pipeline)
    let image = try #require(pipeline.configuration.memoryCache?.value(for: request().imageKey))
    #expect(image.validity.response == nil)
  }
}
