import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@Suite(.patient)
struct TraceTests {
  private let clock = ManualClock()
  private let recorder: TraceRecorder
  private let pipeline: ImagePipeline
  private let file = TestPicture.png

  init() {
    let recorder = TraceRecorder(clock: clock)
    self.recorder = recorder
    pipeline = ImagePipeline(.ephemeral) { [clock] in
      $0.memoryCache = MemoryCache(costLimit: 10 << 20)
      $0.memoryPressure = nil
      $0.clock = clock
      $0.recorder = recorder
    }
  }

  /// The stages within, from the request down, each with those that it waited for.
  private func names(_ request: RequestMetrics) -> String { names(request.root) }

  private func names(_ stage: RequestMetrics.Stage) -> String {
    let stages = stage.stages.map { ($0.isShared ? "shared " : "") + names($0) }
    return stages.isEmpty ? "\(stage.kind)" : "\(stage.kind)(\(stages.joined(separator: " ")))"
  }

  @Test
  func aRequestIsTheTreeOfItsStages() async throws {
    let processor = Counter().processor("step")
    let task = pipeline.imageTask(for: ImageRequest(.data(file, id: "a"), processors: [processor]))
    _ = try await task.image

    let request = try #require(recorder.requests.first)
    #expect(recorder.requests.count == 1)
    #expect(names(request) == "request(process(decode(fetch)))")
    #expect(request.facts["from"] == "local")
    #expect(request.facts["width"] == .number(64))
    let decode = try #require(request.stages.first?.stages.first)
    #expect(decode.phases.map(\.name) == ["wait", "queue", "work"])
    #expect(decode.phases.allSatisfy { $0.ended != nil })
    #expect(decode.ended != nil)
  }

  @Test
  func aSharedStageBelongsToTheFirstWhoWaitedForIt() async throws {
    let source = GatedSource()
    let small = pipeline.imageTask(for: ImageRequest(source.source, size: .pixels(8, 8)))
    let large = pipeline.imageTask(for: ImageRequest(source.source, size: .pixels(16, 16)))
    let same = pipeline.imageTask(for: ImageRequest(source.source, size: .pixels(16, 16)))
    source.open(file)
    for task in [small, large, same] { _ = try await task.image }

    #expect(
      recorder.requests.map(names) == [
        "request(decode(fetch))", "request(decode(shared fetch))", "request(shared decode(shared fetch))",
      ]
    )
  }

  @Test
  func whatIsFoundInMemoryHasNoStages() async throws {
    let request = ImageRequest(.data(file, id: "a"))
    _ = try await pipeline.imageTask(for: request).image
    _ = try await pipeline.imageTask(for: request).image
    let second = try #require(recorder.requests.last)
    #expect(names(second) == "request")
    #expect(second.facts["from"] == "memory")
  }

  @Test
  func whatFailsAndWhatNobodyWaitsForEndsAndSaysWhy() async throws {
    let source = GatedSource()
    let cancelled = pipeline.imageTask(for: ImageRequest(source.source))
    await source.hasBegun()
    cancelled.cancel()
    await #expect(throws: LoadError.self) {
      try await pipeline.image(for: ImageRequest(.data(Data("x".utf8), id: "x")))
    }

    let stages = recorder.requests.flatMap { [$0.root] + $0.stages }
    #expect(stages.map(\.kind) == [.request, .decode, .request, .decode])
    #expect(stages.allSatisfy { $0.ended != nil && $0.facts["error"] != nil })
    source.open(file)
  }

  @Test
  func withoutARecorderNothingIsKept() async throws {
    let pipeline = ImagePipeline(.ephemeral) { _ in }
    let task = pipeline.imageTask(for: ImageRequest(.data(file, id: "a")))
    _ = try await task.image
    #expect(task.trace == nil)
  }

  @Test
  func aSpanOfChromeTakesItsTimesFromTheClock() async throws {
    let source = GatedSource()
    clock.advance(by: .seconds(5))
    let task = pipeline.imageTask(for: ImageRequest(source.source))
    await source.hasBegun()
    clock.advance(by: .milliseconds(3))
    source.open(file)
    _ = try await task.image

    let trace = try JSONDecoder().decode(Trace.self, from: recorder.chromeTrace)
    let spans = trace.traceEvents.filter { $0.ph == "X" }
    #expect(spans.map(\.name) == ["request", "decode", "wait", "queue", "work", "fetch"])
    #expect(spans.allSatisfy { $0.tid == 1 && $0.ts ?? 0 >= 5_000_000 })
    #expect(spans.filter { $0.name == "fetch" || $0.name == "wait" }.map(\.dur) == [3000, 3000])
  }

  @Test
  func whatEachTransferTookIsAStageOfTheFetch() async throws {
    let loader = MeasuredLoader(file: file)
    clock.advance(by: .seconds(5))
    let pipeline = ImagePipeline(.ephemeral) { [recorder, clock] in
      $0.recorder = recorder
      $0.clock = clock
      $0.loader = loader
    }
    _ = try await pipeline.image(for: ImageRequest(url: "https://example.org/a.png"))

    let request = try #require(recorder.requests.first)
    #expect(names(request) == "request(decode(fetch(transfer transfer)))")
    let fetch = try #require(request.stages.first?.stages.first)
    let (first, second) = (fetch.stages[0], fetch.stages[1])
    #expect(first.began == .seconds(4))
    #expect(first.phases.map(\.name) == ["name look-up", "connect", "TLS", "first byte", "body"])
    #expect(first.phases.map(\.began) == [0, 100, 200, 400, 700].map { .milliseconds(4000 + $0) })
    #expect(first.phases.last?.ended == .seconds(5))
    #expect(first.ended == .seconds(5))
    #expect(first.facts["version"] == "2")
    #expect(first.facts["status"] == .number(302))
    #expect(first.facts["bytes"] == .number(1234))
    #expect(second.phases.map(\.name) == ["first byte", "body"])
    #expect(second.facts["reused"] == .flag(true))
  }

  /// Tells of a redirect and of what came then, over the same connection.
  private struct MeasuredLoader: DataLoader {
    let file: Data

    func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
      var metrics = LoadMetrics(url: request.url)
      (metrics.nameLookup, metrics.connected, metrics.secured) = (
        .milliseconds(100), .milliseconds(200), .milliseconds(400),
      )
      (metrics.firstByte, metrics.total) = (.milliseconds(700), .seconds(1))
      (metrics.status, metrics.bytesReceived, metrics.httpVersion) = (302, 1234, "2")
      sink.hooks.didTransfer?(metrics)
      metrics.isConnectionReused = true
      sink.hooks.didTransfer?(metrics)
      sink.begin()
      _ = sink.receive(HTTPResponse(status: 200, url: request.url))
      _ = sink.receive(file)
      sink.finish(nil)
      return NoLoadHandle()
    }
  }

  private struct Trace: Decodable {
    struct Event: Decodable {
      let name: String
      let ph: String
      let tid: Int
      let ts: Double?
      let dur: Double?
    }

    let traceEvents: [Event]
  }
}

@Suite(.patient)
struct EncodedDataTests {
  private let pipeline = ImagePipeline(.ephemeral) {
    $0.memoryCache = MemoryCache(costLimit: 10 << 20)
    $0.memoryPressure = nil
  }

  @Test
  func whoWantsTheEncodedBytesGetsThemAlsoWhenTheImageIsInMemory() async throws {
    let file = TestPicture.png
    let plain = ImageRequest(.data(file, id: "a"), size: .pixels(8, 8), processors: [Counter().processor("step")])
    var wanting = plain
    wanting.keepsEncodedData = true

    for _ in 0..<2 {
      #expect(try await pipeline.imageTask(for: plain).response.encoded == nil)
      #expect(try await pipeline.imageTask(for: wanting).response.encoded == file)
    }
    // Memory keeps pixels, and no encoded bytes beside them.
    #expect(pipeline.cachedImage(for: plain)?.encoded == nil)
    #expect(pipeline.cachedImage(for: plain)?.origin == .memory)
  }

  @Test
  func whoWantsThemSharesNoJobWithWhoDoesNot() async throws {
    let file = TestPicture.png
    let source = GatedSource()
    let plain = ImageRequest(source.source)
    var wanting = plain
    wanting.keepsEncodedData = true
    let tasks = [pipeline.imageTask(for: plain), pipeline.imageTask(for: wanting)]
    source.open(file)
    #expect(try await tasks[0].response.encoded == nil)
    #expect(try await tasks[1].response.encoded == file)
    // The bytes they share.
    #expect(source.count == 1)
  }
}
