import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// What is in memory follows what the server says of the bytes it was made of.
@Suite(.patient)
struct MemoryFreshnessTests {
  private let server: LoopbackServer
  private let file = TestPicture.png
  private let clock = ManualClock()
  private let decoder = CountingDecoder()
  private let steps = Counter()
  private let disk = CountingDataCache()
  private let pipeline: ImagePipeline

  init() throws {
    server = try LoopbackServer()
    pipeline = ImagePipeline(.ephemeral) { [decoder, clock, disk] in
      $0.memoryCache = MemoryCache(costLimit: 10 << 20)
      $0.memoryPressure = nil
      $0.diskCache = disk
      $0.decoders = DecoderRegistry([decoder])
      $0.loader = PatientLoader()
      $0.clock = clock
      $0.retryPolicy = .never
    }
  }

  private func serve(_ body: Data, tag: String? = nil, control: String = "max-age=60", status: Int = 200) {
    var response = LoopbackResponse(status: status, headers: ["Cache-Control": control], body: body)
    response.entityTag = tag
    server.route("/a.png", response)
  }

  private func request(side: Double, _ processors: [ImageProcessor] = []) -> ImageRequest {
    ImageRequest(url: server.url("/a.png"), size: .pixels(side, side), processors: processors)
  }

  @Test
  func unchangedBytesAreNotDecodedOrProcessedAgain() async throws {
    serve(file, tag: "\"one\"")
    let request = request(side: 32, [steps.processor("step")])
    let first = try await pipeline.image(for: request)
    await pipeline.cache.flush()
    clock.advance(by: .seconds(61))

    let again = try await pipeline.imageTask(for: request).response

    #expect(again.origin == .revalidated)
    #expect(again.image.psnr(against: first) == .infinity)
    #expect(decoder.decodes.count == 1)
    #expect(steps.count == 1)
    #expect(server.counts.requests == 2)
    #expect(pipeline.cachedImage(for: request)?.isStale == false)
  }

  @Test
  func one304RenewsEverySizeInMemory() async throws {
    serve(file, tag: "\"one\"")
    for side in [16.0, 32, 48] { _ = try await pipeline.image(for: request(side: side)) }
    await pipeline.cache.flush()
    clock.advance(by: .seconds(61))
    _ = try await pipeline.image(for: request(side: 16))

    for side in [16.0, 32, 48] { #expect(pipeline.cachedImage(for: request(side: side))?.isStale == false) }
    #expect(server.counts.requests == 2)
  }

  @Test
  func newBytesOrphanEverySizeMadeOfTheOldOnes() async throws {
    serve(file, tag: "\"one\"")
    for side in [16.0, 32] { _ = try await pipeline.image(for: request(side: side)) }
    await pipeline.cache.flush()
    clock.advance(by: .seconds(61))
    serve(try Bitmap.testPattern(width: 48, height: 48).encoded(as: .png), tag: "\"two\"")

    let new = try await pipeline.image(for: request(side: 16))

    #expect(new.height == 16)
    #expect(pipeline.cachedImage(for: request(side: 32)) == nil)
    #expect(try await pipeline.image(for: request(side: 32)).height == 32)
    #expect(server.counts.requests == 2)
  }

  @Test
  func newBytesForAProcessedImageAreFetchedOnceAndProcessedAnew() async throws {
    serve(file)
    let request = request(side: 32, [steps.processor("step")])
    _ = try await pipeline.image(for: request)
    clock.advance(by: .seconds(61))
    serve(try Bitmap.testPattern(width: 48, height: 48).encoded(as: .png))

    let new = try await pipeline.imageTask(for: request).response

    #expect(new.origin == .network)
    #expect(new.image.height == 32)
    #expect(steps.count == 2)
    #expect(server.counts.requests == 2)
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func whatIsNoImageTakesNothingFromMemory() async throws {
    serve(file)
    _ = try await pipeline.image(for: request(side: 16))
    clock.advance(by: .seconds(61))
    serve(Data("<html>".utf8))

    await #expect(throws: LoadError.self) { try await pipeline.image(for: request(side: 16)) }

    #expect(pipeline.cachedImage(for: request(side: 16))?.isStale == true)
  }

  @Test
  func maxAgeOfARequestCountsInMemoryInPlaceOfTheHeaders() async throws {
    serve(file, control: "max-age=3600")
    var request = request(side: 16)
    _ = try await pipeline.image(for: request)
    clock.advance(by: .seconds(61))

    #expect(pipeline.cachedImage(for: request)?.isStale == false)
    request.cachePolicy = .maxAge(.seconds(60))
    #expect(pipeline.cachedImage(for: request)?.isStale == true)
    _ = try await pipeline.image(for: request)
    #expect(server.counts.requests == 2)
    #expect(pipeline.cachedImage(for: request)?.isStale == false)
  }

  @Test
  func whatMustBeAskedForEveryTimeIsStaleAtOnceInMemory() async throws {
    serve(file, tag: "\"one\"", control: "no-cache, max-age=60")
    _ = try await pipeline.image(for: request(side: 16))
    await pipeline.cache.flush()

    #expect(pipeline.cachedImage(for: request(side: 16))?.isStale == true)
    #expect(try await pipeline.imageTask(for: request(side: 16)).response.origin == .revalidated)
  }

  @Test
  func whatMustNotBeStoredIsInNoCache() async throws {
    serve(file, control: "no-store")
    _ = try await pipeline.image(for: request(side: 16))
    await pipeline.cache.flush()

    #expect(pipeline.cachedImage(for: request(side: 16)) == nil)
    #expect(disk.counts.writes == 0)
  }

  @Test(arguments: [true, false])
  func withoutADiskAStaleImageInMemoryStandsInForAServerThatFails(isDown: Bool) async throws {
    serve(file)
    let pipeline = ImagePipeline(.ephemeral) { [clock] in
      $0.memoryCache = MemoryCache(costLimit: 10 << 20)
      $0.memoryPressure = nil
      $0.loader = PatientLoader()
      $0.clock = clock
      $0.retryPolicy = .never
      $0.freshness.staleIfServerError = .seconds(86_400)
    }
    _ = try await pipeline.image(for: request(side: 16))
    clock.advance(by: .seconds(3600))
    if isDown { server.stop() } else { serve(Data(), status: 503) }

    let response = try await pipeline.imageTask(for: request(side: 16)).response

    #expect(response.origin == .memory)
    #expect(response.isStale)
    // A day later it is too old for that.
    clock.advance(by: .seconds(86_400))
    await #expect(throws: LoadError.self) { try await pipeline.image(for: request(side: 16)) }
  }

  @Test
  func whatAnotherProcessHasConfirmedIsFreshInMemoryToo() async throws {
    serve(file, tag: "\"one\"")
    _ = try await pipeline.image(for: request(side: 16))
    await pipeline.cache.flush()
    clock.advance(by: .seconds(61))
    let other = ImagePipeline(.ephemeral) { [clock, disk] in
      ($0.diskCache, $0.loader, $0.clock) = (disk, PatientLoader(), clock)
    }
    _ = try await other.image(for: request(side: 16))
    await other.cache.flush()

    #expect(try await pipeline.imageTask(for: request(side: 16)).response.origin == .disk)

    #expect(pipeline.cachedImage(for: request(side: 16))?.isStale == false)
    #expect(decoder.decodes.count == 1)
    #expect(server.counts.requests == 2)
  }

  @Test
  func whatItsServerHasReplacedDoesNotStandIn() async throws {
    serve(file, tag: "\"one\"")
    _ = try await pipeline.image(for: request(side: 16))
    await pipeline.cache.flush()
    clock.advance(by: .seconds(61))
    // Another process has stored the next version, which is damaged since.
    serve(try Bitmap.testPattern(width: 48, height: 48).encoded(as: .png), tag: "\"two\"")
    let other = ImagePipeline(.ephemeral) { [clock, disk] in
      ($0.diskCache, $0.loader, $0.clock) = (disk, PatientLoader(), clock)
    }
    _ = try await other.image(for: request(side: 16))
    await other.cache.flush()
    disk.damage(with: Data("<html>".utf8))
    server.stop()

    await #expect(throws: LoadError.self) { try await pipeline.image(for: request(side: 16)) }
  }

  @Test
  func anImagePutIntoMemoryDoesNotHideAStepThatCanBeConfirmed() async throws {
    serve(file, tag: "\"one\"")
    let (one, two) = (steps.processor("one"), steps.processor("two"))
    _ = try await pipeline.image(for: request(side: 32, [one]))
    var request = request(side: 32, [one, two])
    pipeline.cache[request] = .testPattern(width: 8, height: 8)
    request.cachePolicy = .reload

    #expect(try await pipeline.image(for: request).width == 32)

    #expect(decoder.decodes.count == 1)
    #expect(steps.count == 2)
  }
}
