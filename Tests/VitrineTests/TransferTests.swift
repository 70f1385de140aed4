import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// What a pipeline does while bytes are on their way.
@Suite(.patient)
struct TransferTests {
  private let parts = PipelineParts()
  private let pipeline: ImagePipeline
  private let url = "https://example.org/a.png"
  private let file: Data

  init() throws {
    pipeline = ImagePipeline.testing(parts)
    // Noise, so that its bytes are not few: 180,000.
    file = try Bitmap.pixels(width: 300, height: 200, alpha: .opaque) { x, y in
      var noise = UInt64(truncatingIfNeeded: y * 300 + x + 1) &* 0x9E37_79B9_7F4A_7C15
      noise = (noise ^ (noise >> 30)) &* 0xBF58_476D_1CE4_E5B9
      return SIMD4(UInt8(noise >> 56), UInt8(noise >> 48 & 255), UInt8(noise >> 40 & 255), 255)
    }.encoded(as: .png)
  }

  private var head: HTTPFields { ["Content-Length": "\(file.count)", "Cache-Control": "max-age=60"] }

  @Test
  func progressIsToldAsBytesArrive() async throws {
    let task = pipeline.imageTask(for: ImageRequest(url: url))
    let events = task.events
    let load = try await parts.loader.nextLoad(of: url)
    load.respond(headers: head)
    load.send(file.prefix(70_000))
    load.send(file.dropFirst(70_000).prefix(70_000))
    load.send(file.dropFirst(140_000))
    load.finish()

    var progress: [Int] = []
    for await event in events {
      guard case .progress(let now) = event else { continue }
      progress.append(now.completed)
      #expect(now.total == file.count)
    }
    #expect(progress.prefix(2) == [70_000, 140_000])
    #expect(progress == progress.sorted())
    #expect(try await task.image.width == 300)
  }

  @Test
  func whoComesInTheMiddleLearnsHowMuchIsThere() async throws {
    _ = pipeline.imageTask(for: ImageRequest(url: url))
    let load = try await parts.loader.nextLoad(of: url)
    load.respond(headers: head)
    load.send(file.prefix(70_000))

    var events = pipeline.imageTask(for: ImageRequest(url: url)).events.makeAsyncIterator()
    guard case .progress(let progress) = await events.next() else {
      Issue.record("no progress")
      return
    }
    #expect(progress.completed == 70_000)
    #expect(parts.loader.counts.loads == 1)
  }

  @Test
  func cancelledInTheMiddleOfTheBodyTheLoadIsFreedAndNothingIsStored() async throws {
    let task = pipeline.imageTask(for: ImageRequest(url: url))
    let load = try await parts.loader.nextLoad(of: url)
    load.respond(headers: head)
    load.send(file.prefix(70_000))
    task.cancel()

    await load.wait { $0.isCancelled && $0.isEnded }
    let error = await #expect(throws: LoadError.self) { try await task.image }
    #expect(error?.isCancellation == true)
    #expect(pipeline.loadCount == 0)
    #expect(parts.diskCache.counts.writes == 0)
  }

  @Test
  func cancelledInTheMiddleAndAskedForAgainItIsLoadedAnew() async throws {
    let first = pipeline.imageTask(for: ImageRequest(url: url))
    let cancelled = try await parts.loader.nextLoad(of: url)
    cancelled.send(file.prefix(70_000))
    first.cancel()
    let second = pipeline.imageTask(for: ImageRequest(url: url))
    let load = try await parts.loader.nextLoad(of: url)
    cancelled.send(Data("too late".utf8))
    cancelled.finish()
    load.respond(with: FakeResponse(body: file))

    #expect(try await second.image.width == 300)
    #expect(parts.loader.counts.loads == 2)
  }

  @Test
  func oneOfTwoLeavingInTheMiddleOfTheBodyLeavesTheLoadToTheOther() async throws {
    let first = pipeline.imageTask(for: ImageRequest(url: url))
    let second = pipeline.imageTask(for: ImageRequest(url: url, size: .pixels(30, 20)))
    let load = try await parts.loader.nextLoad(of: url)
    load.respond(headers: head)
    load.send(file.prefix(70_000))
    // It has looked on disk, and joined.
    await second.hasBytes()
    first.cancel()
    #expect(load.status.isCancelled == false)
    load.send(file.dropFirst(70_000))
    load.finish()

    #expect(try await second.image.width == 30)
    #expect(parts.loader.counts.loads == 1)
  }

  @Test
  func aPriorityRaisedWhileItIsLoadedReachesTheLoaderAndFallsAgain() async throws {
    let first = pipeline.imageTask(for: ImageRequest(url: url, priority: .low))
    let load = try await parts.loader.nextLoad(of: url)
    // Who asks begins the load, and a moment later has the handle to change it with.
    first.priority = .normal
    await load.wait { $0.priority == .normal }
    let second = pipeline.imageTask(for: ImageRequest(url: url, priority: .veryHigh))
    await load.wait { $0.priority == .veryHigh }
    second.cancel()
    await load.wait { $0.priority == .normal }
    #expect(load.status.priorities == [.low, .normal, .veryHigh, .normal])
  }

  @Test
  func aConnectionLostInTheMiddleIsAnErrorOfTheFetch() async throws {
    let task = pipeline.imageTask(for: ImageRequest(url: url))
    let load = try await parts.loader.nextLoad(of: url)
    load.respond(headers: head)
    load.send(file.prefix(70_000))
    load.fail(.connectionLost)

    let error = await #expect(throws: LoadError.self) { try await task.image }
    #expect(error?.code == .fetchFailed)
    #expect(error?.stage == .fetch)
    #expect((error?.cause as? HTTPError)?.code == .connectionLost)
    #expect(parts.diskCache.counts.writes == 0)
  }

  @Test
  func twoHundredCallersOfOneAddressMakeOneRequest() async throws {
    let request = ImageRequest(url: url)
    let tasks = (0..<200).map { _ in pipeline.imageTask(for: request) }
    try await parts.loader.nextLoad(of: url).respond(with: FakeResponse(body: file))

    for task in tasks { #expect(try await task.response.origin == .network) }

    #expect(parts.loader.counts.loads == 1)
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func cacheOnlyAsksNoServer() async {
    parts.loader.answer(url, with: file)
    var request = ImageRequest(url: url)
    request.cachePolicy = .cacheOnly
    let error = await #expect(throws: LoadError.self) { try await pipeline.image(for: request) }
    #expect(error?.code == .notCached)
    #expect(parts.loader.counts.loads == 0)
  }

  @Test
  func theDecodersAreNamedInAccept() async throws {
    parts.loader.answer(url, with: file)
    _ = try await pipeline.image(for: ImageRequest(url: url))
    #expect(parts.loader.requests.first?.headers["Accept"]?.contains("image/webp") == true)
  }

  @Test
  func whatIsStaleInMemoryIsRevalidatedBeforeItIsAwaited() async throws {
    parts.loader.answer(url, with: file, headers: ["ETag": "\"one\"", "Cache-Control": "max-age=60"])
    let request = ImageRequest(url: url)
    _ = try await pipeline.image(for: request)
    await parts.diskCache.wait(forWrites: 1)
    parts.clock.advance(by: .seconds(61))

    #expect(pipeline.cachedImage(for: request)?.isStale == true)
    #expect(try await pipeline.imageTask(for: request).response.origin == .revalidated)
    #expect(pipeline.cachedImage(for: request)?.isStale == false)
  }

  private func makeTransfer() throws -> Transfer {
    let plan = BodySink.Plan(fields: [:], requested: parts.clock.now, clock: parts.clock, pending: PendingWrites())
    return Transfer(try HTTPRequest(url), by: parts.loader, into: BodySink(plan, nil) { _ in })
  }

  @Test
  func aPriorityThatChangesBeforeItIsHandedOverIsWhatTheLoaderHears() throws {
    let transfer = try makeTransfer()
    transfer.setDemand(WorkDemand(.high))
    #expect(parts.loader.requests.map(\.priority) == [.high])
  }

  @Test
  func whatIsCancelledBeforeItIsHandedOverIsNeverBegun() throws {
    let transfer = try makeTransfer()
    transfer.setDemand(nil)
    transfer.setDemand(WorkDemand(.high))
    #expect(parts.loader.counts.loads == 0)
  }
}
