import Testing
import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// A slot over a real pipeline.
// It shares the main actor with tests that keep it busy for long.
@MainActor
@Suite(.patient)
struct SlotPipelineTests {
  /// A view that says when it was told something.
  private final class AwaitedView: ImageDisplay {
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private(set) var contents: [ImageSlot.Content] = []

    func show(_ content: ImageSlot.Content) {
      contents.append(content)
      for continuation in waiting { continuation.resume() }
      waiting = []
    }

    func shows(_ count: Int) async {
      while contents.count < count { await withCheckedContinuation { waiting.append($0) } }
    }

    var image: ImageResponse? {
      if case .image(let response, _) = contents.last { response } else { nil }
    }
  }

  /// A main loop that tells when it has delivered.
  @MainActor
  private final class Loop {
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private(set) lazy var mailbox = FrameMailbox { [weak self] mailbox in
      Task { @MainActor in
        mailbox.deliver()
        self?.delivered()
      }
    }

    private func delivered() {
      for continuation in waiting { continuation.resume() }
      waiting = []
    }

    func runs(until condition: () -> Bool) async {
      while !condition() { await withCheckedContinuation { waiting.append($0) } }
    }
  }

  private let source = GatedSource()
  private let file = TestPicture.png
  private let parts = PipelineParts()
  private let pipeline: ImagePipeline

  init() {
    pipeline = .testing(parts)
  }

  @Test
  func anImageComesThroughTheMainActorAndIsInMemoryTheNextTime() async {
    let slot = ImageSlot(pipeline: pipeline)
    let view = AwaitedView()
    slot.display = view
    slot.load(ImageRequest(source.source, size: .pixels(32, 32)), placeholder: .color(.init(0xE0E0E0)))
    source.open(file)
    await view.shows(2)
    #expect(view.image?.image.width == 32)

    let again = AwaitedView()
    let other = ImageSlot(pipeline: pipeline)
    other.display = again
    other.load(ImageRequest(source.source, size: .pixels(32, 32)))
    #expect(again.image?.origin == .memory)
    #expect(source.count == 1)
  }

  @Test(arguments: ["", "no address", "ftp://example.com/a.png"])
  func textThatIsNoAddressFailsVisiblyWithinTheCall(text: String) {
    let slot = ImageSlot(pipeline: pipeline)
    let view = AwaitedView()
    slot.display = view
    slot.load(text, placeholder: .symbol("image"), failure: .symbol("image-missing"))
    guard case .failure(let error, .symbol("image-missing")) = view.contents.last else {
      Issue.record("\(view.contents)")
      return
    }
    #expect(error.code == .invalidURL)
  }

  @Test
  func anotherSizeOfWhatIsBeingLoadedSharesTheTransfer() async {
    let slot = ImageSlot(pipeline: pipeline)
    let view = AwaitedView()
    slot.display = view
    slot.load(ImageRequest(source.source, size: .pixels(16, 16)))
    await source.hasBegun()
    slot.load(ImageRequest(source.source, size: .pixels(32, 32)))
    source.open(file)
    await view.shows(1)
    #expect(view.image?.image.width == 32)
    #expect(source.count == 1)
  }

  @Test
  func theViewAndTheSlotAreFreedWhileALoadIsUnderWay() async {
    var view: AwaitedView? = AwaitedView()
    var slot: ImageSlot? = ImageSlot(pipeline: pipeline, mailbox: .manual())
    slot?.display = view
    slot?.load(ImageRequest(source.source))
    await source.hasBegun()
    #expect(pipeline.loadCount > 0)
    weak let goneView = view
    weak let goneSlot = slot
    view = nil
    #expect(goneView == nil)
    slot = nil
    #expect(goneSlot == nil)
    #expect(pipeline.loadCount == 0)
    source.open(file)
  }

  @Test
  func afterTheEndNothingKeepsTheSlot() async {
    var slot: ImageSlot? = ImageSlot(pipeline: pipeline)
    let view = AwaitedView()
    slot?.display = view
    slot?.load(ImageRequest(source.source))
    source.open(file)
    await view.shows(1)
    weak let gone = slot
    slot = nil
    #expect(gone == nil)
    #expect(view.image != nil)
  }

  @Test
  func aStaleImageIsShownAtOnceAndReplacedOnlyIfTheServerHasAnother() async throws {
    let address = "https://example.org/a.png"
    let answer = FakeResponse(headers: ["Cache-Control": "max-age=60"], body: file)
    parts.loader.answer(address, answer)
    let request = ImageRequest(url: address)
    _ = try await pipeline.image(for: request)

    parts.clock.advance(by: .seconds(61))
    let loop = Loop()
    let slot = ImageSlot(pipeline: pipeline, mailbox: loop.mailbox)
    let view = AwaitedView()
    slot.display = view
    slot.load(request)
    #expect(view.image?.isStale == true)
    await loop.runs { loop.mailbox.statistics.unchanged == 1 }
    #expect(view.contents.count == 1)

    parts.clock.advance(by: .seconds(61))
    parts.loader.answer(address, with: try Bitmap.testPattern(width: 48, height: 48).encoded(as: .png))
    slot.prepareForReuse()
    slot.load(request)
    await view.shows(4)
    #expect(view.image?.image.width == 48)
    #expect(view.image?.origin == .network)
    #expect(parts.loader.counts.loads == 3)
  }

  @Test
  func whatIsShownIsNotEvictedBeforeWhatIsNot() async throws {
    let memory = MemoryCache<CachedImage>(costLimit: 10 * 64 * 48 * 4)
    let pipeline = ImagePipeline.testing(parts) { $0.memoryCache = memory }
    func request(_ index: Int) -> ImageRequest { ImageRequest(.data(file, id: "\(index)")) }
    for index in 0..<2 { _ = try await pipeline.image(for: request(index)) }
    let slot = ImageSlot(pipeline: pipeline)
    slot.load(request(0))
    for index in 2..<30 { _ = try await pipeline.image(for: request(index)) }
    #expect(pipeline.cachedImage(for: request(0)) != nil)
    #expect(pipeline.cachedImage(for: request(1)) == nil)

    slot.prepareForReuse()
    for index in 30..<60 { _ = try await pipeline.image(for: request(index)) }
    #expect(pipeline.cachedImage(for: request(0)) == nil)
  }

  @Test
  func progressOfTheTransferIsTold() async throws {
    let address = "https://example.org/a.png"
    let loop = Loop()
    let slot = ImageSlot(pipeline: pipeline, mailbox: loop.mailbox)
    let view = AwaitedView()
    slot.display = view
    var told: [LoadProgress] = []
    slot.onProgress = { told.append($0) }
    slot.load(address)
    let load = try await parts.loader.nextLoad(of: address)
    // Told in steps of some KiB.
    let file = try Bitmap.testPattern(width: 256, height: 256).encoded(as: .png)
    try #require(file.count > 16_384)
    load.respond(headers: ["Content-Length": "\(file.count)"])
    load.send(file.prefix(8_192))
    await loop.runs { !told.isEmpty }
    #expect(told.last?.completed == 8_192)
    #expect(told.last?.total == file.count)
    load.send(file.dropFirst(8_192))
    load.finish()
    await view.shows(1)
    #expect(view.image?.image.width == 256)
  }

  private final class Widths: ImageDisplay {
    private(set) var seen: [Int] = []

    func show(_ content: ImageSlot.Content) {
      switch content {
      case .preview(let preview): seen.append(preview.bitmap.width)
      case .image(let response, _): seen.append(response.image.width)
      case .empty, .placeholder, .failure: break
      }
    }
  }

  @Test(arguments: [false, true])
  func aSmallURLIsShownUntilTheLargeOneHasLoaded(isScoped: Bool) async throws {
    let loop = Loop()
    let slot =
      isScoped
      ? ImageSlot(scope: LoadScope(pipeline), mailbox: loop.mailbox)
      : ImageSlot(pipeline: pipeline, mailbox: loop.mailbox)
    let view = Widths()
    slot.display = view
    let (large, small) = ("https://example.org/large.png", "https://example.org/small.png")
    var request = ImageRequest(url: large)
    request.placeholder = .request(ImageRequest(url: small))
    slot.load(request)
    for (url, width) in [(small, 8), (large, 80)] {
      let file = try Bitmap.testPattern(width: width, height: width).encoded(as: .png)
      try await parts.loader.nextLoad(of: url).respond(with: FakeResponse(body: file))
      await loop.runs { view.seen.last == width }
    }
    #expect(view.seen == [8, 80])
  }

  @Test
  func scrollingPastLeavesNothingBehind() async throws {
    let loop = Loop()
    let slot = ImageSlot(pipeline: pipeline, mailbox: loop.mailbox)
    let view = AwaitedView()
    slot.display = view
    let last = "https://example.org/999.png"
    parts.loader.answer(last, with: file)
    for index in 0..<1000 { slot.load("https://example.org/\(index).png", placeholder: .symbol("image")) }
    await loop.runs { view.image != nil }
    #expect(view.image?.image.width == 64)
    #expect(pipeline.loadCount == 0)
    await parts.loader.wait { $0.running == 0 }
    #expect(loop.mailbox.statistics.loadsCancelled == 999)
    #expect(loop.mailbox.statistics.shownFromNetwork == 1)
  }
}
