import Testing
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// Images that are asked for with a method and a body: what is sent, what is kept under which name, what is sent again.
@Suite(.patient)
struct PipelineMethodTests {
  private static let url = "https://example.org/render"
  private let parts = PipelineParts()
  private let pipeline: ImagePipeline
  private let file = TestPicture.png
  private let other: Data

  init() throws {
    other = try Bitmap.testPattern(width: 32, height: 24).encoded(as: .png)
    pipeline = .testing(parts)
  }

  private func post(_ body: String, _ change: (inout ImageRequest) -> Void = { _ in }) -> ImageRequest {
    var request = ImageRequest(url: Self.url)
    (request.method, request.body) = (.post, Data(body.utf8))
    change(&request)
    return request
  }

  private func answer(_ headers: HTTPFields = [:]) { parts.loader.answer(Self.url, with: file, headers: headers) }

  private func load(_ request: ImageRequest, in pipeline: ImagePipeline? = nil) async throws {
    let pipeline = pipeline ?? self.pipeline
    #expect(try await pipeline.image(for: request).width == 64)
    await pipeline.cache.flush()
  }

  private var loads: Int { parts.loader.counts.loads }

  // MARK: What is sent

  @Test
  func allOfAnHTTPRequestIsSent() async throws {
    var http = try HTTPRequest(Self.url, headers: ["Content-Type": "application/json", "X-A": "b"])
    (http.method, http.body) = (.put, Data("{}".utf8))
    (http.timeouts.connect, http.timeouts.idle, http.timeouts.total) = (.seconds(1), .seconds(2), .seconds(3))
    (http.redirectPolicy, http.maxResponseBytes, http.priority) = (.deliver, 5_000_000, .high)
    http.isIdempotent = false
    let request = ImageRequest(http, size: .pixels(32, 32))
    #expect(request.priority == .high)
    #expect(ImageRequest(http, priority: .low).priority == .low)
    answer()
    #expect(try await pipeline.image(for: request).width == 32)
    var sent = try #require(parts.loader.requests.first)
    #expect(sent.headers["Accept"] != nil)
    sent.headers["Accept"] = nil
    #expect(sent == http)
  }

  @Test
  func unlessSaidItIsAGetWithTheUsualBounds() async throws {
    let request = ImageRequest(url: Self.url)
    #expect(request.method == .get && request.body == nil && request.isIdempotent)
    #expect(request.timeouts == HTTPTimeouts() && request.redirectPolicy == .follow(limit: 10))
    #expect(request.maxResponseBytes == nil)
    answer()
    try await load(request)
    var plain = try HTTPRequest(Self.url)
    plain.headers = try #require(parts.loader.requests.first).headers
    #expect(parts.loader.requests == [plain])
    #expect(plain.maxResponseBytes == 100_000_000)
  }

  @Test
  func aMethodThatCannotBeSentFailsAndSendsNothing() async {
    for request in [post("a") { $0.method = HTTPMethod("NO METHOD") }, post("a") { $0.method = .head }] {
      let error = await #expect(throws: LoadError.self) { try await pipeline.image(for: request) }
      #expect(error?.code == .fetchFailed)
      #expect((error?.cause as? HTTPError)?.code == .invalidRequest)
    }
    #expect(loads == 0)
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func eachOfSeveralSourcesIsAskedWithMethodAndBody() async throws {
    var request = ImageRequest(.first(of: [.url("https://example.org/a"), .url("https://example.org/b")]))
    (request.method, request.body) = (.post, Data("{}".utf8))
    parts.loader.answer("https://example.org/a", failing: .cannotConnect)
    parts.loader.answer("https://example.org/b", with: file)
    try await load(request)
    #expect(parts.loader.requests.map(\.method) == [.post, .post])
    #expect(parts.loader.requests.map(\.body) == [request.body, request.body])
  }

  // MARK: What an answer is kept under

  @Test
  func whatIsAskedForOtherwiseHasAnotherName() {
    let plain = ImageRequest(url: Self.url)
    var (empty, withBody, partition) = (plain, plain, post("a"))
    empty.body = Data()
    withBody.body = Data("a".utf8)
    partition.cachePartition = "me"
    var (post, field) = (post("a"), plain)
    field.headers["POST"] = "a"
    field.significantHeaders = ["POST"]
    let different = [
      plain, withBody, post, self.post("b"), self.post(""), self.post("a") { $0.method = .put },
      self.post("a") { $0.method = HTTPMethod("post") }, self.post("a") { $0.cacheID = "a" }, partition, field,
    ]
    #expect(Set(different.map(\.fetchKey)).count == different.count)
    #expect(Set(different.map(\.imageKey)).count == different.count)
    #expect(empty.fetchKey == plain.fetchKey)
    #expect(self.post("").fetchKey == self.post("") { $0.body = nil }.fetchKey)
    #expect(self.post("a").fetchKey == post.fetchKey)
    // What cannot change the image changes no name.
    (post.timeouts.idle, post.redirectPolicy, post.maxResponseBytes, post.isIdempotent) = (.zero, .deliver, 1, true)
    #expect(self.post("a").fetchKey == post.fetchKey)
    #expect(different.allSatisfy { $0.fetchKey.address == Self.url || $0.cacheID != nil })
    // A body is not to be read in a cache's folder.
    #expect(!self.post("secret").fetchKey.description.contains("secret"))
  }

  @Test
  func anAnswerIsNeverSharedWithTheGet() async throws {
    let (file, other) = (file, other)
    parts.loader.answer(Self.url) { request in
      FakeResponse(headers: ["Cache-Control": "max-age=60"], body: request.method == .get ? other : file)
    }
    let get = ImageRequest(url: Self.url)
    #expect(try await pipeline.image(for: get).width == 32)
    try await load(post("a"))
    // After a restart, too.
    let restarted = ImagePipeline.testing(parts)
    try await load(post("a"), in: restarted)
    #expect(loads == 2)
    try await load(post("b"), in: restarted)
    #expect(loads == 3)
  }

  @Test
  func equalOnesShareATransferAndOthersDoNot() async throws {
    let tasks = ["a", "a", "b"].map { pipeline.imageTask(for: post($0)) }
    let impatient = pipeline.imageTask(for: post("a") { $0.timeouts.total = .seconds(1) })
    for _ in 0..<3 { try await parts.loader.nextLoad(of: Self.url).respond(with: FakeResponse(body: file)) }
    for task in tasks + [impatient] { #expect(try await task.image.width == 64) }
    #expect(parts.loader.requests.compactMap(\.timeouts.total) == [Duration.seconds(1)])
    #expect(loads == 3)
  }

  // MARK: What is kept

  @Test(
    arguments: [
      ([:], false), (["ETag": "\"1\"", "Last-Modified": "Sun, 09 Sep 2000 01:46:40 GMT"], false),
      (["Cache-Control": "public"], false),
      (["Cache-Control": "max-age=60"], true), (["Expires": "Sun, 09 Sep 2001 02:46:40 GMT"], true),
      (["Cache-Control": "max-age=60, no-store"], false),
    ] as [(HTTPFields, Bool)]
  )
  func itIsKeptOnlyWhereTheServerSaysForHowLong(headers: HTTPFields, isKept: Bool) async throws {
    answer(headers)
    for request in [post("a"), post("a") { $0.method = .get }, post("a") { $0.method = HTTPMethod("REPORT") }] {
      let before = loads
      try await load(request)
      #expect((pipeline.cachedImage(for: request) != nil) == isKept)
      #expect(await pipeline.cache.contains(request, in: .disk) == isKept)
      try await load(request)
      try await load(request, in: .testing(parts))
      #expect(loads - before == (isKept ? 1 : 3))
    }
  }

  @Test
  func whatIsStaleIsAskedForWithoutConditionsAndNotBehindIt() async throws {
    answer(["Cache-Control": "max-age=60, stale-while-revalidate=600", "ETag": "\"1\""])
    try await load(post("a"))
    parts.clock.advance(by: .seconds(61))
    let explanation = await pipeline.explain(post("a"))
    #expect(explanation.transfer == .full)
    let task = pipeline.imageTask(for: post("a"))
    #expect(try await task.response.origin == .network)
    await pipeline.cache.flush()
    try await load(post("a"), in: .testing(parts))
    parts.clock.advance(by: .seconds(61))
    try await load(post("a"), in: .testing(parts))
    #expect(loads == 3)
    #expect(parts.loader.requests.allSatisfy { $0.headers["If-None-Match"] == nil })
  }

  @Test
  func aGetWithABodyIsRevalidatedAsAnyOther() async throws {
    answer(["Cache-Control": "max-age=60", "ETag": "\"1\""])
    let request = post("a") { $0.method = .get }
    try await load(request)
    parts.clock.advance(by: .seconds(61))
    try await load(request)
    #expect(parts.loader.requests.map { $0.headers["If-None-Match"] } == [nil, "\"1\""])
  }

  @Test(arguments: [
    (HTTPMethod.post, 200, true), (.delete, 204, true), (.post, 500, false), (.options, 200, false),
  ])
  func whatWasKeptOfTheResourceGoesWhereItMayHaveChanged(method: HTTPMethod, status: Int, isGone: Bool) async throws {
    answer(["Cache-Control": "max-age=60"])
    let get = ImageRequest(url: Self.url, size: .pixels(32, 32))
    let (full, mine) = (ImageRequest(url: Self.url), post("a") { ($0.cachePartition, $0.method) = ("me", .get) })
    for request in [get, full, mine] { _ = try await pipeline.image(for: request) }
    await pipeline.cache.flush()
    parts.loader.answer(Self.url, FakeResponse(status: status, body: status == 200 ? file : Data()))
    _ = try? await pipeline.data(for: post("a") { $0.method = method })
    await pipeline.cache.flush()
    for request in [get, full] {
      #expect((pipeline.cachedImage(for: request) == nil) == isGone)
      #expect(await pipeline.cache.contains(request, in: .disk) == !isGone)
    }
    #expect(pipeline.cachedImage(for: mine) != nil)
  }

  // MARK: What is sent again

  @Test
  func onlyWhatIsIdempotentIsTriedAgain() async throws {
    let pipeline = ImagePipeline.testing(parts) { $0.retryPolicy = .exponential(random: { 0 }) }
    parts.loader.answer(Self.url, failing: .connectionLost)
    let error = await #expect(throws: LoadError.self) { try await pipeline.image(for: post("a")) }
    #expect(error?.code == .fetchFailed)
    #expect(loads == 1)
    parts.loader.removeAnswer(Self.url)
    _ = try await parts.loader.nextLoad(of: Self.url)
    let task = pipeline.imageTask(for: post("a") { $0.isIdempotent = true })
    try await parts.loader.nextLoad(of: Self.url).fail(.connectionLost)
    await parts.clock.pendingCount(reaches: 1)
    parts.clock.advance(by: .zero)
    let second = try await parts.loader.nextLoad(of: Self.url)
    #expect((second.request.method, second.request.body) == (.post, Data("a".utf8)))
    second.respond(with: FakeResponse(body: file))
    #expect(try await task.image.width == 64)
  }

  @Test
  func aBrokenDownloadOfAPostStartsOver() async throws {
    let (clock, folder) = (parts.clock, try TemporaryFolder())
    let cache = try folder.cache(clock)
    let pipeline = ImagePipeline.testing(parts) { $0.diskCache = cache }
    let long = try Bitmap.noise(width: 500, height: 480, seed: 1).encoded(as: .png)
    let head: HTTPFields = ["ETag": "\"a\"", "Content-Length": "\(long.count)", "Cache-Control": "max-age=60"]
    let request = post("a") { ($0.quality, $0.size) = (.fast, .pixels(50, 50)) }
    let task = pipeline.imageTask(for: request)
    let load = try await parts.loader.nextLoad(of: Self.url)
    load.respond(headers: head)
    for start in stride(from: 0, to: 600_000, by: 100_000) { load.send(long[start..<start + 100_000]) }
    load.fail(.truncated)
    await #expect(throws: LoadError.self) { try await task.image }
    await pipeline.cache.flush()
    #expect(await cache.statistics().partials == 0)
    let again = pipeline.imageTask(for: request)
    let second = try await parts.loader.nextLoad(of: Self.url)
    #expect(second.request.headers["Range"] == nil)
    second.respond(headers: head)
    second.send(long)
    second.finish()
    #expect(try await again.image.width == 50)
    await cache.close()
  }

  @Test
  func overARealConnectionMethodAndBodyArrive() async throws {
    let server = try LoopbackServer()
    server.route("/render", LoopbackResponse(headers: ["Cache-Control": "max-age=60"], body: file))
    let pipeline = ImagePipeline.testing(parts) { $0.loader = PatientLoader() }
    let request = ImageRequest(try HTTPRequest(server.url("/render"), headers: ["Content-Type": "text/plain"]))
    var drawn = request
    (drawn.method, drawn.body) = (.post, Data("draw".utf8))
    for request in [drawn, drawn, request] { try await load(request, in: pipeline) }
    #expect(server.requests.map(\.method) == ["POST", "GET"])
    #expect(server.requests.map(\.body) == [Data("draw".utf8), Data()])
    #expect(server.requests.map { $0["Content-Type"] } == ["text/plain", "text/plain"])
  }
}
