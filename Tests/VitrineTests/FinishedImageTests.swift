import Testing
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// Images kept as they are shown.
@Suite(.patient)
struct FinishedImageTests {
  private static let url = "https://example.org/a.png"
  private let parts = PipelineParts()
  private let decoder = CountingDecoder()
  private let steps = Counter()
  private let file = TestPicture.png
  private let newer: Data

  init() throws {
    newer = try Bitmap.testPattern(width: 48, height: 64).encoded(as: .png)
  }

  /// A pipeline as after a start of the program.
  private func start(_ storage: StoragePolicy = .both) -> ImagePipeline {
    .testing(parts) { [decoder] in
      $0.decoders = DecoderRegistry([decoder])
      $0.storagePolicy = storage
    }
  }

  private func request(_ side: Double = 32, _ processors: [ImageProcessor] = []) -> ImageRequest {
    ImageRequest(url: Self.url, size: .pixels(side, side), processors: processors)
  }

  private func serve(_ body: Data? = nil, control: String = "max-age=60", tag: String = "\"1\"") {
    parts.loader.answer(Self.url, with: body ?? file, headers: ["Cache-Control": control, "ETag": tag])
  }

  private func load(_ request: ImageRequest, _ pipeline: ImagePipeline) async throws -> ImageResponse {
    let response = try await pipeline.imageTask(for: request).response
    await pipeline.cache.flush()
    return response
  }

  @Test
  func afterARestartNothingIsFetchedDecodedOrProcessed() async throws {
    serve()
    let request = request(32, [steps.processor("step")])
    let first = try await load(request, start())

    let again = try await load(request, start())

    #expect(again.origin == .disk)
    #expect(!again.isStale)
    #expect(again.image.psnr(against: first.image) == .infinity)
    #expect(again.info.width == 64)
    #expect(again.status == 200)
    #expect(again.byteCount == file.count)
    #expect(parts.loader.counts.loads == 1)
    #expect(decoder.decodes.count == 1)
    #expect(steps.count == 1)
  }

  @Test
  func theAgeThatARequestNamesCountsInPlaceOfTheServersWord() async throws {
    serve()
    _ = try await load(request(), start())
    parts.clock.advance(by: .seconds(61))
    var request = request()

    request.cachePolicy = .maxAge(.seconds(90))
    let named = try await load(request, start())
    request.cachePolicy = .cacheFirst
    let whatever = try await load(request, start())

    #expect((named.origin, named.isStale) == (.disk, false))
    #expect((whatever.origin, whatever.isStale) == (.disk, true))
    #expect((parts.loader.counts.loads, decoder.decodes.count) == (1, 1))
  }

  @Test
  func aStepThatIsKeptIsNotDoneAgainForTheNext() async throws {
    serve()
    let (one, two) = (steps.processor("one"), steps.processor("two"))
    _ = try await load(request(32, [one]), start())
    #expect(steps.count == 1)

    _ = try await load(request(32, [one, two]), start())

    #expect(steps.count == 2)
    #expect(decoder.decodes.count == 1)
  }

  @Test
  func whatIsStaleIsConfirmedWithoutDecodingAndFreshAfterwards() async throws {
    serve()
    _ = try await load(request(), start())
    parts.clock.advance(by: .seconds(61))

    #expect(try await load(request(), start()).origin == .revalidated)
    let again = try await load(request(), start())

    #expect(again.origin == .disk)
    #expect(!again.isStale)
    #expect(parts.loader.counts.loads == 2)
    #expect(decoder.decodes.count == 1)
  }

  @Test
  func newBytesOrphanWhatWasMadeOfTheOldOnes() async throws {
    serve()
    _ = try await load(request(), start())
    serve(newer, tag: "\"2\"")
    var other = request(16)
    other.cachePolicy = .reload
    _ = try await load(other, start())

    let now = try await load(request(), start())

    #expect(now.image.height == 32)
    #expect(parts.loader.counts.loads == 2)
  }

  @Test
  func whenTheServerIsDownItStandsInAndSaysSo() async throws {
    serve()
    _ = try await load(request(), start(.finished))
    parts.clock.advance(by: .seconds(3600))
    parts.loader.answer(Self.url, failing: .cannotConnect)

    let response = try await load(request(), start(.finished))
    #expect(response.isStale)
    #expect(response.image.width == 32)
    #expect(decoder.decodes.count == 1)
  }

  @Test(
    arguments: [(.original, 1, 0), (.finished, 0, 1), (.both, 1, 1), (.automatic, 1, 0)] as [(StoragePolicy, Int, Int)]
  )
  func eachPolicyKeepsWhatItSays(storage: StoragePolicy, originals: Int, finished: Int) async throws {
    serve()
    let pipeline = start(storage)
    _ = try await load(request(), pipeline)
    let kinds = await parts.diskCache.entries().map(\.kind)
    #expect(kinds.filter { $0 == .original }.count == originals)
    #expect(kinds.filter { $0 == .finished }.count == finished)
    // At its own size there is nothing but the bytes.
    await pipeline.cache.removeAll()
    _ = try await load(ImageRequest(url: Self.url), pipeline)
    #expect(await parts.diskCache.entries().map(\.kind) == [.original])
  }

  @Test
  func automaticallyWhatIsProcessedOrMuchSmallerIsKept() async throws {
    let large = try Bitmap.testPattern(width: 1250, height: 800).encoded(as: .png)
    parts.loader.answer(Self.url, with: large, headers: ["Cache-Control": "max-age=60"])
    let pipeline = start(.automatic)
    func finished() async -> Int { await parts.diskCache.entries().filter { $0.kind == .finished }.count }
    _ = try await load(request(625), pipeline)
    #expect(await finished() == 1)
    _ = try await load(request(700), pipeline)
    #expect(await finished() == 1)
    _ = try await load(request(700, [steps.processor("step")]), pipeline)
    #expect(await finished() == 2)
    #expect(parts.loader.counts.loads == 1)
  }

  @Test
  func theRequestsOwnPolicyCountsAndBothShareOneDownload() async throws {
    var (bytes, shown) = (request(32), request(32))
    (bytes.storagePolicy, shown.storagePolicy) = (.original, .finished)
    let pipeline = start(.both)
    let tasks = [pipeline.imageTask(for: bytes), pipeline.imageTask(for: shown)]
    let load = try await parts.loader.nextLoad(of: Self.url)
    load.respond(headers: ["Cache-Control": "max-age=60"])
    load.send(file.prefix(100))
    // The second has looked on disk, and joined.
    for task in tasks { await task.hasBytes() }
    load.send(file.dropFirst(100))
    load.finish()
    for task in tasks { _ = try await task.image }
    await pipeline.cache.flush()

    #expect(Set(await parts.diskCache.entries().map(\.kind)) == [.original, .finished])
    #expect(parts.loader.counts.loads == 1)
  }

  @Test
  func whatMustNotBeStoredIsNot() async throws {
    serve(control: "no-store")
    _ = try await load(request(), start())
    #expect(await parts.diskCache.entries().isEmpty)
  }

  @Test
  func whatTakesItsPlaceAndMustNotBeStoredTakesItAway() async throws {
    serve()
    _ = try await load(request(), start())
    serve(try Bitmap.testPattern(width: 50, height: 40).encoded(as: .png), control: "no-store", tag: "\"2\"")
    var anew = request()
    anew.cachePolicy = .reload
    _ = try await load(anew, start())

    // Else it would be shown for as long as it is fresh, although its server has replaced it.
    #expect(await parts.diskCache.entries().isEmpty)
  }

  @Test
  func removedItIsGoneWithItsSource() async throws {
    serve()
    let pipeline = start()
    _ = try await load(request(), pipeline)
    _ = try await load(request(16), pipeline)
    #expect(await pipeline.cache.contains(request(16), in: .disk))

    await pipeline.cache.remove(ImageRequest(url: Self.url))

    #expect(await parts.diskCache.entries().isEmpty)
    #expect(await !pipeline.cache.contains(request(16), in: .disk))
  }

  @Test
  func whatIsDamagedIsMadeAnew() async throws {
    serve()
    _ = try await load(request(), start(.finished))
    parts.diskCache.damage(with: Data("nothing".utf8))

    let again = try await load(request(), start(.finished))

    #expect(again.image.width == 32)
    #expect(again.origin == .network)
  }

  @Test(arguments: 0...1)
  func aCacheThatGivesLessThanItWasAskedForSaysNothing(count: Int) async throws {
    serve()
    _ = try await load(request(), start())
    let cache = OddDataCache(cache: parts.diskCache) { Array(await $0.heads(for: $1).prefix(count)) }
    let pipeline = ImagePipeline.testing(parts) { $0.diskCache = cache }

    #expect(await pipeline.explain(request()).finished == .missing)
    let response = try await load(request(), pipeline)

    // Of the original, which is asked for by itself.
    #expect(response.origin == .disk)
    #expect(response.image.width == 32)
    #expect(parts.loader.counts.loads == 1)
  }

  @Test
  func whatTakesThePlaceOfAnImageBetweenTwoLooksIsNotTakenForIt() async throws {
    let key = request().keys.image
    serve()
    _ = try await load(request(), start(.finished))
    let fresh = try #require(await parts.diskCache.peek(key))
    serve(newer, control: "max-age=1", tag: "\"2\"")
    var anew = request()
    anew.cachePolicy = .reload
    _ = try await load(anew, start(.finished))
    let stale = try #require(await parts.diskCache.peek(key))
    parts.clock.advance(by: .seconds(30))
    await parts.diskCache.store(fresh, for: key)
    let cache = OddDataCache(cache: parts.diskCache) { cache, keys in
      let heads = await cache.heads(for: keys)
      await cache.store(stale, for: key)
      return heads
    }
    let pipeline = ImagePipeline.testing(parts) { ($0.diskCache, $0.storagePolicy) = (cache, .finished) }

    let response = try await load(request(), pipeline)

    #expect(response.origin == .network)
    #expect(parts.loader.counts.loads == 3)
  }

  @Test
  func anImageInMemoryForOtherFieldsDoesNotHideTheRightOneOnDisk() async throws {
    let headers: HTTPFields = ["Cache-Control": "max-age=60", "Vary": "Accept-Language"]
    var (german, english) = (request(), request())
    german.headers["Accept-Language"] = "de"
    english.headers["Accept-Language"] = "en"
    let pipeline = start()
    parts.loader.answer(Self.url, with: file, headers: headers)
    _ = try await load(german, pipeline)
    // Another process has asked meanwhile.
    parts.loader.answer(Self.url, with: newer, headers: headers)
    _ = try await load(english, start())
    let counts = (parts.loader.counts.loads, decoder.decodes.count)

    let explanation = await pipeline.explain(english)
    let response = try await load(english, pipeline)

    #expect(explanation.memory == .unusable("made for other values of the fields in Vary"))
    #expect(response.origin == .disk)
    #expect(response.info.width == 48)
    #expect(parts.loader.counts.loads == counts.0)
    withKnownIssue("the first request for a variant that another process has stored looks for images of the plain key")
    {
      #expect((explanation.origin, explanation.decodes) == (.disk, false))
      #expect(decoder.decodes.count == counts.1)
    }
  }

  // MARK: As bytes

  private func image(_ bitmap: Bitmap, parameters: DecodeParameters? = nil) -> LoadedImage {
    var info = ImageInfo(format: .jpeg, storedWidth: 4000, storedHeight: 3000, orientation: .right)
    (info.hasAlpha, info.frameCount, info.duration) = (true, 3, 1.5)
    let id = ContentID(low: 1, high: 2)
    let validity = Validity(
      expires: Date(timeIntervalSince1970: 100),
      confirmed: Date(timeIntervalSince1970: 50),
      usableOnErrorUntil: nil,
      usableWhileRevalidatingUntil: Date(timeIntervalSince1970: 120),
      variation: ["accept": "image/webp, */*;q=0.5", "x": ""],
      isKept: true,
      isPrivate: true,
      modified: Date(timeIntervalSince1970: 40),
    )
    let container = ImageContainer(bitmap, info: info)
    return LoadedImage(container, id, validity, status: 203, byteCount: 12345, parameters)
  }

  @Test(arguments: [Bitmap.Alpha.opaque, .straight, .premultiplied])
  func whatIsSmallComesBackAsItWas(alpha: Bitmap.Alpha) throws {
    let bitmap = Bitmap.testPattern(width: 31, height: 17).declared(alpha)
    let image = image(bitmap, parameters: DecodeParameters(frame: 2, quality: .best, isWhole: true))
    let entry = try #require(FinishedImage.entry(of: image, stored: Date(timeIntervalSince1970: 60)))
    let back = try #require(FinishedImage.image(of: entry))

    #expect(back.container.bitmap.psnr(against: bitmap) == .infinity)
    #expect(back.container.bitmap.alpha == alpha)
    #expect(back.info == image.info)
    #expect(back.status == 203)
    #expect(back.byteCount == 12345)
    #expect(back.validity == image.validity)
    #expect(back.parameters == image.parameters)
    #expect(back.contentID == image.contentID)
    #expect(entry.kind == .finished)
  }

  @Test
  func whatIsLargeIsAJPEGOrWhereSomethingShinesThroughALosslessWebP() throws {
    let opaque = Bitmap.testPattern(width: 800, height: 600)
    let entry = try #require(FinishedImage.entry(of: image(opaque), stored: .now))
    #expect(entry.data.prefix(2) == Data([0xFF, 0xD8]))
    #expect(try #require(FinishedImage.image(of: entry)).container.bitmap.psnr(against: opaque) > 30)

    // Wholly covered pixels and half covered ones.
    let half = unsafe Bitmap(width: 400, height: 400, alpha: .straight) { pixels in
      for index in pixels.indices { unsafe pixels[index] = index % 8 == 3 ? 128 : 255 }
    }
    let kept = try #require(FinishedImage.entry(of: image(half), stored: .now))
    let writesWebP = EncoderRegistry.standard.formats.contains(.webp)
    #expect(kept.data.prefix(4) == (writesWebP ? Data("RIFF".utf8) : Data([0x89, 0x50, 0x4E, 0x47])))
    #expect(kept.data.count < half.byteCount)
    #expect(try #require(FinishedImage.image(of: kept)).container.bitmap.psnr(against: half) == .infinity)
  }

  @Test
  func noDamageToItEverDoesHarm() throws {
    let good = try #require(
      FinishedImage.entry(of: image(Bitmap.testPattern(width: 5, height: 4)), stored: .now)
    )
    for index in good.metadata.indices {
      for change in [0x01, 0x80, 0xFF] as [UInt8] {
        var entry = good
        entry.metadata[index] ^= change
        _ = FinishedImage.image(of: entry)
      }
      var entry = good
      entry.metadata = good.metadata.prefix(index - good.metadata.startIndex)
      _ = FinishedImage.image(of: entry)
    }
    for count in 0..<good.data.count {
      var entry = good
      entry.data = good.data.prefix(count)
      #expect(FinishedImage.image(of: entry) == nil)
    }
    var original = good
    original.kind = .original
    #expect(FinishedImage.image(of: original) == nil)
  }
}

/// A cache of a user's own that looks for several keys in its own way.
private struct OddDataCache: DataCaching {
  let cache: CountingDataCache
  let look: @Sendable (CountingDataCache, [CacheKey]) async -> [CachedDataHead?]

  func heads(for keys: [CacheKey]) async -> [CachedDataHead?] { await look(cache, keys) }

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
