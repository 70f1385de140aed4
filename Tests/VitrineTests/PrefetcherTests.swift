import Testing
import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// What is loaded ahead, and what that spares whoever asks then.
@Suite(.patient)
struct PrefetcherTests {
  /// Runs what was put off when the test says.
  private final class Turns: Sendable {
    private let waiting = Lock<[@Sendable () -> Void]>([])

    func add(_ work: @escaping @Sendable () -> Void) { waiting.withLock { $0.append(work) } }

    var count: Int { waiting.withLock { $0.count } }

    func run() {
      while let work = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { work() }
    }
  }

  /// Gathers what a prefetcher tells.
  private final class Results: Sendable {
    private let told = Watched<[(String, LoadError?)]>([])

    var note: ImagePrefetcher.OnResult {
      { [told] request, result in
        var error: LoadError?
        if case .failure(let failure) = result { error = failure }
        told.change { $0.append((request.source.description, error)) }
      }
    }

    var all: [(source: String, error: LoadError?)] { told.value.map { ($0.0, $0.1) } }

    func wait(for count: Int) async { await told.wait { $0.count >= count } }
  }

  private let parts = PipelineParts()
  private let decoder = CountingDecoder()
  private let pipeline: ImagePipeline
  private let file = TestPicture.png
  private let turns = Turns()
  private let results = Results()

  init() throws {
    pipeline = .testing(parts) { [decoder] in $0.decoders = DecoderRegistry([decoder]) }
  }

  private func url(_ number: Int) -> String { "https://example.org/\(number).png" }

  private func requests(_ numbers: Range<Int>) -> [ImageRequest] {
    numbers.map { ImageRequest(url: url($0), size: .pixels(16, 16)) }
  }

  private func makePrefetcher(
    _ destination: ImagePrefetcher.Destination = .memory,
    width: Int = 2,
  ) -> ImagePrefetcher {
    ImagePrefetcher(pipeline, destination: destination, maxConcurrentLoads: width) { [turns] in turns.add($0) }
  }

  private func answer(_ body: Data? = nil) {
    parts.loader.answer("*", with: body ?? file, headers: ["Cache-Control": "max-age=60"])
  }

  /// Lets the prefetcher go on until it has told so many results.
  private func run(until count: Int) async {
    while results.all.count < count {
      turns.run()
      await results.wait(for: min(count, results.all.count + 1))
    }
  }

  @Test
  func whatWasPrefetchedIsNotFetchedOrDecodedAgain() async throws {
    answer()
    let prefetcher = makePrefetcher()
    prefetcher.start(requests(0..<5), onResult: results.note)
    await run(until: 5)

    for request in requests(0..<5) { #expect(try await pipeline.imageTask(for: request).response.origin == .memory) }

    #expect(parts.loader.counts.loads == 5)
    #expect(decoder.decodes.count == 5)
    #expect(prefetcher.statistics == ImagePrefetcher.Statistics(completed: 5))
    #expect(parts.loader.requests.allSatisfy { $0.priority == .low })
  }

  @Test
  func toDiskNothingIsDecodedAndNothingFetchedAgain() async throws {
    answer()
    let prefetcher = makePrefetcher(.disk)
    prefetcher.start(requests(0..<3), onResult: results.note)
    await run(until: 3)
    await pipeline.cache.flush()

    #expect(decoder.decodes.count == 0)
    #expect(pipeline.cachedImage(for: requests(0..<1)[0]) == nil)
    #expect(try await pipeline.imageTask(for: requests(0..<1)[0]).response.origin == .disk)
    #expect(parts.loader.counts.loads == 3)
  }

  @Test
  func whatIsNoImageIsNotKeptOnDisk() async throws {
    answer(Data("<html>not found</html>".utf8))
    let prefetcher = makePrefetcher(.disk)
    prefetcher.start(requests(0..<1), onResult: results.note)
    await run(until: 1)
    await pipeline.cache.flush()

    #expect(parts.loader.counts.loads == 1)
    #expect(parts.diskCache.counts.writes == 0)
    #expect(prefetcher.statistics.waiting + prefetcher.statistics.running == 0)
  }

  /// A decoder whose process ends says nothing about the bytes.
  @Test
  func bytesOnDiskOutliveADecoderThatCrashes() async throws {
    answer()
    let request = requests(0..<1)[0]
    let earlier = ImagePipeline.testing(parts)
    _ = try await earlier.data(for: request)
    await earlier.cache.flush()
    let failing = ImagePipeline.testing(parts) { $0.decoders = DecoderRegistry([CrashingDecoder()]) }
    let prefetcher = ImagePrefetcher(failing, destination: .disk, maxConcurrentLoads: 2) { [turns] in turns.add($0) }
    prefetcher.start([request], onResult: results.note)
    await run(until: 1)
    await failing.cache.flush()

    #expect(await failing.cache.data(for: request) == file)
  }

  @Test
  func whatIsInMemoryCountsAsDoneAndStartsNothing() async throws {
    answer()
    _ = try await pipeline.image(for: requests(0..<1)[0])
    let prefetcher = makePrefetcher()

    prefetcher.start(requests(0..<1), onResult: results.note)
    turns.run()

    #expect(results.all.count == 1)
    #expect(parts.loader.counts.loads == 1)
    #expect(prefetcher.statistics.completed == 1)
  }

  @Test
  func stoppedInTheSameTurnNothingEverStarts() async {
    let prefetcher = makePrefetcher()
    prefetcher.start(requests(0..<100), onResult: results.note)
    prefetcher.stop(requests(0..<100))
    turns.run()

    #expect(parts.loader.counts.loads == 0)
    #expect(pipeline.loadCount == 0)
    #expect(prefetcher.statistics == ImagePrefetcher.Statistics())
    #expect(results.all.count == 100)
    #expect(results.all.allSatisfy { $0.error?.isCancellation == true })
  }

  @Test
  func anAddressMadeForASizeMayAskThePrefetcher() {
    let prefetcher = makePrefetcher()
    // Whether its keys are known already, which are then not made again.
    for isKnown in [false, true] {
      let request = ImageRequest(
        .url { [url = url(0)] _ in
          _ = prefetcher.statistics
          return url
        },
        size: .pixels(16, 16),
      )
      if isKnown { _ = request.fetchKey }
      prefetcher.start([request])
      #expect(prefetcher.statistics.waiting == 1)
      prefetcher.stop([request])
      #expect(prefetcher.statistics.waiting == 0)
    }
  }

  @Test
  func noMoreThanTheWidthAreLoadedAtOnceInOrder() async throws {
    let prefetcher = makePrefetcher(.disk, width: 2)
    prefetcher.start(requests(0..<4), onResult: results.note)
    turns.run()
    #expect(prefetcher.statistics == ImagePrefetcher.Statistics(waiting: 2, running: 2))
    // The second one is sent, too, before the first is answered.
    await parts.loader.wait { $0.loads == 2 }

    for number in 0..<4 {
      try await parts.loader.nextLoad(of: url(number)).respond(with: FakeResponse(body: file))
      await results.wait(for: number + 1)
      turns.run()
      #expect(prefetcher.statistics.running <= 2)
    }
    #expect(parts.loader.counts.mostRunning == 2)
    #expect(results.all.map(\.source) == (0..<4).map(url))

    prefetcher.maxConcurrentLoads = 3
    prefetcher.start(requests(10..<14))
    turns.run()
    #expect(prefetcher.statistics == ImagePrefetcher.Statistics(waiting: 1, running: 3, completed: 4))
  }

  @Test
  func pausedNothingBeginsAndWhatRunsEnds() async throws {
    let prefetcher = makePrefetcher(.disk, width: 1)
    prefetcher.start(requests(0..<2), onResult: results.note)
    turns.run()
    prefetcher.isPaused = true
    try await parts.loader.nextLoad(of: url(0)).respond(with: FakeResponse(body: file))
    await results.wait(for: 1)
    turns.run()
    #expect(prefetcher.statistics == ImagePrefetcher.Statistics(waiting: 1, completed: 1))

    prefetcher.isPaused = false
    turns.run()
    try await parts.loader.nextLoad(of: url(1)).respond(with: FakeResponse(body: file))
    await results.wait(for: 2)
    #expect(results.all.count == 2)
  }

  @Test
  func aViewThatJoinsMakesItUrgent() async throws {
    let prefetcher = makePrefetcher()
    prefetcher.start(requests(0..<1), onResult: results.note)
    turns.run()
    let load = try await parts.loader.nextLoad(of: url(0))
    var request = requests(0..<1)[0]
    request.priority = .high
    let task = pipeline.imageTask(for: request)
    await load.wait { $0.priority == .high }

    // It is stopped, and the view still gets its image.
    prefetcher.stopAll()
    load.respond(with: FakeResponse(body: file))
    #expect(try await task.image.width == 16)
    #expect(parts.loader.counts.loads == 1)
  }

  @Test
  func itsPriorityChangesThatOfWhatRuns() async throws {
    let prefetcher = makePrefetcher(.disk)
    prefetcher.start(requests(0..<1), onResult: results.note)
    turns.run()
    let load = try await parts.loader.nextLoad(of: url(0))
    prefetcher.priority = .veryLow
    await load.wait { $0.priority == .veryLow }
    load.fail(.connectionLost)
    await results.wait(for: 1)
    #expect(prefetcher.statistics.failed == 1)
  }

  @Test
  func oneThatFailsIsToldAndTheOthersGoOn() async {
    answer()
    parts.loader.answer(url(1), failing: .cannotConnect)
    makePrefetcher(width: 1).start(requests(0..<3))
    // The prefetcher is gone: nothing more begins. With one that stays:
    let prefetcher = makePrefetcher(width: 1)
    prefetcher.start(requests(0..<3), onResult: results.note)
    await run(until: 3)

    #expect(results.all.map { $0.error == nil } == [true, false, true])
    #expect(prefetcher.statistics == ImagePrefetcher.Statistics(completed: 2, failed: 1))
  }

  @Test
  func whenItIsReleasedWhatRunsIsCancelled() async throws {
    var prefetcher: ImagePrefetcher? = makePrefetcher(.disk)
    prefetcher?.start(requests(0..<3))
    turns.run()
    let load = try await parts.loader.nextLoad(of: url(0))
    prefetcher = nil

    await load.wait { $0.isCancelled }
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func twoWhoWaitForTheSameLoadItOnceAndLeaveAlone() async throws {
    let prefetcher = ImagePrefetcher(pipeline, destination: .disk)
    let (first, second) = (
      Task { await prefetcher.load(requests(0..<1)) }, Task { await prefetcher.load(requests(0..<1)) },
    )
    let load = try await parts.loader.nextLoad(of: url(0))
    try await until { prefetcher.claimCount >= 2 }
    first.cancel()
    let gone = await first.value
    #expect(throws: LoadError.self) { try gone[0].get() }
    #expect(!load.status.isCancelled)

    load.respond(with: FakeResponse(body: file))
    try await second.value[0].get()
    #expect(parts.loader.counts.loads == 1)
  }
}

/// A decoder whose process ends.
private struct CrashingDecoder: ImageDecoder {
  var formats: [ImageFormat] { [.png] }

  func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    throw ImageError(.decoderFailed, format: format, "the process has ended")
  }

  func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? { nil }
}
