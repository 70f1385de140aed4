import Testing
import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// What a pipeline does with loads that fail: it tries them again, and then the next source.
@Suite(.patient)
struct PipelineRetryTests {
  private let parts = PipelineParts()
  private let pipeline: ImagePipeline
  private let url = "https://example.org/a.png"
  private let file = TestPicture.png

  init() throws {
    pipeline = .testing(parts) { $0.retryPolicy = .exponential(maxAttempts: 3, random: { 0.5 }) }
  }

  @Test
  func byDefaultThereAreThreeAttempts() {
    _ = ImagePipeline(.ephemeral) { configuration in
      let retry = configuration.retryPolicy
      let error = HTTPError(.timedOut, url: "", "")
      func delay(_ number: Int, _ elapsed: Duration = .zero) -> Duration? {
        retry.delay(RetryAttempt(number: number, elapsed: elapsed, error: error))
      }
      #expect((0...500).contains((delay(1) ?? .seconds(9)) / .milliseconds(1)))
      #expect((0...1000).contains((delay(2) ?? .seconds(9)) / .milliseconds(1)))
      #expect(delay(3) == nil)
      #expect(delay(1, .seconds(121)) == nil)
    }
  }

  @Test
  func whatMayWorkALittleLaterIsTriedAgainAfterAWait() async throws {
    let task = pipeline.imageTask(for: ImageRequest(url: url))
    try await parts.loader.nextLoad(of: url).fail(.connectionLost)
    await parts.clock.pendingCount(reaches: 1)
    #expect(parts.loader.counts.loads == 1)
    parts.clock.advance(by: .milliseconds(250))
    try await parts.loader.nextLoad(of: url).respond(with: FakeResponse(status: 503))
    await parts.clock.pendingCount(reaches: 1)
    parts.clock.advance(by: .milliseconds(499))
    #expect(parts.loader.counts.loads == 2)
    parts.clock.advance(by: .milliseconds(1))
    try await parts.loader.nextLoad(of: url).respond(with: FakeResponse(body: file))

    #expect(try await task.image.width == 64)
    #expect(parts.loader.counts.loads == 3)
  }

  @Test
  func afterTheLastAttemptTheErrorIsTheLastOne() async throws {
    let task = pipeline.imageTask(for: ImageRequest(url: url))
    for number in 1...3 {
      try await parts.loader.nextLoad(of: url).fail(number < 3 ? .timedOut : .cannotConnect)
      guard number < 3 else { break }
      await parts.clock.pendingCount(reaches: 1)
      parts.clock.advance(by: .seconds(1))
    }
    let error = await #expect(throws: LoadError.self) { try await task.image }
    #expect((error?.cause as? HTTPError)?.code == .cannotConnect)
    #expect(parts.loader.counts.loads == 3)
    #expect(parts.clock.pendingCount == 0)
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func whatIsNotThereIsAskedForOnce() async {
    parts.loader.answer(url, FakeResponse(status: 404))
    let error = await #expect(throws: LoadError.self) { try await pipeline.image(for: ImageRequest(url: url)) }
    #expect(error?.status == 404)
    #expect(parts.loader.counts.loads == 1)
  }

  @Test
  func cancelledDuringTheWaitItIsNotTriedAgain() async throws {
    let task = pipeline.imageTask(for: ImageRequest(url: url))
    try await parts.loader.nextLoad(of: url).fail(.connectionLost)
    await parts.clock.pendingCount(reaches: 1)
    task.cancel()
    let error = await #expect(throws: LoadError.self) { try await task.image }
    #expect(error?.isCancellation == true)
    // The thread that began the load may still be about to hear of its end.
    try await until { parts.clock.pendingCount == 0 }
    parts.clock.advance(by: .seconds(60))
    #expect(parts.loader.counts.loads == 1)
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func theNextSourceIsAskedWhenTheAttemptsAtTheFirstAreOver() async throws {
    parts.loader.answer("https://b.example/", with: file)
    let request = ImageRequest(.first(of: [.url(url), .url("https://gone.example/"), .url("https://b.example/")]))
    parts.loader.answer("https://gone.example/", FakeResponse(status: 410))
    let task = pipeline.imageTask(for: request)
    for number in 1...3 {
      try await parts.loader.nextLoad(of: url).fail(.connectionLost)
      guard number < 3 else { break }
      await parts.clock.pendingCount(reaches: 1)
      parts.clock.advance(by: .seconds(1))
    }
    #expect(try await task.image.width == 64)
    #expect(
      parts.loader.requests.map(\.url.host) == [
        "example.org", "example.org", "example.org", "gone.example", "b.example",
      ]
    )
  }

  @Test
  func aBodyThatBreaksOffGoesOnWithinTheSameLoad() async throws {
    let task = pipeline.imageTask(for: ImageRequest(url: url))
    let first = try await parts.loader.nextLoad(of: url)
    first.respond(headers: ["ETag": "\"a\"", "Content-Length": "\(file.count)"])
    first.send(file.prefix(100))
    first.fail(.truncated)
    await parts.clock.pendingCount(reaches: 1)
    parts.clock.advance(by: .seconds(1))
    let second = try await parts.loader.nextLoad(of: url)
    #expect(second.request.headers["Range"] == "bytes=100-")
    let range = "bytes 100-\(file.count - 1)/\(file.count)"
    second.respond(status: 206, headers: ["ETag": "\"a\"", "Content-Range": range])
    second.send(file.dropFirst(100))
    second.finish()
    #expect(try await task.image.largestDifference(from: Bitmap(decoding: file)) == 0)
    #expect(parts.loader.counts.loads == 2)
  }
}
