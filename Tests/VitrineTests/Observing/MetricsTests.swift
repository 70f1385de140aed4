import Testing
import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@Suite(.patient)
struct MetricsTests {
  private static let url = "https://example.org/a.png"
  private let parts = PipelineParts()
  private let pipeline: ImagePipeline
  private let file = TestPicture.png

  init() {
    pipeline = .testing(parts) { $0.collectsMetrics = true }
  }

  private func kinds(_ stage: RequestMetrics.Stage) -> String {
    let children = stage.stages.map { ($0.isShared ? "shared " : "") + kinds($0) }
    return children.isEmpty ? "\(stage.kind)" : "\(stage.kind)(\(children.joined(separator: " ")))"
  }

  @Test
  func byDefaultNothingIsCollected() async throws {
    let task = ImagePipeline.testing(parts).imageTask(for: ImageRequest(.data(file, id: "a")))
    _ = try await task.image
    #expect(task.metrics == nil)
  }

  @Test
  func aTaskTellsWhatItWentThroughAlsoBeforeItsEnd() async throws {
    let request = ImageRequest(url: Self.url, size: .pixels(32, 32))
    let task = pipeline.imageTask(for: request)
    let load = try await parts.loader.nextLoad(of: Self.url)
    let before = try #require(task.metrics)
    #expect(kinds(before.root) == "request(finished(decode(fetch)))")
    #expect(before.ended == nil)
    #expect(before.origin == nil)

    parts.clock.advance(by: .milliseconds(30))
    load.respond(headers: ["Cache-Control": "max-age=60"])
    parts.clock.advance(by: .milliseconds(12))
    load.send(file)
    load.finish()
    _ = try await task.image
    let metrics = try #require(task.metrics)
    #expect(metrics.duration == .milliseconds(42))
    #expect(metrics.origin == .network)
    #expect(metrics.cacheDecision == "fetch: nothing stored")
    #expect(!metrics.isCoalesced)
    #expect(metrics.facts["width"] == .number(32))
    let fetch = try #require(metrics.stages.first?.stages.first?.stages.first)
    // The one look on disk, for all that may be there, was that of the stage before.
    #expect(fetch.phases.map(\.name) == ["queue", "request", "body"])
    #expect(fetch.phases.map(\.duration) == [.zero, .milliseconds(30), .milliseconds(12)])
    #expect(metrics.description.split(separator: "\n").count == 5)
    // The decode waited for the fetch, and each stage has the time of its own work alone.
    let finished = try #require(metrics.stages.first)
    #expect([finished, finished.stages[0], fetch].map(\.duration) == [.zero, .zero, .milliseconds(42)])
    #expect([finished, finished.stages[0], fetch].map(\.waiting) == [.milliseconds(42), .milliseconds(42), .zero])
  }

  @Test
  func whoSharesAStageSaysSoAndCountsItsOwnWait() async throws {
    let gate = BlockedQueue(parts, file)
    let first = gate.pipeline.imageTask(for: gate.request)
    await gate.hasBegun()
    parts.clock.advance(by: .milliseconds(10))
    let second = gate.pipeline.imageTask(for: gate.request)
    parts.clock.advance(by: .milliseconds(5))
    gate.open()
    for task in [first, second] { _ = try await task.image }

    let (one, two) = (try #require(first.metrics), try #require(second.metrics))
    #expect(!one.isCoalesced)
    #expect(two.isCoalesced)
    // The decoder's queue was blocked for 15 ms, for 5 of which the second was there.
    #expect(one.queueWait == .milliseconds(15))
    #expect(two.queueWait == .milliseconds(5))
  }

  @Test
  func ofSeveralSourcesEachAttemptIsSeen() async throws {
    let bad = ImageSource.data(Data("x".utf8), id: "bad")
    let task = pipeline.imageTask(for: ImageRequest(.first(of: [bad, .data(file, id: "good")])))
    _ = try await task.image
    let metrics = try #require(task.metrics)
    #expect(kinds(metrics.root) == "request(sources(decode(fetch) decode(fetch)))")
  }

  @Test
  func whatWasMadeOfWhatIsInMemoryIsFromThere() async throws {
    parts.loader.answer(Self.url, with: file, headers: ["Cache-Control": "max-age=60"])
    let steps = [Counter().processor("one"), Counter().processor("two")]
    _ = try await pipeline.image(for: ImageRequest(url: Self.url, processors: [steps[0]]))
    await pipeline.cache.remove(ImageRequest(url: Self.url), in: .disk)
    let task = pipeline.imageTask(for: ImageRequest(url: Self.url, processors: steps))
    #expect(try await task.response.origin == .memory)
    #expect(task.metrics.map { kinds($0.root) } == "request(finished(process))")
    #expect(parts.loader.counts.loads == 1)
  }

  @Test
  func aTreeLivesNoLongerThanItsTasks() async throws {
    let pipeline = ImagePipeline.testing(parts) {
      $0.collectsMetrics = true
      $0.maxConcurrentDecodes = 1
    }
    var task: ImageTask? = pipeline.imageTask(for: ImageRequest(.data(file, id: "a")))
    _ = try await task?.image
    weak let trace = task?.trace
    #expect(trace != nil)
    task = nil
    // The one thread that decodes has let go of the first image's work when it comes to the second one's.
    _ = try await pipeline.image(for: ImageRequest(.data(file, id: "b")))
    #expect(trace == nil)
  }

  @Test
  func chromeShowsAnyRequestsFromTheFirstOn() async throws {
    parts.clock.advance(by: .seconds(100))
    var all: [RequestMetrics] = []
    for id in ["a", "b"] {
      let task = pipeline.imageTask(for: ImageRequest(.data(file, id: id)))
      _ = try await task.image
      parts.clock.advance(by: .milliseconds(7))
      all.append(try #require(task.metrics))
    }
    struct Trace: Decodable {
      struct Event: Decodable {
        let name: String
        let ph: String
        let tid: Int
        let ts: Double?
      }
      let traceEvents: [Event]
    }
    let data = RequestMetrics.chromeTrace(of: all.reversed())
    let trace = try JSONDecoder().decode(Trace.self, from: data)
    let requests = trace.traceEvents.filter { $0.ph == "X" && $0.name == "request" }
    #expect(requests.map(\.ts) == [0, 7000])
    #expect(requests.map(\.tid) == [1, 1])
    #expect(trace.traceEvents.count { $0.name == "decode" } == 2)
  }
}

/// A pipeline whose only decoder is busy until it is let go.
private struct BlockedQueue {
  let pipeline: ImagePipeline
  let request: ImageRequest
  private let begun = Counter()
  private let gate = Gate()
  private let blocker: ImageTask

  init(_ parts: PipelineParts, _ file: Data) {
    let decoder = CountingDecoder(onInfo: { [begun, gate] in
      begun.increase()
      gate.wait()
    })
    pipeline = .testing(parts) {
      $0.collectsMetrics = true
      $0.maxConcurrentDecodes = 1
      $0.decoders = DecoderRegistry([decoder])
    }
    request = ImageRequest(.data(file, id: "a"))
    blocker = pipeline.imageTask(for: ImageRequest(.data(file, id: "blocker")))
  }

  func hasBegun() async { await begun.reaches(1) }

  func open() { gate.open() }
}
