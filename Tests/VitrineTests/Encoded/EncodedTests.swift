import Dispatch
import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Images as files: who shares them, where they are kept, and what goes wrong.
@Suite(.patient)
struct EncodedTests {
  private static let url = "https://example.org/a.png"
  private let parts = PipelineParts()
  private let decoder = CountingDecoder()
  private let encoder = CountingEncoder()
  private let file = TestPicture.png
  private let request = ImageRequest(url: url, size: .pixels(32, 32))

  /// A pipeline as after a start of the program.
  private func start(_ configure: (inout ImagePipeline.Configuration) -> Void = { _ in }) -> ImagePipeline {
    .testing(parts) { [decoder, encoder] in
      $0.decoders = DecoderRegistry([decoder])
      $0.encoders = .standard
      $0.encoders.add(encoder)
      configure(&$0)
    }
  }

  private func serve(_ body: Data? = nil, control: String = "max-age=60", tag: String = "\"1\"") {
    parts.loader.answer(Self.url, with: body ?? file, headers: ["Cache-Control": control, "ETag": tag])
  }

  private var counts: [Int] { [parts.loader.counts.loads, decoder.decodes.count, encoder.encodes.count] }

  @Test
  func whatTakesTooMuchMemoryIsNotEncoded() async throws {
    serve()
    let pipeline = ImagePipeline.testing(parts) { $0.maxEncodeBytes = 1000 }
    let error = await #expect(throws: LoadError.self) { try await pipeline.encoded(for: request, as: .png()) }
    #expect(
      error?.code == .unencodable && error?.detail.contains("over the limit of") == true,
      "\(String(describing: error))",
    )
    #expect((error?.cause as? ImageError)?.limit == .memoryByteCount)
    try await until { pipeline.makingCount == 0 }
  }

  /// The map is read where it is written, and images without one are shared with those who want none.
  @Test
  func gainMapsAreKeptByThePolicy() async throws {
    var photograph = ImageContainer(.testPattern(width: 120, height: 80))
    photograph.gainMap = GainMap(.testPattern(width: 60, height: 40), GainMapFormula(maximum: 2))
    serve(try EncoderRegistry.standard.encode(photograph, as: .jpeg().metadata(.keep)).data)
    let pipeline = ImagePipeline.testing(parts) { $0.encoders = .standard }
    func map(_ encoding: ImageEncoding) async throws -> [Int]? {
      var options = DecodeOptions()
      options.dynamicRange = .high
      let file = try await pipeline.encoded(for: request, as: encoding).data
      return try DecoderRegistry.standard.decode(file, options).gainMap?.bitmap.size
    }
    #expect(try await map(.jpeg()) == nil)
    #expect(try await map(.jpeg().metadata(.only(.author))) == nil)
    #expect(try await map(.jpeg().metadata(.keep)) == [16, 11])
    #expect(try await map(.jpeg().metadata(.only(.gainMap))) == [16, 11])
    #expect(try await map(.png().metadata(.keep)) == nil)
    // A program that shows it asks for it.
    var bright = request
    bright.dynamicRange = .high
    #expect(try await pipeline.imageTask(for: bright).response.container.gainMap?.bitmap.size == [16, 11])
    #expect(try await pipeline.imageTask(for: request).response.container.gainMap == nil)
    #expect(parts.loader.counts.loads == 1)
  }

  // MARK: Sharing

  @Test
  func twoHundredCallersCostOneFetchOneDecodeAndOneEncode() async throws {
    let pipeline = start()
    let callers = (0..<200).map { _ in Task { try await pipeline.encoded(for: request, as: .png()) } }
    let load = try await parts.loader.nextLoad(of: Self.url)
    load.respond(headers: ["Cache-Control": "max-age=60", "ETag": "\"1\"", "Content-Length": "\(file.count)"])
    load.send(file)
    load.finish()
    var images: Set<Data> = []
    for caller in callers { images.insert(try await caller.value.data) }
    #expect(images.count == 1)
    #expect(counts == [1, 1, 1])
    await pipeline.cache.flush()

    // The second start of the program.
    let again = start()
    let later = (0..<200).map { _ in Task { try await again.encoded(for: request, as: .png()) } }
    for caller in later {
      let image = try await caller.value
      #expect(image.origin == .disk)
      #expect(images.contains(image.data))
    }
    #expect(counts == [1, 1, 1])
  }

  @Test
  func whoWantsTheImageSharesItsDecode() async throws {
    let pipeline = start()
    async let encoded = pipeline.encoded(for: request, as: .png())
    let load = try await parts.loader.nextLoad(of: Self.url)
    async let image = pipeline.image(for: request)
    load.respond(headers: ["Cache-Control": "max-age=60"])
    load.send(file)
    load.finish()
    #expect(try await Bitmap(decoding: encoded.data).psnr(against: image) == .infinity)
    #expect(counts == [1, 1, 1])
  }

  @Test
  func otherOptionsAreOtherFilesOfOneDecode() async throws {
    serve()
    let pipeline = start()
    let small = try await pipeline.encoded(for: request, as: .jpeg(quality: 20))
    let large = try await pipeline.encoded(for: request, as: .jpeg(quality: 95))
    let png = try await pipeline.encoded(for: request, as: .png())
    #expect(small.data.count < large.data.count)
    #expect([small.format, large.format, png.format] == [.jpeg, .jpeg, .png])
    #expect(counts == [1, 1, 1])
    await pipeline.cache.flush()
    let again = start()
    #expect(try await again.encoded(for: request, as: .jpeg(quality: 20)).data == small.data)
    #expect(try await again.encoded(for: request, as: .jpeg(quality: 95)).data == large.data)
    #expect(counts == [1, 1, 1])
  }

  // MARK: The response

  @Test
  func theResponseTellsWhatAServerNeeds() async throws {
    serve()
    let image = try await start().encoded(for: request, as: .png())
    #expect((image.width, image.height) == (32, 24))
    #expect(image.format == .png)
    #expect(image.origin == .network)
    #expect(image.status == 200)
    #expect(image.contentID == ContentID(of: file))
    #expect(image.expires == parts.clock.now.addingTimeInterval(60))
    #expect(!image.isStale)
    #expect(!image.isOriginal)
    let bitmap = try Bitmap(decoding: image.data)
    #expect((bitmap.width, bitmap.height) == (32, 24))
  }

  @Test
  func aLocalSourceIsEncodedAndKeptNowhere() async throws {
    let pipeline = start()
    let local = ImageRequest(.data(file, id: "local"), size: .pixels(32, 32))
    let image = try await pipeline.encoded(for: local, as: .png())
    await pipeline.cache.flush()
    #expect(image.origin == .local)
    #expect(image.contentID == nil)
    #expect(image.expires == nil)
    #expect(await parts.diskCache.entries().isEmpty)
  }

  @Test
  func theFirstOfSeveralSourcesThatIsThereIsEncoded() async throws {
    serve()
    parts.loader.answer("https://example.org/missing.png", FakeResponse(status: 404))
    let several = ImageRequest(
      .first(of: [.url("https://example.org/missing.png"), .url(Self.url)]),
      size: .pixels(32, 32),
    )
    let pipeline = start()
    #expect(try await pipeline.encoded(for: several, as: .png()).width == 32)
    // It is kept as that of its own source.
    #expect(await pipeline.explain(request, as: .png()).origin == .disk)
  }

  @Test
  func automaticTakesWhatIsAcceptedAndFitsThePicture() async throws {
    serve()
    let transparent = Bitmap.pixels(width: 20, height: 20) { x, y in SIMD4(UInt8(x), UInt8(y), 0, UInt8(x * 12)) }
    let see = ImageRequest(.data(try transparent.encoded(as: .png), id: "see"))
    let pipeline = start()
    func format(_ request: ImageRequest, _ accept: String?) async throws -> ImageFormat {
      try await pipeline.encoded(for: request, as: .automatic(accepting: accept)).format
    }
    #expect(try await format(request, nil) == .png)
    #expect(try await format(request, "image/*,*/*") == .png)
    #expect(try await format(see, "text/html") == .png)
    if EncoderRegistry.standard.formats.contains(.webp) {
      #expect(try await format(request, "image/webp,*/*;q=0.8") == .webp)
      #expect(try await format(see, "image/avif;q=0, image/webp;q=0.5") == .webp)
      #expect(try await format(see, "image/webp;q=0") == .png)
    }
  }

  @Test(
    arguments: [
      ("image/avif,image/webp,image/apng,*/*;q=0.8", [.avif, .webp]), ("image/webp, image/jxl", [.jxl, .webp]),
      ("IMAGE/WEBP", [.webp]), ("image/avif;q=0.5,image/webp;q=0.9", [.webp, .avif]),
      ("image/avif;q=0,image/webp", [.webp]),
      ("image/avif ; q=0.1 , image/webp; q = 0.05", [.avif, .webp]), ("image/avif-sequence", [.avif]),
      ("a/b, image/webp;q=0.3", [.webp]), (nil, []), ("", []), ("*/*", []), ("image/*,*/*;q=0.8", []),
      ("text/html", []),
      ("image/avif;q=0", []), (";;;,,,", []), ("image/avif;q=nan", []), ("image/png,image/jpeg", []),
    ] as [(String?, [ImageFormat])]
  )
  func anAcceptHeaderPrefersTheSmallestOfTheHighestWeight(accept: String?, preferred: [ImageFormat]) {
    #expect(ImageEncoding.automatic(accepting: accept) == .automatic(preferring: preferred))
  }

  // MARK: What is kept

  @Test
  func whatMustNotBeStoredIsNot() async throws {
    serve(control: "no-store")
    let pipeline = start()
    _ = try await pipeline.encoded(for: request, as: .png())
    await pipeline.cache.flush()
    #expect(await parts.diskCache.entries().isEmpty)
  }

  @Test(arguments: [StoragePolicy.automatic, .finished])
  func whatMustNotBeStoredAnyMoreIsNot(_ policy: StoragePolicy) async throws {
    serve()
    let pipeline = start { $0.storagePolicy = policy }
    _ = try await pipeline.encoded(for: request, as: .png())
    await pipeline.cache.flush()
    parts.clock.advance(by: .seconds(70))
    if policy == .automatic {
      let (url, fields) = (Self.url, ["Cache-Control": "no-store", "ETag": "\"1\""] as HTTPFields)
      parts.loader.answer(url, FakeResponse(status: 304, headers: fields, body: Data()))
    } else {
      serve(control: "no-store")
    }
    #expect(try await !pipeline.encoded(for: request, as: .png()).data.isEmpty)
    await pipeline.cache.flush()
    #expect(await parts.diskCache.entries().isEmpty)
  }

  @Test(arguments: [CacheAccess.all.subtracting(.diskWrites), .none])
  func aRequestThatWritesNothingWritesNothing(_ access: CacheAccess) async throws {
    serve()
    var request = request
    request.cacheAccess = access
    let pipeline = start()
    _ = try await pipeline.encoded(for: request, as: .png())
    await pipeline.cache.flush()
    #expect(await parts.diskCache.entries().isEmpty)
  }

  @Test
  func thePixelsAreNotStoredBesideTheFile() async throws {
    serve()
    let pipeline = start { $0.storagePolicy = .both }
    _ = try await pipeline.encoded(for: request, as: .png())
    await pipeline.cache.flush()
    #expect(await parts.diskCache.entries().count == 2)
    // But with whoever wants them.
    let again = start { $0.storagePolicy = .both }
    _ = try await again.image(for: request)
    await again.cache.flush()
    #expect(await parts.diskCache.entries().count == 3)
  }

  /// A finished image of more than 512 KB is a JPEG on disk.
  @Test
  func nothingIsEncodedFromPixelsThatWereStoredWithLosses() async throws {
    let file = try Bitmap.testPattern(width: 800, height: 600).encoded(as: .png)
    serve(file)
    let large = ImageRequest(url: Self.url, size: .pixels(600, 600))
    let first = start { $0.storagePolicy = .both }
    _ = try await first.image(for: large)
    await first.cache.flush()

    let again = start { $0.storagePolicy = .both }
    let shown = try await again.image(for: large)
    let encoded = try await again.encoded(for: large, as: .png())

    let exact = try DecoderRegistry.standard.decode(file, DecodeOptions(size: .pixels(600, 600))).bitmap
    #expect(shown.largestDifference(from: exact) > 0)
    #expect(try Bitmap(decoding: encoded.data).largestDifference(from: exact) == 0)
    // The exact pixels are those in memory from now on.
    #expect(try await again.image(for: large).largestDifference(from: exact) == 0)
    #expect(parts.loader.counts.loads == 1)
  }

  @Test
  func nothingIsEncodedFromALargerVariant() async throws {
    let file = try Bitmap.testPattern(width: 400, height: 300).encoded(as: .png)
    serve(file)
    let size = ImageRequest(url: Self.url, size: .pixels(90, 90))
    let fresh = try await start().encoded(for: size, as: .png())
    await parts.diskCache.removeAll()

    let pipeline = start()
    _ = try await pipeline.image(for: ImageRequest(url: Self.url, size: .pixels(210, 210)))
    _ = try await pipeline.image(for: size)

    #expect(try await pipeline.encoded(for: size, as: .png()).data == fresh.data)
  }

  /// There are no bytes from which it could be made again.
  @Test
  func anImageThatAProgramHasStoredIsEncodedWithoutLoss() async throws {
    let large = ImageRequest(url: Self.url, size: .pixels(600, 600))
    let picture = Bitmap.testPattern(width: 600, height: 450)
    await start().cache.store(picture, for: large)

    let encoded = try await start().encoded(for: large, as: .png())

    #expect(try Bitmap(decoding: encoded.data).largestDifference(from: picture) == 0)
    #expect(parts.loader.counts.loads == 0)
  }

  /// The image's own job waits for that of the file, and the other way round.
  @Test(arguments: [false, true])
  func imageAndFileShareADecodeInEitherOrder(imageFirst: Bool) async throws {
    let pipeline = start { $0.storagePolicy = .both }
    let first: Task<Void, any Error>
    if imageFirst {
      first = Task { _ = try await pipeline.image(for: request) }
    } else {
      first = Task { _ = try await pipeline.encoded(for: request, as: .png()) }
    }
    let load = try await parts.loader.nextLoad(of: Self.url)
    let second: Task<Void, any Error>
    if imageFirst {
      second = Task { _ = try await pipeline.encoded(for: request, as: .png()) }
    } else {
      second = Task { _ = try await pipeline.image(for: request) }
    }
    load.respond(headers: ["Cache-Control": "max-age=60"])
    load.send(file)
    load.finish()
    try await first.value
    try await second.value
    await pipeline.cache.flush()
    #expect(counts == [1, 1, 1])
    // The finished image, too, which somebody wanted; who comes late may find it in memory.
    if imageFirst { #expect(await parts.diskCache.entries().count == 3) }
  }

  @Test(arguments: [MetadataPolicy.strip, .keep])
  func anOriginalOfANamedFormatIsPassedOn(metadata: MetadataPolicy) async throws {
    serve()
    let pipeline = start()
    var encoding = ImageEncoding.jpeg().metadata(metadata)
    let made = try await pipeline.encoded(for: request, as: encoding)
    encoding.passedOn = [.gif]
    #expect(try await pipeline.encoded(for: request, as: encoding).data == made.data)
    encoding.passedOn = [.gif, .png]
    let image = try await pipeline.encoded(for: request, as: encoding)
    #expect(image.isOriginal && image.format == .png && image.data == file)
    await pipeline.cache.flush()
    // From disk, and not as the file that was made before.
    let again = try await start().encoded(for: request, as: encoding)
    #expect(again.data == file && again.origin == .disk)
    #expect(parts.loader.counts.loads == 1)
  }

  @Test
  func aPolicyOfOriginalsKeepsNoFile() async throws {
    serve()
    let pipeline = start { $0.storagePolicy = .original }
    _ = try await pipeline.encoded(for: request, as: .png())
    await pipeline.cache.flush()
    #expect(await parts.diskCache.entries().map(\.kind) == [.original])
  }

  @Test
  func aDelegateMayKeepAFileFromTheDisk() async throws {
    struct Refusal: PipelineDelegate {
      func storesEncoded(_ image: EncodedImage, for request: ImageRequest) -> Bool { image.width > 100 }
    }
    serve()
    let pipeline = start { $0.delegate = Refusal() }
    _ = try await pipeline.encoded(for: request, as: .png())
    await pipeline.cache.flush()
    #expect(await parts.diskCache.entries().map(\.kind) == [.original])
  }

  @Test
  func removingTheImageRemovesItsFiles() async throws {
    serve()
    let pipeline = start()
    _ = try await pipeline.encoded(for: request, as: .png())
    await pipeline.cache.flush()
    await pipeline.cache.remove(request)
    #expect(await parts.diskCache.entries().isEmpty)
  }

  @Test(arguments: [
    "encoded3", "encoded 2\nnonsense", "encoded 2\npng\nimage/png\npng\n3 2\n200\n- - - - -\npublic",
  ])
  func anEntryWithADamagedOrAnEarlierHeadIsMadeAgain(head: String) async throws {
    serve()
    let pipeline = start()
    let image = try await pipeline.encoded(for: request, as: .png())
    await pipeline.cache.flush()
    for entry in await parts.diskCache.entries() where entry.kind == .finished {
      var damaged = try #require(await parts.diskCache.peek(entry.key))
      damaged.metadata = Data(head.utf8)
      await parts.diskCache.store(damaged, for: entry.key)
    }
    #expect(try await start().encoded(for: request, as: .png()).data == image.data)
    #expect(counts == [1, 2, 2])
  }

  // MARK: Freshness

  @Test
  func afterARevalidationTheFileIsFreshAgain() async throws {
    serve()
    let pipeline = start()
    _ = try await pipeline.encoded(for: request, as: .png())
    await pipeline.cache.flush()
    parts.clock.advance(by: .seconds(61))
    let confirmed = try await start().encoded(for: request, as: .png())
    #expect(confirmed.origin == .revalidated)
    await pipeline.cache.flush()
    let again = try await start().encoded(for: request, as: .png())
    #expect((again.origin, again.isStale) == (.disk, false))
    #expect(counts == [2, 1, 1])
  }

  @Test
  func anotherSizesRevalidationCountsForThisOne() async throws {
    serve()
    let pipeline = start()
    _ = try await pipeline.encoded(for: request, as: .png())
    await pipeline.cache.flush()
    parts.clock.advance(by: .seconds(61))
    _ = try await start().encoded(for: ImageRequest(url: Self.url, size: .pixels(8, 8)), as: .png())
    let image = try await start().encoded(for: request, as: .png())
    #expect((image.origin, image.isStale) == (.disk, false))
    #expect(image.expires == parts.clock.now.addingTimeInterval(60))
    #expect(counts == [2, 2, 2])
  }

  @Test
  func newBytesOfTheSourceMakeANewFile() async throws {
    serve()
    let pipeline = start()
    let old = try await pipeline.encoded(for: request, as: .png())
    await pipeline.cache.flush()
    serve(try Bitmap.testPattern(width: 48, height: 64).encoded(as: .png), tag: "\"2\"")
    var other = ImageRequest(url: Self.url, size: .pixels(8, 8))
    other.cachePolicy = .reload
    let third = start()
    _ = try await third.image(for: other)
    await third.cache.flush()
    let new = try await start().encoded(for: request, as: .png())
    #expect(new.contentID != old.contentID)
    #expect((new.width, new.height) == (24, 32))
  }

  @Test
  func aStaleFileIsServedWhileItIsRevalidated() async throws {
    serve(control: "max-age=60, stale-while-revalidate=600")
    let pipeline = start()
    let old = try await pipeline.encoded(for: request, as: .png())
    await pipeline.cache.flush()
    parts.clock.advance(by: .seconds(70))
    serve(try Bitmap.testPattern(width: 48, height: 64).encoded(as: .png), tag: "\"2\"")
    let second = start()
    #expect(await second.explain(request, as: .png()).transfer == .behind)
    let stale = try await second.encoded(for: request, as: .png())
    #expect((stale.isStale, stale.data) == (true, old.data))
    await parts.loader.wait { $0.loads == 2 && $0.running == 0 }
    // Joins the one that revalidates, unless that has ended.
    var revalidation = request
    revalidation.revalidates = true
    _ = try await second.encoded(for: revalidation, as: .png())
    await second.cache.flush()
    let new = try await start().encoded(for: request, as: .png())
    #expect((new.isStale, new.width, new.height) == (false, 24, 32))
    #expect(counts == [2, 2, 2])
  }

  @Test
  func aServerThatCannotBeReachedLeavesTheStaleFile() async throws {
    serve()
    let pipeline = start()
    let old = try await pipeline.encoded(for: request, as: .png())
    await pipeline.cache.flush()
    parts.clock.advance(by: .seconds(61))
    parts.loader.answer(Self.url, failing: .cannotConnect)
    let stale = try await start().encoded(for: request, as: .png())
    #expect((stale.isStale, stale.data) == (true, old.data))
  }

  // MARK: Errors and the end

  @Test
  func anErrorNamesTheStage() async throws {
    serve()
    func failure(_ encoders: EncoderRegistry) async -> LoadError? {
      do throws(LoadError) {
        _ = try await start { $0.encoders = encoders }.encoded(for: request, as: .png())
        return nil
      } catch {
        return error
      }
    }
    let none = await failure(EncoderRegistry([JPEGEncoder()]))
    #expect((none?.code, none?.stage) == (.unencodable, .encode))
    #expect(none?.errorDescription == "\(Self.url) could not be encoded: png cannot be encoded by this build")
    let failed = await failure(EncoderRegistry([FailingEncoder()]))
    #expect((failed?.code, failed?.stage) == (.unencodable, .encode))
    #expect(failed?.detail == "cannot be encoded as png: there is no ink")

    parts.loader.answer(Self.url, FakeResponse(status: 404))
    var anew = request
    anew.cachePolicy = .reload
    await #expect(throws: LoadError.self) { try await start().encoded(for: anew, as: .png()) }
  }

  @Test
  func theLastCallerToLeaveStopsTheWork() async throws {
    let pipeline = start()
    let callers = (0..<3).map { _ in Task { try await pipeline.encoded(for: request, as: .png()) } }
    let load = try await parts.loader.nextLoad(of: Self.url)
    for caller in callers { caller.cancel() }
    for caller in callers {
      let error = await #expect(throws: LoadError.self) { try await caller.value }
      #expect(error?.isCancellation == true)
    }
    await parts.loader.wait { $0.cancelled == 1 }
    _ = load
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func encodingStopsWhenNobodyWantsItAnyMore() async throws {
    serve()
    let (hasBegun, mayGoOn) = (Gate(), Gate())
    var slow = encoder
    slow.before = {
      hasBegun.open()
      mayGoOn.wait()
    }
    let pipeline = start { [slow] in
      $0.encoders = EncoderRegistry([slow])
      $0.maxConcurrentDecodes = 1
    }
    let caller = Task { try await pipeline.encoded(for: request, as: .png()) }
    await hasBegun.value()
    caller.cancel()
    _ = await caller.result
    #expect(pipeline.loadCount == 0)
    mayGoOn.open()
    // Encoded by the same worker, after the first.
    _ = try await pipeline.encoded(for: ImageRequest(url: Self.url, size: .pixels(8, 8)), as: .png())
    await pipeline.cache.flush()
    #expect(await parts.diskCache.entries().count { $0.kind == .finished } == 1)
  }

  @Test
  func cancellingARequestEndsTheCallersOfItsURL() async throws {
    let pipeline = start()
    let caller = Task { try await pipeline.encoded(for: request, as: .png()) }
    _ = try await parts.loader.nextLoad(of: Self.url)
    pipeline.cancel(for: try #require(URL(string: Self.url)))
    let error = await #expect(throws: LoadError.self) { try await caller.value }
    #expect(error?.isCancellation == true)
  }
}
