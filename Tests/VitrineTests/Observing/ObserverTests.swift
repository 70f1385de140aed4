import Testing
import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@Suite(.patient)
struct ObserverTests {
  private static let url = "https://example.org/a.png"
  private let parts = PipelineParts()
  private let observer = RecordingObserver()
  private let pipeline: ImagePipeline
  private let file = TestPicture.png

  init() {
    let observer = observer
    pipeline = .testing(parts) { $0.observers = [observer] }
  }

  /// Of one kind of stage, in the order in which they were told.
  private func lines(of kind: String) -> [String] { observer.lines.filter { $0.hasPrefix(kind) } }

  @Test
  func whatHappensToAStageIsToldInOrderAndWithinItsRequest() async throws {
    parts.loader.answer(Self.url, with: file, headers: ["Cache-Control": "max-age=60"])
    let request = ImageRequest(url: Self.url, processors: [Counter().processor("step")])
    _ = try await pipeline.image(for: request)
    await pipeline.flushEvents()

    #expect(lines(of: "request") == ["request began", "request ended with an image from network"])
    #expect(
      lines(of: "fetch") == [
        "fetch began", "fetch noted decision", "fetch queue", "fetch request", "fetch body", "fetch ended",
      ]
    )
    #expect(lines(of: "decode") == ["decode began", "decode wait", "decode queue", "decode work", "decode ended"])
    #expect(observer.lines.first == "request began")
    #expect(observer.lines.last == "request ended with an image from network")
    let began = observer.lines.filter { $0.hasSuffix("began") }
    #expect(began == ["request", "finished", "process", "decode", "fetch", "transfer"].map { "\($0) began" })
    #expect(Set(observer.stages.map(\.request)).count == 1)
    #expect(Set(observer.stages.map(\.id)).count == 6)
    #expect(observer.stages.last?.facts["bytes"] == .number(file.count))
  }

  @Test
  func aStageUnderWayIsJoinedAndBelongsToTheFirst() async throws {
    let source = GatedSource()
    let first = pipeline.imageTask(for: ImageRequest(source.source, size: .pixels(8, 8)))
    let second = pipeline.imageTask(for: ImageRequest(source.source, size: .pixels(16, 16)))
    source.open(file)
    for task in [first, second] { _ = try await task.image }
    await pipeline.flushEvents()

    #expect(lines(of: "fetch").filter { $0 == "fetch joined" }.count == 1)
    let fetches = Set(observer.stages.filter { $0.kind == .fetch }.map(\.request))
    #expect(fetches == [first.metrics?.id])
    #expect(Set(observer.stages.map(\.request)).count == 2)
  }

  @Test
  func whatIsInMemoryIsToldOfToo() async throws {
    let request = ImageRequest(.data(file, id: "a"))
    _ = try await pipeline.image(for: request)
    _ = try await pipeline.image(for: request)
    await pipeline.flushEvents()
    #expect(lines(of: "request").last == "request ended with an image from memory")
    #expect(observer.lines.filter { $0 == "request began" }.count == 2)
  }

  @Test
  func anEndIsToldAlsoOfWhatFailsAtOnceAndOfWhatIsCancelled() async throws {
    await #expect(throws: LoadError.self) { try await pipeline.image(for: ImageRequest(url: "no address")) }
    let task = pipeline.imageTask(for: ImageRequest(url: Self.url))
    _ = try await parts.loader.nextLoad(of: Self.url)
    task.cancel()
    await pipeline.flushEvents()

    #expect(lines(of: "request f") == ["request failed: invalidURL", "request failed: cancelled"])
    for kind in ["decode", "fetch"] {
      #expect(lines(of: "\(kind) began").count == 2)
      #expect(lines(of: "\(kind) ended").count == 2)
    }
    // The end of a request comes after those of what failed below it.
    let failure = try #require(observer.lines.firstIndex(of: "request failed: invalidURL"))
    #expect(observer.lines[..<failure].contains("fetch ended"))
  }

  @Test
  func bytesAloneAreARequestToo() async throws {
    parts.loader.answer(Self.url, with: file)
    _ = try await pipeline.data(for: ImageRequest(url: Self.url))
    await pipeline.flushEvents()
    #expect(lines(of: "request") == ["request began", "request ended with \(file.count) bytes"])
    #expect(observer.stages.first?.facts["purpose"] == "data")
  }

  @Test
  func theQuestionBehindAStaleImageIsARequestOfItsOwn() async throws {
    let headers: HTTPFields = ["Cache-Control": "max-age=60, stale-while-revalidate=60", "ETag": "\"1\""]
    parts.loader.answer(Self.url, with: file, headers: headers)
    _ = try await pipeline.image(for: ImageRequest(url: Self.url))
    await parts.diskCache.wait(forWrites: 1)
    parts.clock.advance(by: .seconds(70))
    _ = try await pipeline.image(for: ImageRequest(url: Self.url))

    await observer.wait { lines in lines.count { $0.hasPrefix("request ended") } == 3 }
    #expect(lines(of: "request ended").contains("request ended with \(file.count) bytes"))
    // The two run at the same time, and either may end first.
    let question = observer.stages.last { $0.facts["purpose"] == "revalidation" }
    #expect(question?.facts["from"] == "revalidated")
  }

  @Test
  func anObserverMayUseThePipeline() async throws {
    final class Asking: PipelineObserver {
      let seen = Watched(0)
      let pipeline = Lock<ImagePipeline?>(nil)
      func observe(_ event: PipelineEvent) {
        guard case .stageEnded = event else { return }
        let count = pipeline.withLock { $0 }?.loadCount
        seen.change { $0 += count == nil ? 0 : 1 }
      }
    }
    let asking = Asking()
    let pipeline = ImagePipeline.testing(parts) { $0.observers = [asking] }
    asking.pipeline.withLock { $0 = pipeline }
    _ = try await pipeline.image(for: ImageRequest(.data(file, id: "a")))
    await asking.seen.wait { $0 == 2 }
    asking.pipeline.withLock { $0 = nil }
  }

  @Test
  func whoIsTooSlowMissesWholeRequestsAndIsTold() async throws {
    final class Slow: PipelineObserver {
      let inner = RecordingObserver()
      let gate = Gate()
      func observe(_ event: PipelineEvent) {
        gate.wait()
        inner.observe(event)
      }
    }
    let slow = Slow()
    let pipeline = ImagePipeline.testing(parts) { $0.observers = [slow] }
    let request = ImageRequest(.data(file, id: "a"))
    // What is in memory is two events each.
    for _ in 0..<6000 { _ = try await pipeline.imageTask(for: request).image }
    slow.gate.open()
    await pipeline.flushEvents()
    _ = try await pipeline.imageTask(for: request).image
    await pipeline.flushEvents()

    let lines = slow.inner.lines
    let missed = lines.compactMap { line in line.hasPrefix("missed ") ? Int(line.dropFirst(7)) : nil }.reduce(0, +)
    let began = lines.count { $0 == "request began" }
    #expect(missed > 0)
    #expect(began + missed == 6001)
    #expect(lines.count { $0.hasPrefix("request ended") } == began)
    #expect(lines.last == "request ended with an image from memory")
  }

  @Test
  func severalObserversAreEachNotified() async throws {
    let both = [RecordingObserver(), RecordingObserver()]
    let pipeline = ImagePipeline.testing(parts) { $0.observers = both + [SignpostObserver()] }
    parts.loader.answer(Self.url, with: file)
    _ = try await pipeline.image(for: ImageRequest(url: Self.url))
    await pipeline.flushEvents()
    #expect(!both[0].lines.isEmpty)
    #expect(both[0].lines == both[1].lines)
  }
}
