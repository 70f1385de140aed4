import Testing
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// Pipelines that send so many requests a second.
@Suite(.patient)
struct PipelineRateLimitTests {
  private let parts = PipelineParts()
  private let file = TestPicture.png

  init() {
    parts.loader.answer("*", with: file, headers: ["Cache-Control": "max-age=60"])
  }

  private func url(_ number: Int, host: String = "example.org") -> String { "https://\(host)/\(number).png" }

  private func request(_ number: Int, _ priority: Priority = .normal) -> ImageRequest {
    var request = ImageRequest(url: url(number), priority: priority)
    // So that it is sent within the call that makes its task.
    request.cachePolicy = .reload
    return request
  }

  private func makePipeline(_ configure: (inout ImagePipeline.Configuration) -> Void = { _ in }) -> ImagePipeline {
    .testing(parts) {
      $0.rateLimit = RateLimit(requestsPerSecond: 1, burst: 1)
      $0.collectsMetrics = true
      configure(&$0)
    }
  }

  private var sent: [String] { parts.loader.requests.map(\.url.string) }

  @Test
  func byDefaultThereIsNoLimit() {
    _ = ImagePipeline(.ephemeral) {
      #expect($0.rateLimit == nil && $0.rateLimitPerHost == nil)
      #expect($0.maxResponseBytes == 100_000_000)
    }
  }

  @Test
  func whatWaitsForItsTurnSaysSoAndCountsAsWaitingInAQueue() async throws {
    let lines = Lock<[String]>([])
    let pipeline = makePipeline { $0.log = { entry in lines.withLock { $0.append("\(entry.level) \(entry)") } } }
    let (first, second) = (pipeline.imageTask(for: request(0)), pipeline.imageTask(for: request(1)))
    #expect(try await first.image.width == 64)
    #expect(sent == [url(0)])
    parts.clock.advance(by: .seconds(1))
    #expect(try await second.image.width == 64)
    #expect(sent == [url(0), url(1)])
    let metrics = [first, second].map { $0.metrics?.stages.first?.stages.first }
    #expect(metrics.map { $0?.facts["rate limited"] } == [nil, .flag(true)])
    #expect([first, second].map { $0.metrics?.queueWait } == [.zero, .seconds(1)])
    await pipeline.flushEvents()
    let line = "trace \(url(1)): waiting: the rate limit is reached"
    #expect(lines.withLock { $0 }.filter { $0.contains("rate limit") } == [line])
  }

  @Test
  func whatIsCachedAndWhatIsSharedCostsNothing() async throws {
    let pipeline = makePipeline()
    let cached = ImageRequest(url: url(0))
    #expect(try await pipeline.image(for: cached).width == 64)
    await pipeline.cache.flush()
    #expect(try await pipeline.image(for: cached).width == 64)
    #expect(try await pipeline.image(for: ImageRequest(url: url(0), size: .pixels(32, 32))).width == 32)
    pipeline.cache[cached] = nil
    #expect(try await pipeline.image(for: cached).width == 64)
    #expect(try await pipeline.data(for: cached) == file)
    #expect(sent == [url(0)])
    parts.clock.advance(by: .seconds(1))
    // Answered once all of them wait.
    parts.loader.removeAnswer("*")
    let tasks = (0..<5).map { _ in pipeline.imageTask(for: request(1)) }
    try await parts.loader.nextLoad(of: url(1)).respond(with: FakeResponse(body: file))
    for task in tasks { #expect(try await task.image.width == 64) }
    #expect(sent == [url(0), url(1)])
    #expect(parts.clock.pendingCount == 0)
  }

  @Test
  func theMostUrgentIsNextAndWhoLeavesTakesNoToken() async throws {
    let pipeline = makePipeline()
    let first = pipeline.imageTask(for: request(0))
    let tasks = (1...4).map { pipeline.imageTask(for: request($0, $0 == 2 ? .high : .normal)) }
    tasks[3].priority = .veryHigh
    tasks[0].cancel()
    _ = try await first.image
    for task in [tasks[3], tasks[1], tasks[2]] {
      parts.clock.advance(by: .seconds(1))
      #expect(try await task.image.width == 64)
    }
    #expect(sent == [0, 4, 2, 3].map { url($0) })
    #expect(parts.clock.pendingCount == 0)
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func eachHostHasALimitOfItsOwn() async throws {
    let pipeline = makePipeline {
      ($0.rateLimit, $0.rateLimitPerHost) = (nil, RateLimit(requestsPerSecond: 1, burst: 1))
    }
    let slow = (0..<2).map { pipeline.imageTask(for: request($0)) }
    let quick = pipeline.imageTask(for: url(0, host: "example.com"))
    #expect(try await quick.image.width == 64)
    #expect(try await slow[0].image.width == 64)
    #expect(sent.count == 2)
    parts.clock.advance(by: .seconds(1))
    #expect(try await slow[1].image.width == 64)
  }

  @Test
  func anotherAttemptTakesAnotherTurn() async throws {
    parts.loader.removeAnswer("*")
    let pipeline = makePipeline { $0.retryPolicy = .exponential(random: { 0 }) }
    let task = pipeline.imageTask(for: request(0))
    try await parts.loader.nextLoad(of: url(0)).fail(.connectionLost)
    await parts.clock.pendingCount(reaches: 1)
    // The wait of the policy is over, and that for the limit is not.
    parts.clock.advance(by: .milliseconds(999))
    #expect(parts.loader.counts.loads == 1)
    parts.clock.advance(by: .milliseconds(1))
    try await parts.loader.nextLoad(of: url(0)).respond(with: FakeResponse(body: file))
    #expect(try await task.image.width == 64)
  }

  @Test
  func whatWaitsForItsTurnCountsForTheLimitOfTheQueue() async throws {
    let pipeline = makePipeline { $0.queueLimit = 2 }
    _ = try await pipeline.imageTask(for: request(0)).image
    let waiting = (1...2).map { pipeline.imageTask(for: request($0)) }
    await #expect {
      try await pipeline.image(for: request(3))
    } throws: { error in
      (error as? LoadError)?.code == .overloaded
    }
    waiting[0].cancel()
    let next = pipeline.imageTask(for: request(4))
    for task in [waiting[1], next] {
      parts.clock.advance(by: .seconds(1))
      #expect(try await task.image.width == 64)
    }
  }
}

extension ImagePipeline {
  fileprivate func imageTask(for url: String) -> ImageTask { imageTask(for: ImageRequest(url: url)) }
}
