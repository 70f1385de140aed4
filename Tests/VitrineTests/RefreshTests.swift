import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// Pictures that have changed at their source.
@MainActor
@Suite(.patient)
struct RefreshTests {
  private static let url = "https://example.invalid/0"

  private let loader = FakeLoader()
  private let cache = CountingDataCache()
  private let mailbox = FrameMailbox.manual()
  private let screen = PictureScreen()
  private let pipeline: ImagePipeline
  private let slot: ImageSlot

  /// A view that remembers the version of its picture, and the last error.
  private final class PictureScreen: ImageDisplay {
    private(set) var versions: [Int?] = []
    private(set) var failure: LoadError?

    func show(_ content: ImageSlot.Content) {
      switch content {
      case .image(let response, _): versions.append(Pictures.name(of: response.image)?.version)
      case .failure(let error, shows: .keepCurrent): failure = error
      case .empty, .placeholder, .preview, .failure: versions.append(nil)
      }
    }
  }

  init() {
    pipeline = ImagePipeline(.ephemeral) { [loader, cache] in
      ($0.loader, $0.diskCache, $0.memoryPressure) = (loader, cache, nil)
    }
    slot = ImageSlot(pipeline: pipeline, mailbox: mailbox)
    slot.display = screen
  }

  private func answer(_ load: FakeLoad, _ version: Int) {
    load.respond(headers: ["Cache-Control": "max-age=600", "ETag": "\"\(version)\""])
    load.send(Pictures.file(0, version))
    load.finish()
  }

  /// Delivers until the screen has shown so many pictures.
  private func shows(_ count: Int, on screen: PictureScreen? = nil) async {
    while (screen ?? self.screen).versions.count < count {
      mailbox.deliver()
      await Task.yield()
    }
  }

  private func showFirst() async throws {
    slot.load(Self.url)
    answer(try await loader.nextLoad(of: Self.url), 1)
    await shows(1)
    await pipeline.cache.flush()
  }

  @Test
  func aSlotReloadsAndKeepsItsPictureMeanwhile() async throws {
    try await showFirst()
    await pipeline.refresh(Self.url)
    #expect(pipeline.cachedImage(for: ImageRequest(url: Self.url)) == nil)
    mailbox.deliver()
    // A cell that is bound again changes nothing.
    slot.load(Self.url)
    let load = try await loader.nextLoad(of: Self.url)
    #expect(load.request.headers["Cache-Control"] == "no-cache")
    #expect(screen.versions == [1])
    answer(load, 2)
    await shows(2)
    #expect(screen.versions == [1, 2])
    await pipeline.cache.flush()
    #expect(await pipeline.cache.data(for: Self.url) == Pictures.file(0, 2))
    // Neither the slot nor anyone else asks again.
    slot.load(Self.url)
    mailbox.deliver()
    #expect(Pictures.name(of: try await pipeline.image(for: Self.url))?.version == 2)
    #expect(loader.counts.loads == 2)
  }

  @Test
  func aFailedReloadKeepsThePictureAndReportsTheErrorAndRetryAsksAgain() async throws {
    try await showFirst()
    await pipeline.refresh(Self.url)
    mailbox.deliver()
    try await loader.nextLoad(of: Self.url).respond(with: FakeResponse(status: 404))
    while screen.failure == nil {
      mailbox.deliver()
      await Task.yield()
    }
    #expect(screen.failure?.status == 404)
    #expect(screen.versions == [1])
    slot.retry()
    answer(try await loader.nextLoad(of: Self.url), 2)
    await shows(2)
    #expect(screen.versions == [1, 2])
  }

  @Test
  func aLoadFromBeforeIsNeitherShownNorStored() async throws {
    slot.load(Self.url)
    let task = pipeline.imageTask(for: Self.url)
    let early = try await loader.nextLoad(of: Self.url)
    await pipeline.refresh(Self.url)
    mailbox.deliver()
    let late = try await loader.nextLoad(of: Self.url)
    answer(late, 2)
    await shows(1)
    answer(early, 1)
    #expect(Pictures.name(of: try await task.image)?.version == 1)
    mailbox.deliver()
    #expect(screen.versions == [2])
    await pipeline.cache.flush()
    #expect(await pipeline.cache.data(for: Self.url) == Pictures.file(0, 2))
  }

  @Test
  func aHiddenSlotReloadsWhenItIsVisible() async throws {
    try await showFirst()
    slot.isVisible = false
    await pipeline.refresh(Self.url)
    mailbox.deliver()
    #expect(loader.counts.loads == 1)
    slot.isVisible = true
    answer(try await loader.nextLoad(of: Self.url), 2)
    await shows(2)
    #expect(screen.versions == [1, 2])
  }

  @Test
  func everySizeOfTheSourceReloadsAndNoOtherSource() async throws {
    try await showFirst()
    let (otherScreen, smallScreen) = (PictureScreen(), PictureScreen())
    let (other, small) = (
      ImageSlot(pipeline: pipeline, mailbox: mailbox), ImageSlot(pipeline: pipeline, mailbox: mailbox),
    )
    (other.display, small.display) = (otherScreen, smallScreen)
    other.load("https://example.invalid/1")
    let otherLoad = try await loader.nextLoad(of: "https://example.invalid/1")
    small.load(ImageRequest(.first(of: [.url(Self.url)]), size: .pixels(8, 8)))
    await shows(1, on: smallScreen)
    await pipeline.refresh(Self.url)
    mailbox.deliver()
    // Both sizes share the transfer.
    answer(try await loader.nextLoad(of: Self.url), 2)
    await shows(2)
    await shows(2, on: smallScreen)
    #expect(screen.versions.last == 2 && smallScreen.versions.last == 2)
    #expect(loader.counts.loads == 3 && !otherLoad.status.isCancelled)
  }

  @Test
  func twoRefreshesAtOnceEndWithTheLastPicture() async throws {
    try await showFirst()
    async let first: Void = pipeline.refresh(Self.url)
    async let second: Void = pipeline.refresh(Self.url)
    _ = await (first, second)
    mailbox.deliver()
    answer(try await loader.nextLoad(of: Self.url), 2)
    await shows(2)
    #expect(screen.versions == [1, 2])
  }

  @Test
  func aCancelledReloadKeepsThePicture() async throws {
    try await showFirst()
    slot.reload()
    let load = try await loader.nextLoad(of: Self.url)
    slot.cancel()
    #expect(load.status.isCancelled)
    mailbox.deliver()
    #expect(screen.versions == [1] && screen.failure == nil && !slot.isLoading)
  }

  /// Files and closures are only in memory, and their bytes have no identity.
  @Test(arguments: [false, true])
  func aSourceWithoutAServerIsReadAgain(fromMemoryOnly: Bool) async throws {
    let (begun, gates) = (Counter(), [Gate<Data>(), Gate<Data>()])
    let source = ImageSource.closure(id: "own") {
      let number = begun.increase()
      return await gates[number - 1].value()
    }
    slot.load(ImageRequest(source))
    let early = pipeline.imageTask(for: ImageRequest(source))
    await begun.reaches(1)
    if fromMemoryOnly {
      await pipeline.cache.remove(ImageRequest(source), in: .memory)
      slot.reload()
    } else {
      await pipeline.refresh(ImageRequest(source))
      mailbox.deliver()
    }
    await begun.reaches(2)
    gates[1].open(Pictures.file(0, 2))
    await shows(1)
    gates[0].open(Pictures.file(0, 1))
    #expect(Pictures.name(of: try await early.image)?.version == 1)
    mailbox.deliver()
    #expect(screen.versions == [2])
    #expect(pipeline.cachedImage(for: ImageRequest(source)).map { Pictures.name(of: $0.image)?.version } == 2)
  }

  /// A list of sources has a key of its own.
  @Test
  func aLoadOfSeveralSourcesIsNotJoinedAfterTheRemovalOfOne() async throws {
    let request = ImageRequest(.first(of: [.url(Self.url), .url("https://example.invalid/1")]))
    let early = pipeline.imageTask(for: request)
    let first = try await loader.nextLoad(of: Self.url)
    await pipeline.cache.remove(Self.url)
    let late = pipeline.imageTask(for: request)
    answer(try await loader.nextLoad(of: Self.url), 2)
    answer(first, 1)
    #expect(Pictures.name(of: try await early.image)?.version == 1)
    #expect(Pictures.name(of: try await late.image)?.version == 2)
  }

  @Test(arguments: [ImagePrefetcher.Destination.memory, .disk])
  func aRunningPrefetchBeginsAnew(destination: ImagePrefetcher.Destination) async throws {
    let prefetcher = ImagePrefetcher(pipeline, destination: destination)
    async let results = prefetcher.load([ImageRequest(url: Self.url)])
    let early = try await loader.nextLoad(of: Self.url)
    await pipeline.refresh(Self.url)
    let late = try await loader.nextLoad(of: Self.url)
    #expect(early.status.isCancelled)
    answer(late, 2)
    #expect(await results.allSatisfy { (try? $0.get()) != nil })
    await pipeline.cache.flush()
    #expect(await pipeline.cache.data(for: Self.url) == Pictures.file(0, 2))
    #expect(prefetcher.statistics == ImagePrefetcher.Statistics(completed: 1))
  }

  /// A look on disk that began before the removal ends after it.
  @Test
  func whatWasFoundBeforeTheRemovalIsNotForLaterLoads() async throws {
    let disk = HeldHeads(cache)
    let pipeline = ImagePipeline(.ephemeral) { [loader] in
      ($0.loader, $0.diskCache, $0.memoryPressure) = (loader, disk, nil)
    }
    var request = ImageRequest(url: Self.url)
    request.processors = [Pictures.mark(1) { _ in }]
    let first = pipeline.imageTask(for: request)
    answer(try await loader.nextLoad(of: Self.url), 1)
    _ = try await first.image
    await pipeline.cache.flush()
    await pipeline.cache.removeAll(in: .memory)

    disk.isHolding.withLock { $0 = true }
    let early = pipeline.imageTask(for: request)
    await disk.found.reaches(1)
    disk.isHolding.withLock { $0 = false }
    await pipeline.cache.remove(Self.url)
    disk.gate.open()
    answer(try await loader.nextLoad(of: Self.url), 2)
    #expect(Pictures.name(of: try await early.image)?.version == 2)
    #expect(Pictures.name(of: try await pipeline.image(for: request))?.version == 2)
    await pipeline.cache.flush()
    #expect(await pipeline.cache.data(for: Self.url) == Pictures.file(0, 2))
  }

  /// A cache whose look-ups end when the test says so.
  private final class HeldHeads: DataCaching {
    let isHolding = Lock(false)
    let found = Counter()
    let gate = Gate()
    private let cache: CountingDataCache

    init(_ cache: CountingDataCache) { self.cache = cache }

    func heads(for keys: [CacheKey]) async -> [CachedDataHead?] {
      let heads = await cache.heads(for: keys)
      if isHolding.withLock({ $0 }) {
        found.increase()
        await gate.value()
      }
      return heads
    }

    func entry(for key: CacheKey) async -> CachedData? { await cache.entry(for: key) }
    func store(_ entry: CachedData, for key: CacheKey) async { await cache.store(entry, for: key) }
    func remove(_ key: CacheKey) async { await cache.remove(key) }
    func removeAll() async { await cache.removeAll() }
    func contains(_ key: CacheKey) async -> Bool { await cache.contains(key) }
    func entries() async -> [DataCacheEntry] { await cache.entries() }
    func statistics() async -> DataCacheStatistics { await cache.statistics() }
    func flush() async { await cache.flush() }
    func renew(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async -> Bool {
      await cache.renew(key, contentID: contentID, expires: expires, metadata: metadata)
    }
  }
}
