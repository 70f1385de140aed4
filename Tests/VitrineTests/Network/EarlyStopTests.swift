import Testing
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// Downloads that stop when what is shown needs no more, and go on for who needs all.
@Suite(.patient)
struct EarlyStopTests {
  private let loader = FakeLoader()
  private let clock = ManualClock()
  private let folder: TemporaryFolder
  private let url = "https://example.org/a.jpg"
  /// Progressive, 768x512, its first scan within 8 KiB, and 400 KiB of comments behind that; a disk keeps
  /// no beginnings below 16 KiB.
  private let file: Data
  private static let beginning = 20 << 10

  init() throws {
    folder = try TemporaryFolder()
    file = try Photograph.data("lighthouse-progressive.jpg")
      .withJPEGComments(ofBytes: 400 << 10, beforeScans: [2])
  }

  private func makePipeline(
    on cache: (any DataCaching)?,
    _ configure: (inout ImagePipeline.Configuration) -> Void = { _ in },
  ) -> ImagePipeline {
    .testing(PipelineParts()) {
      $0.diskCache = cache
      $0.loader = loader
      $0.clock = clock
      $0.retryPolicy = .never
      configure(&$0)
    }
  }

  private func fast(_ side: Double = 48) -> ImageRequest {
    var request = ImageRequest(url: url, size: .pixels(side, side))
    request.quality = .fast
    return request
  }

  private func head(_ changes: HTTPFields = [:]) -> HTTPFields {
    var head: HTTPFields = ["ETag": "\"a\"", "Content-Length": "\(file.count)", "Cache-Control": "max-age=60"]
    for change in changes { head[change.name] = change.value.isEmpty ? nil : change.value }
    return head
  }

  /// Sends the head and as much as shows the picture, in pieces as a network brings them.
  private func begin(_ load: FakeLoad, _ changes: HTTPFields = [:]) {
    load.respond(headers: head(changes))
    for start in stride(from: 0, to: Self.beginning, by: 1024) { load.send(file[start..<start + 1024]) }
  }

  /// Answers with what comes behind `start`, or with so much of it.
  private func goOn(_ load: FakeLoad, from start: Int, count: Int? = nil) {
    var fields = head(["Content-Length": "\(file.count - start)"])
    fields["Content-Range"] = "bytes \(start)-\(file.count - 1)/\(file.count)"
    load.respond(status: 206, headers: fields)
    guard let count else {
      load.send(file.dropFirst(start))
      return load.finish()
    }
    load.send(file[start..<start + count])
  }

  /// Shows the picture of its beginning.
  private func stopEarly(_ request: ImageRequest, in pipeline: ImagePipeline) async throws -> ImageResponse {
    let task = pipeline.imageTask(for: request)
    let load = try await loader.nextLoad(of: url)
    // Decoded when all of it has been sent, so that as much is kept each time.
    let gate = try pipeline.context.decodeQueue.hold()
    begin(load)
    gate.open()
    let response = try await task.response
    await load.wait { $0.isEnded }
    #expect(load.status.isCancelled)
    await pipeline.cache.flush()
    return response
  }

  // MARK: Stopping

  @Test
  func whatIsShownNeedsNoMoreAndTheRestIsFetchedForWhoNeedsIt() async throws {
    let cache = try folder.cache(clock)
    let pipeline = makePipeline(on: cache)

    let response = try await stopEarly(fast(), in: pipeline)
    let best = try Bitmap(decoding: file, size: .pixels(48, 48))
    #expect(response.image.psnr(against: best) > 35)
    #expect(response.origin == .network)
    #expect(response.info.width == 768)
    #expect(response.byteCount < Self.beginning)
    #expect(try #require(pipeline.cachedImage(for: fast())).image.largestDifference(from: response.image) == 0)
    #expect(await cache.statistics().partials == 1)
    #expect(await cache.statistics().originals == 0)
    #expect(pipeline.loadCount == 0)

    // The full view has the rest fetched, and is what one download would have made.
    let whole = pipeline.imageTask(for: ImageRequest(url: url))
    let load = try await loader.nextLoad(of: url)
    #expect(load.request.headers["Range"] == "bytes=\(Self.beginning)-")
    #expect(load.request.headers["If-Range"] == "\"a\"")
    goOn(load, from: Self.beginning)
    #expect(try await whole.image.largestDifference(from: Bitmap(decoding: file)) == 0)
    await pipeline.cache.flush()
    #expect(await cache.statistics().partials == 0)
    #expect(await cache.statistics().originals == 1)

    // What was made of the beginning is not shown beside what was made of all.
    #expect(pipeline.cachedImage(for: fast()) == nil)
    #expect(try await makePipeline(on: cache).imageTask(for: fast()).response.byteCount == file.count)
    #expect(loader.counts.loads == 2)
    await cache.close()
  }

  @Test
  func aThumbnailInTheFileIsEnough() async throws {
    let picture = Bitmap.noise(width: 800, height: 600, seed: 1)
    let thumbnail = try picture.resized(to: .pixels(160, 120))
    let file = try picture.encoded(as: .jpeg).withEXIFThumbnail(thumbnail.encoded(as: .jpeg))
    let pipeline = makePipeline(on: nil)
    let task = pipeline.imageTask(for: fast(160))
    let load = try await loader.nextLoad(of: url)
    load.respond(headers: head(["Content-Length": "\(file.count)"]))
    try #require(file.count > 200 << 10)
    // The first rows must be there, with which it is compared.
    load.send(file.prefix(file.count / 4))

    #expect(try await task.image.psnr(against: thumbnail) > 20)
    await load.wait { $0.isEnded }
    #expect(load.status.isCancelled)
  }

  @Test
  func itIsThereAfterARestartWithoutAQuestion() async throws {
    let cache = try folder.cache(clock)
    let image = try await stopEarly(fast(), in: makePipeline(on: cache)).image

    let response = try await makePipeline(on: cache).imageTask(for: fast()).response

    #expect(response.origin == .disk)
    #expect(response.image.largestDifference(from: image) == 0)
    #expect(loader.counts.loads == 1)
    await cache.close()
  }

  @Test
  func anotherSizeOfItAsksForALittleMore() async throws {
    let cache = try folder.cache(clock)
    let pipeline = makePipeline(on: cache)
    _ = try await stopEarly(fast(), in: pipeline)
    await pipeline.cache.removeAll(in: .memory)

    let task = pipeline.imageTask(for: fast(40))
    let load = try await loader.nextLoad(of: url)
    #expect(load.request.headers["Range"] == "bytes=\(Self.beginning)-")
    goOn(load, from: Self.beginning, count: 1000)

    #expect(try await task.image.width == 40)
    await load.wait { $0.isEnded }
    #expect(load.status.isCancelled)
    await pipeline.cache.flush()
    #expect(await cache.statistics().partials == 1)
    await cache.close()
  }

  // MARK: Not stopping

  /// A request that is not content with the beginning, or an answer that could not be gone on with.
  struct Whole: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var head: HTTPFields = [:]
    var change: @Sendable (inout ImageRequest) -> Void = { _ in }
  }

  static let wholes = [
    Whole(testDescription: "balanced") { $0.quality = .balanced },
    Whole(testDescription: "to be kept as it came") { $0.storagePolicy = .original },
    Whole(testDescription: "to be kept in both ways") { $0.storagePolicy = .both },
    Whole(testDescription: "going on after its view") { $0.continuesDownload = true },
    Whole(testDescription: "with its bytes") { $0.keepsEncodedData = true },
    Whole(testDescription: "larger than the beginning shows") { $0.size = .pixels(200, 200) },
    Whole(testDescription: "in its own size") { $0.size = nil },
    Whole(testDescription: "of a weak tag", head: ["ETag": "W/\"a\""]),
    Whole(testDescription: "without a tag", head: ["ETag": ""]),
    Whole(testDescription: "of unknown length", head: ["Content-Length": ""]),
    Whole(testDescription: "not to be stored", head: ["Cache-Control": "no-store"]),
  ]

  @Test(arguments: wholes)
  func whatNeedsAllIsFetchedWhole(whole: Whole) async throws {
    let pipeline = makePipeline(on: nil)
    var request = fast()
    whole.change(&request)
    let task = pipeline.imageTask(for: request)
    let load = try await loader.nextLoad(of: url)
    begin(load, whole.head)
    load.send(file.dropFirst(Self.beginning))
    load.finish()

    #expect(try await task.response.byteCount == file.count)
    #expect(!load.status.isCancelled)
  }

  @Test
  func whoeverNeedsAllKeepsTheDownloadGoing() async throws {
    let pipeline = makePipeline(on: nil)
    let whole = pipeline.imageTask(for: ImageRequest(url: url))
    let task = pipeline.imageTask(for: fast())
    let load = try await loader.nextLoad(of: url)
    begin(load)

    // The one has its image already, the other in the end.
    #expect(try await task.response.byteCount < Self.beginning)
    #expect(!load.status.isCancelled)
    load.send(file.dropFirst(Self.beginning))
    load.finish()
    #expect(try await whole.response.byteCount == file.count)
    #expect(loader.counts.loads == 1)
  }

  @Test
  func aSpoiledBeginningIsLeftToTheWhole() async throws {
    let pipeline = makePipeline(on: nil)
    let task = pipeline.imageTask(for: fast())
    let load = try await loader.nextLoad(of: url)
    var spoiled = file
    for index in 2000..<2100 { spoiled[index] = index.isMultiple(of: 2) ? 0xFF : 0 }
    load.respond(headers: head())
    for start in stride(from: 0, to: file.count, by: 16 << 10) {
      load.send(spoiled[start..<min(start + 16 << 10, file.count)])
    }
    load.finish()

    let whole = try? DecoderRegistry.standard.decode(spoiled, DecodeOptions(size: .pixels(48, 48))).bitmap
    let image = try? await task.image
    #expect((image == nil) == (whole == nil))
    if let image, let whole { #expect(image.largestDifference(from: whole) == 0) }
    #expect(!load.status.isCancelled)
  }

  @Test
  func whatWasStoredAndIsNoImageIsDroppedAlsoWhereABeginningTakesItsPlace() async throws {
    let cache = CountingDataCache()
    let first = makePipeline(on: cache)
    let whole = first.imageTask(for: ImageRequest(url: url))
    let load = try await loader.nextLoad(of: url)
    begin(load)
    load.send(file.dropFirst(Self.beginning))
    load.finish()
    _ = try await whole.image
    await first.cache.flush()
    cache.damage(with: Data("nothing".utf8))

    let response = try await stopEarly(fast(), in: makePipeline(on: cache))

    #expect(response.byteCount < Self.beginning)
    #expect(await cache.entries().filter { $0.kind == .original }.isEmpty)
  }

  // MARK: When its time is over

  @Test
  func whenItsTimeIsOverItsServerIsAskedAndStandsInForIt() async throws {
    let cache = try folder.cache(clock)
    let pipeline = makePipeline(on: cache)
    let image = try await stopEarly(fast(), in: pipeline).image
    clock.advance(by: .seconds(61))

    // Its server says nothing.
    let first = pipeline.imageTask(for: fast())
    try await loader.nextLoad(of: url).fail(.connectionLost)
    let stale = try await first.response
    #expect(stale.isStale)
    #expect(stale.image.largestDifference(from: image) == 0)
    await pipeline.cache.flush()

    // It has the same still: the tag says so, and little is fetched.
    let second = pipeline.imageTask(for: fast())
    let load = try await loader.nextLoad(of: url)
    #expect(load.request.headers["If-Range"] == "\"a\"")
    goOn(load, from: Self.beginning, count: 1000)
    let response = try await second.response
    #expect(!response.isStale)
    // What the part came with counts for as long as a whole answer would.
    #expect(pipeline.cachedImage(for: fast())?.isStale == false)
    #expect(response.image.largestDifference(from: image) == 0)
    await load.wait { $0.isEnded }
    #expect(load.status.isCancelled)
    #expect(loader.counts.loads == 3)
    await pipeline.cache.flush()
    await cache.close()
  }

  @Test
  func whatWasProcessedIsProcessedAgainWhenItsTimeIsOver() async throws {
    let pipeline = makePipeline(on: try folder.cache(clock))
    var request = fast()
    request.processors = ["gray", "dark"].map { id in
      .custom(id: id) { _ in .solid(SIMD4(id == "gray" ? 9 : 4, 0, 0, 255), width: 2, height: 2) }
    }
    #expect(try await stopEarly(request, in: pipeline).image[0, 0].x == 4)
    clock.advance(by: .seconds(61))

    let again = pipeline.imageTask(for: request)
    let load = try await loader.nextLoad(of: url)
    #expect(load.request.headers["Range"] == "bytes=\(Self.beginning)-")
    goOn(load, from: Self.beginning)
    let response = try await again.response
    #expect(response.image.width == 2 && response.image[0, 0].x == 4)
    #expect(response.origin == .network)
    #expect(pipeline.cachedImage(for: request)?.image.width == 2)

    // A server that fails lets what was there stand in, processed as it is.
    clock.advance(by: .seconds(61))
    let late = pipeline.imageTask(for: request)
    try await loader.nextLoad(of: url).fail(.connectionLost)
    let old = try await late.response
    #expect(old.isStale && old.image.width == 2)
  }

  @Test
  func cancellingMeanwhileShowsNothing() async throws {
    let pipeline = makePipeline(on: nil)
    let task = pipeline.imageTask(for: fast())
    let load = try await loader.nextLoad(of: url)
    load.respond(headers: head())
    load.send(file.prefix(1024))
    task.cancel()
    load.send(file[1024..<Self.beginning])

    let error = await #expect(throws: LoadError.self) { try await task.image }
    #expect(error?.isCancellation == true)
    await load.wait { $0.isEnded }
    #expect(pipeline.cachedImage(for: fast()) == nil)
    #expect(pipeline.loadCount == 0)
  }
}

extension Data {
  /// The same JPEG file with a small one beside it, as cameras have it.
  fileprivate func withEXIFThumbnail(_ thumbnail: Data) -> Data {
    func big16(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 255), UInt8(value & 255)] }
    func big32(_ value: Int) -> [UInt8] { big16(value >> 16) + big16(value) }
    var exif: [UInt8] = Array("Exif\0\0MM".utf8) + big16(42) + big32(8)
    exif += big16(0) + big32(14)
    exif += big16(2) + big16(0x0201) + big16(4) + big32(1) + big32(44)
    exif += big16(0x0202) + big16(4) + big32(1) + big32(thumbnail.count) + big32(0)
    let segment = [0xFF, 0xE1] + big16(exif.count + thumbnail.count + 2) + exif
    return prefix(2) + Data(segment) + thumbnail + dropFirst(2)
  }
}
