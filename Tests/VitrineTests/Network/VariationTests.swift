import Testing
import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Responses to one URL that `Vary` (RFC 9111 4.1), kept side by side.
@Suite(.patient)
struct VariationTests {
  private static let url = "https://example.org/a.png"
  private static let languages = ["de", "en", "eo", "fr", "it", "nl"]
  private let parts = PipelineParts()
  private let answer: @Sendable (HTTPRequest) -> FakeResponse

  init() throws {
    let files = try Self.languages.indices.map { index in
      try Bitmap.testPattern(width: 16 + index, height: 16).encoded(as: .png)
    }
    answer = { request in
      let language = request.headers["Accept-Language"] ?? ""
      guard let index = Self.languages.firstIndex(of: language) else { return FakeResponse(status: 404) }
      let headers: HTTPFields = [
        "Cache-Control": "max-age=60", "Vary": "Accept-Language", "ETag": "\"\(language)\"",
      ]
      return FakeResponse(headers: headers, body: files[index])
    }
    parts.loader.answer(Self.url, answer)
  }

  enum Caches: CaseIterable { case both, memory, disk }

  private func makePipeline(_ caches: Caches = .both) -> ImagePipeline {
    .testing(parts) {
      if caches == .memory { $0.diskCache = nil }
      if caches == .disk { $0.memoryCache = nil }
    }
  }

  private func request(_ language: String) -> ImageRequest {
    var request = ImageRequest(url: Self.url)
    request.headers["Accept-Language"] = language
    return request
  }

  /// Loads the image of each language, and returns whether all came as asked for.
  private func load(_ languages: some Sequence<String>, _ pipeline: ImagePipeline) async throws {
    for language in languages {
      let width = try await pipeline.image(for: request(language)).width
      #expect(Self.languages.firstIndex(of: language) == width - 16)
      await pipeline.cache.flush()
    }
  }

  private var loads: Int { parts.loader.counts.loads }

  @Test(arguments: Caches.allCases)
  func eachVariantIsLoadedOnce(caches: Caches) async throws {
    let pipeline = makePipeline(caches)
    for _ in 0..<3 { try await load(["de", "en", "eo"], pipeline) }
    #expect(loads == 3)
  }

  /// Whichever comes first.
  @Test(arguments: Caches.allCases, [["de", "en", "eo"], ["eo", "de", "en"], ["en", "eo", "de"]])
  func thoseThatAreAskedForAtOnceAreAllKept(caches: Caches, order: [String]) async throws {
    let pipeline = makePipeline(caches)
    let answer = answer
    parts.loader.removeAnswer(Self.url)
    let tasks = ["de", "en", "eo"].map { pipeline.imageTask(for: request($0)) }
    var waiting: [String: FakeLoad] = [:]
    for _ in tasks {
      let load = try await parts.loader.nextLoad(of: Self.url)
      waiting[load.request.headers["Accept-Language"] ?? ""] = load
    }
    for language in order {
      let load = try #require(waiting[language])
      load.respond(with: answer(load.request))
      let index = try #require(["de", "en", "eo"].firstIndex(of: language))
      #expect(try await tasks[index].image.width == 16 + (Self.languages.firstIndex(of: language) ?? 0))
      await pipeline.cache.flush()
    }
    parts.loader.answer(Self.url, answer)
    for _ in 0..<2 { try await load(["de", "en", "eo"], pipeline) }
    #expect(loads == 3)
  }

  @Test
  func afterARestartEachIsFoundOnDisk() async throws {
    try await load(["de", "en", "eo"], makePipeline())
    for order in [["en", "de", "eo"], ["eo", "en", "de", "eo"]] {
      try await load(order, makePipeline())
      try await load(order + order, makePipeline(.disk))
    }
    #expect(loads == 3)
  }

  @Test
  func eachIsRevalidatedByItsOwnTag() async throws {
    let pipeline = makePipeline()
    try await load(["de", "en"], pipeline)
    parts.clock.advance(by: .seconds(61))
    for language in ["de", "en"] {
      #expect(try await pipeline.imageTask(for: request(language)).response.origin == .revalidated)
    }
    #expect(parts.loader.requests.map { $0.headers["If-None-Match"] } == [nil, nil, "\"de\"", "\"en\""])
    await pipeline.cache.flush()
    try await load(["de", "en"], pipeline)
    #expect(loads == 4)
  }

  @Test(arguments: [true, false])
  func removingTheURLRemovesAllOfThem(isRestarted: Bool) async throws {
    let first = makePipeline()
    try await load(["de", "en", "eo"], first)
    let pipeline = isRestarted ? makePipeline() : first

    await pipeline.cache.remove(ImageRequest(url: Self.url))

    #expect(await parts.diskCache.entries().isEmpty)
    try await load(["de", "en", "eo"], pipeline)
    #expect(loads == 6)
  }

  /// RFC 9111 4.4.
  @Test
  func anUnsafeRequestInvalidatesAllOfThem() async throws {
    let pipeline = makePipeline()
    try await load(["de", "en"], pipeline)
    var post = request("de")
    post.method = .post
    _ = try await pipeline.data(for: post)
    await pipeline.cache.flush()

    try await load(["de", "en"], pipeline)
    #expect(loads == 5)
  }

  @Test
  func aURLHasFourVariantsAtMost() async throws {
    let pipeline = makePipeline()
    for _ in 0..<2 { try await load(Self.languages, pipeline) }
    #expect(await parts.diskCache.entries().count == 4)
    let count = loads
    // The first and the last three.
    try await load(["de", "fr", "it", "nl"], pipeline)
    #expect(loads == count)
  }
}
