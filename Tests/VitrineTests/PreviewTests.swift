import Testing
import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// Previews on their way through a pipeline: few, one at a time, and never kept.
@Suite(.patient)
struct PreviewTests {
  private let parts = PipelineParts()
  private let decoder = StoppingDecoder()
  private let pipeline: ImagePipeline
  private let url = "https://example.org/a.jpg"
  /// Progressive: its first scan ends behind 5,100 bytes, the next ones worth a look behind 14,800 and 24,700.
  private let file: Data

  init() throws {
    let decoder = decoder
    pipeline = ImagePipeline.testing(parts) {
      $0.decoders = DecoderRegistry([decoder])
      $0.maxConcurrentDecodes = 2
    }
    file = try Photograph.data("lighthouse-progressive.jpg")
  }

  private var head: HTTPFields { ["Content-Length": "\(file.count)", "Cache-Control": "max-age=60"] }

  /// A pipeline that decodes one thing after the other.
  private var inTurn: ImagePipeline {
    ImagePipeline.testing(parts) {
      $0.decoders = DecoderRegistry([decoder])
      $0.maxConcurrentDecodes = 1
    }
  }

  /// An image that is decoded after all that is waiting.
  private var other: ImageRequest {
    var request = ImageRequest(.data(file, id: "other"))
    request.priority = .veryLow
    return request
  }

  /// The next event that is a preview or the end.
  private func next(_ events: inout AsyncStream<ImageEvent>.Iterator) async -> ImageEvent? {
    while let event = await events.next(isolation: #isolation) {
      if case .progress = event { continue }
      return event
    }
    return nil
  }

  @Test
  func previewsComeAsScansArriveAndThenTheImage() async throws {
    let task = pipeline.imageTask(for: ImageRequest(url: url))
    var events = task.events.makeAsyncIterator()
    let load = try await parts.loader.nextLoad(of: url)
    load.respond(headers: head)
    let whole = try Bitmap(decoding: file)

    var quality: [Double] = []
    var sent = 0
    for end in [9000, 16_000, 26_000] {
      // Many small pieces, of which only the one that ends a scan leads to anything.
      for start in stride(from: sent, to: end, by: 500) { load.send(file[start..<min(start + 500, end)]) }
      sent = end
      guard case .preview(let preview) = await next(&events) else {
        Issue.record("no preview at \(end)")
        return
      }
      #expect(preview.bitmap.width == whole.width && preview.bitmap.height == whole.height)
      quality.append(preview.bitmap.psnr(against: whole))
      #expect(pipeline.cachedImage(for: task.request) == nil)
      try await pipeline.hasLetGoOfPreviews()
    }
    load.send(file[sent...])
    load.finish()

    guard case .finished(let result) = await next(&events) else {
      Issue.record("another preview")
      return
    }
    #expect(quality == quality.sorted())
    #expect(try result.get().image.largestDifference(from: whole) == 0)
    #expect(pipeline.cachedImage(for: task.request)?.image.largestDifference(from: whole) == 0)
    #expect(decoder.opened == 4)
    #expect(parts.diskCache.counts.writes <= 1)
  }

  /// A file that is replaced while it comes is seen no more on its way, and comes whole.
  @Test
  func afterABeginningOfAnotherVersionComesTheImage() async throws {
    let pipeline = ImagePipeline.testing(parts) { $0.retryPolicy = .exponential(maxAttempts: 2, random: { 1 }) }
    let task = pipeline.imageTask(for: ImageRequest(url: url))
    var events = task.events.makeAsyncIterator()
    let first = try await parts.loader.nextLoad(of: url)
    first.respond(headers: ["ETag": "\"1\"", "Content-Length": "\(file.count)"])
    for start in stride(from: 0, to: 9000, by: 500) { first.send(file[start..<start + 500]) }
    guard case .preview = await next(&events) else {
      Issue.record("no preview")
      return
    }
    first.fail(.connectionLost)
    await parts.clock.pendingCount(reaches: 1)
    parts.clock.advance(by: .seconds(1))
    let second = try await parts.loader.nextLoad(of: url)
    second.respond(headers: ["ETag": "\"2\"", "Content-Length": "\(TestPicture.png.count)"])
    second.send(TestPicture.png)
    second.finish()
    guard case .finished(let result) = await next(&events) else {
      Issue.record("another preview")
      return
    }
    #expect(try result.get().image.largestDifference(from: Bitmap(decoding: TestPicture.png)) == 0)
    #expect(parts.loader.counts.loads == 2)
  }

  #if VITRINE_APPLE
  // ImageIO is given no GIF that is cut.
  private static let interlaced = ["white-lighthouse-adam7.png"]
  #else
  private static let interlaced = ["white-lighthouse-adam7.png", "spinnakers-interlaced.gif"]
  #endif

  @Test(arguments: interlaced)
  func interlacedFilesAreSeenOnTheirWayToo(name: String) async throws {
    let interlaced = try Photograph.data(name)
    let pipeline = ImagePipeline.testing(parts)
    let task = pipeline.imageTask(for: ImageRequest(url: url))
    var events = task.events.makeAsyncIterator()
    let load = try await parts.loader.nextLoad(of: url)
    load.respond(headers: ["Content-Length": "\(interlaced.count)", "Cache-Control": "max-age=60"])
    let whole = try Bitmap(decoding: interlaced)

    let part = interlaced.count * 6 / 10
    for start in stride(from: 0, to: part, by: 1000) { load.send(interlaced[start..<min(start + 1000, part)]) }
    guard case .preview(let preview) = await next(&events) else {
      Issue.record("no preview")
      return
    }
    #expect(preview.bitmap.width == whole.width && preview.bitmap.height == whole.height)
    #expect(preview.bitmap.psnr(against: whole) > 15)
    #expect(await !pipeline.cache.contains(task.request))
    load.send(interlaced[part...])
    load.finish()

    #expect(try await task.image.largestDifference(from: whole) == 0)
    #expect(pipeline.cachedImage(for: task.request)?.image.largestDifference(from: whole) == 0)
  }

  @Test
  func whereNobodyWatchesNoneIsDecoded() async throws {
    let task = pipeline.imageTask(for: ImageRequest(url: url))
    let load = try await parts.loader.nextLoad(of: url)
    load.respond(headers: head)
    for start in stride(from: 0, to: file.count, by: 1000) { load.send(file[start..<min(start + 1000, file.count)]) }
    load.finish()

    #expect(try await task.image.width == 768)
    #expect(decoder.opened == 1)
  }

  @Test(arguments: [false, true])
  func noneIsDecodedIfNoneIsWantedOrAProcessorTakesNone(isProcessed: Bool) async throws {
    var request = ImageRequest(url: url)
    if isProcessed {
      request.processors = [.custom(id: "costly", processesPreviews: false) { $0 }]
    } else {
      request.previews = .none
    }
    let pipeline = inTurn
    let task = pipeline.imageTask(for: request)
    var events = task.events.makeAsyncIterator()
    let load = try await parts.loader.nextLoad(of: url)
    load.respond(headers: head)
    load.send(file.prefix(30_000))
    // Behind whatever that has led to.
    _ = try await pipeline.image(for: other)
    #expect(decoder.opened == 1)
    load.send(file[30_000...])
    load.finish()

    guard case .finished = await next(&events) else {
      Issue.record("a preview")
      return
    }
    #expect(decoder.opened == 2)
  }

  @Test
  func oneThatWaitsToBeDecodedIsGivenUpWhenTheImageIsThere() async throws {
    let pipeline = inTurn
    decoder.stop()
    let first = pipeline.imageTask(for: other)
    await decoder.waitUntilStopped()
    let task = pipeline.imageTask(for: ImageRequest(url: url))
    let events = task.events
    let load = try await parts.loader.nextLoad(of: url)
    load.respond(headers: head)
    load.send(file.prefix(9000))
    load.send(file[9000...])
    load.finish()
    await load.wait { $0.isEnded }
    decoder.proceed()

    #expect(try await task.image.width == 768)
    _ = try await first.image
    for await event in events { if case .preview = event { Issue.record("a preview") } }
    #expect(decoder.opened == 2)
  }

  @Test
  func whatComesWhileADelegateIsAskedIsLookedAtNext() async throws {
    let delegate = AskedDelegate(decoder: decoder)
    let pipeline = ImagePipeline.testing(parts) {
      $0.delegate = delegate
      $0.maxConcurrentDecodes = 1
    }
    let task = pipeline.imageTask(for: ImageRequest(url: url))
    var events = task.events.makeAsyncIterator()
    let load = try await parts.loader.nextLoad(of: url)
    load.respond(headers: head)
    load.send(file.prefix(4200))
    await delegate.reached.value()
    load.send(file[4200..<9000])
    delegate.gate.open()

    // Without any more bytes.
    guard case .preview = await next(&events) else {
      Issue.record("no preview")
      return
    }
    task.cancel()
  }

  @Test
  func whileOneIsBeingProcessedNoOtherIs() async throws {
    let (count, reached, opened) = (Counter(), Gate(), Gate())
    var request = ImageRequest(url: url)
    request.processors = [
      .custom(id: "slow") { bitmap in
        if count.increase() == 1 {
          reached.open()
          // On the pipeline's own thread, which may wait.
          opened.wait()
        }
        return bitmap
      }
    ]
    let pipeline = inTurn
    let task = pipeline.imageTask(for: request)
    var events = task.events.makeAsyncIterator()
    let load = try await parts.loader.nextLoad(of: url)
    load.respond(headers: head)
    load.send(file.prefix(9000))
    await reached.value()
    try await pipeline.hasLetGoOfPreviews()
    load.send(file[9000..<26_000])
    // Behind the second preview, first in one queue and then in the other.
    var other = other
    _ = try await pipeline.image(for: other)
    #expect(decoder.opened == 3)
    opened.open()
    other.processors = [.custom(id: "other") { $0 }]
    _ = try await pipeline.image(for: other)
    #expect(count.count == 1)
    guard case .preview = await next(&events) else {
      Issue.record("no preview")
      return
    }
    load.send(file[26_000...])
    load.finish()
    _ = try await task.image
    task.cancel()
  }

  @Test
  func whileOneIsBeingDecodedNoOtherIs() async throws {
    decoder.stop()
    let task = pipeline.imageTask(for: ImageRequest(url: url))
    var events = task.events.makeAsyncIterator()
    let load = try await parts.loader.nextLoad(of: url)
    load.respond(headers: head)
    load.send(file.prefix(9000))
    await decoder.waitUntilStopped()
    load.send(file[9000..<26_000])
    load.send(file[26_000..<27_000])
    #expect(decoder.opened == 1)

    decoder.proceed()
    guard case .preview = await next(&events) else {
      Issue.record("no preview")
      return
    }
    #expect(decoder.opened == 1)
    try await pipeline.hasLetGoOfPreviews()
    // The next bytes bring what was missed, at once and not scan by scan.
    load.send(file[27_000..<28_000])
    guard case .preview = await next(&events) else {
      Issue.record("no second preview")
      return
    }
    load.send(file[28_000...])
    load.finish()
    guard case .finished = await next(&events) else {
      Issue.record("a third preview")
      return
    }
    #expect(decoder.opened == 3)
  }

  @Test
  func aPreviewThatIsLateIsNotShownBehindTheImage() async throws {
    decoder.stop()
    let task = pipeline.imageTask(for: ImageRequest(url: url))
    let events = task.events
    let load = try await parts.loader.nextLoad(of: url)
    load.respond(headers: head)
    load.send(file.prefix(9000))
    await decoder.waitUntilStopped()
    decoder.letOthersPass()
    load.send(file[9000...])
    load.finish()
    let image = try await task.image
    decoder.proceed()

    var last = "nothing"
    for await event in events {
      switch event {
      case .progress: break
      case .preview: last = "a preview"
      case .finished: last = "the image"
      }
      #expect(last != "a preview")
    }
    #expect(last == "the image")
    #expect(pipeline.cachedImage(for: task.request)?.image.largestDifference(from: image) == 0)
  }

  @Test
  func cancelledWhileAPreviewIsBeingDecodedNothingIsLeft() async throws {
    decoder.stop()
    let task = pipeline.imageTask(for: ImageRequest(url: url))
    let events = task.events
    let load = try await parts.loader.nextLoad(of: url)
    load.respond(headers: head)
    load.send(file.prefix(9000))
    await decoder.waitUntilStopped()
    task.cancel()
    decoder.proceed()

    for await event in events { if case .preview = event { Issue.record("a preview") } }
    #expect(pipeline.loadCount == 0)
    #expect(pipeline.cachedImage(for: task.request) == nil)
    #expect(parts.diskCache.counts.writes == 0)
  }

  @Test
  func anErrorPageHasNoPreviews() async throws {
    let task = pipeline.imageTask(for: ImageRequest(url: url))
    var events = task.events.makeAsyncIterator()
    let load = try await parts.loader.nextLoad(of: url)
    load.respond(status: 404, headers: head)
    load.send(file.prefix(30_000))
    load.send(file[30_000...])
    load.finish()

    guard case .finished(.failure(let error)) = await next(&events) else {
      Issue.record("not a failure")
      return
    }
    #expect(error.code == .badStatus)
    #expect(decoder.opened == 0)
  }

  @Test
  func twoSizesOfOneDownloadHaveTheirOwnPreviews() async throws {
    let large = pipeline.imageTask(for: ImageRequest(url: url))
    let small = pipeline.imageTask(for: ImageRequest(url: url, size: .pixels(60, 60)))
    var largeEvents = large.events.makeAsyncIterator()
    var smallEvents = small.events.makeAsyncIterator()
    let load = try await parts.loader.nextLoad(of: url)
    load.respond(headers: head)
    load.send(file.prefix(1000))
    // The second size looks on disk first. Who comes after the last bytes has no preview.
    await small.hasBytes()
    load.send(file[1000..<9000])

    guard case .preview(let first) = await next(&largeEvents), case .preview(let second) = await next(&smallEvents)
    else {
      Issue.record("no previews")
      return
    }
    #expect([first.bitmap.width, first.bitmap.height] == [768, 512] as [Int])
    #expect([second.bitmap.width, second.bitmap.height] == [60, 40] as [Int])
    #expect(parts.loader.counts.loads == 1)
    large.cancel()
    small.cancel()
    await load.wait { $0.isCancelled }
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func whoBeginsToWatchInTheMiddleHasPreviewsFromThenOn() async throws {
    let task = pipeline.imageTask(for: ImageRequest(url: url))
    let load = try await parts.loader.nextLoad(of: url)
    load.respond(headers: head)
    load.send(file.prefix(9000))
    #expect(decoder.opened == 0)

    var events = task.events.makeAsyncIterator()
    load.send(file[9000..<9100])
    guard case .preview = await next(&events) else {
      Issue.record("no preview")
      return
    }
    task.cancel()
  }
}

extension ImagePipeline {
  /// Waits until no preview is being decoded.
  ///
  /// Bytes that come before a worker has let go of a preview lead to none, although the preview has been shown.
  func hasLetGoOfPreviews() async throws {
    try await until { context.decodeQueue.runningCount == 0 }
  }
}

/// Says what decodes once it is let go on.
private final class AskedDelegate: PipelineDelegate {
  let decoder: StoppingDecoder
  let reached = Gate()
  let gate = Gate()

  init(decoder: StoppingDecoder) { self.decoder = decoder }

  func decoders(for request: ImageRequest, firstBytes: Data) -> DecoderRegistry? {
    reached.open()
    // On the pipeline's own thread, which may wait.
    gate.wait()
    return DecoderRegistry([decoder])
  }
}

/// Decodes JPEG, counts how often, and stops at the first picture if it is told to.
private final class StoppingDecoder: ImageDecoder {
  private struct State {
    var opened = 0
    var isStopping = false
    var isLettingPass = false
    var isStopped = false
  }

  private let inner = JPEGDecoder()
  private let state = Monitor(State())
  private let reached = Gate()

  var formats: [ImageFormat] { inner.formats }
  var opened: Int { state.withLock { $0.opened } }

  func stop() { state.withLock { $0.isStopping = true } }

  func waitUntilStopped() async { await reached.value() }

  /// Lets all but the one go on that is stopped.
  func letOthersPass() { state.withLock { $0.isLettingPass = true } }

  func proceed() {
    state.withLock { $0.isStopping = false }
    state.broadcast()
  }

  func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    try unsafe inner.info(of: bytes, format: format, limits: limits)
  }

  func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    let passes = state.withLock { state in
      state.opened += 1
      return state.isLettingPass || !state.isStopping
    }
    if !passes {
      reached.open()
      // On the pipeline's own thread, which may wait.
      state.wait { $0.isStopping ? .wait : .leave(()) }
    }
    return try unsafe inner.open(bytes, request)
  }
}
