import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// A pipeline whose cache, loader and decoder are each made of a few functions, as in the recipes.
@Suite(.patient)
struct OwnPartsTests {
  private struct DictionaryCache: SimpleDataCache {
    let entries: Watched<[String: Data]>

    func read(_ name: String) -> Data? { entries.value[name] }
    func write(_ data: Data, _ name: String) { entries.change { $0[name] = data } }
    func remove(_ prefix: String) { entries.change { $0 = $0.filter { !$0.key.hasPrefix(prefix) } } }
    func removeAll() { entries.change { $0 = [:] } }
  }

  private struct Garbled: Error {}

  private static let url = "https://example.invalid/a.spot"
  private static let format = ImageFormat(name: "spot", mediaType: "image/x-spot", fileExtension: "spot")

  private let entries = Watched<[String: Data]>([:])
  private let loads = Counter()
  private let decodes = Counter()
  private let clock = ManualClock()

  /// A file of a format that has SPOT, a width and a height of a byte each, and the red of all pixels.
  private func file(_ width: UInt8 = 20, _ height: UInt8 = 10, red: UInt8 = 200) -> Data {
    Data("SPOT".utf8) + [width, height, red]
  }

  private func decoder(announces: Bool = true, scale: Int = 1) -> WholeImageDecoder {
    WholeImageDecoder(Self.format, signature: "SPOT".utf8) { [decodes] file, control in
      guard file.count == 7 else { throw ImageError(.truncated, format: Self.format, "\(file.count) bytes of 7") }
      let (width, height, red) = (Int(file[4]), Int(file[5]), file[6])
      if red == 13 { throw Garbled() }
      if announces { try control.begin(width: width, height: height) }
      decodes.increase()
      return .solid(SIMD4(red, 0, 0, 255), width: width * scale, height: height * scale)
    }
  }

  /// A pipeline as after a start of the program.
  private func start(
    _ file: Data,
    _ decoder: WholeImageDecoder? = nil,
    _ change: (inout ImagePipeline.Configuration) -> Void = { _ in },
  ) -> ImagePipeline {
    ImagePipeline(.ephemeral) {
      $0.clock = clock
      $0.diskCache = AdaptedDataCache(DictionaryCache(entries: entries))
      $0.loader = WholeBodyLoader { [loads] request in
        loads.increase()
        return (HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=60"], url: request.url), file)
      }
      $0.decoders.add(decoder ?? self.decoder())
      change(&$0)
    }
  }

  private func failure(_ pipeline: ImagePipeline) async -> (LoadError?, ImageError?) {
    do throws(LoadError) {
      _ = try await pipeline.image(for: ImageRequest(url: Self.url))
      return (nil, nil)
    } catch {
      return (error, error.cause as? ImageError)
    }
  }

  @Test
  func theyMakeAnImageThatIsFoundAfterARestartAndIsRemovedInAllSizes() async throws {
    let small = ImageRequest(url: Self.url, size: .pixels(4, 4))
    let first = start(file()) { $0.storagePolicy = .both }
    let image = try await first.image(for: ImageRequest(url: Self.url))
    #expect((image.width, image.height, image[0, 0]) == (20, 10, SIMD4(200, 0, 0, 255)))
    #expect(try await first.image(for: small).width == 4)
    await first.cache.flush()

    let second = start(file()) { $0.storagePolicy = .both }
    #expect(try await second.imageTask(for: small).response.origin == .disk)
    #expect(loads.count == 1)

    try await second.cache.remove(#require(URL(string: Self.url)))
    #expect(entries.value.isEmpty)
  }

  @Test
  func aStaleImageIsRevalidatedAndOtherBytesReplaceIt() async throws {
    let request = ImageRequest(url: Self.url)
    let first = start(file(red: 1)) { $0.storagePolicy = .both }
    _ = try await first.image(for: request)
    await first.cache.flush()
    clock.advance(by: .seconds(61))

    let second = start(file(red: 2)) { $0.storagePolicy = .both }
    #expect(try await second.image(for: request)[0, 0].x == 2)
    await second.cache.flush()
    let third = start(file(red: 3)) { $0.storagePolicy = .both }
    #expect(try await third.image(for: request)[0, 0].x == 2)
    #expect(loads.count == 2)
  }

  @Test
  func theLimitOfPixelsIsCheckedBeforeAPixelIsDecoded() async {
    let (error, cause) = await failure(start(file(200, 200)) { $0.decodeLimits.heldPixelCount = 39_999 })
    #expect(cause?.code == .overLimit)
    #expect(error?.source == Self.url)
    #expect(error?.stage == .decode)
    #expect(decodes.count == 0)
  }

  @Test
  func withoutAnAnnouncementTheSizeIsThatOfTheBitmap() async throws {
    let image = try await start(file(), decoder(announces: false)).image(for: ImageRequest(url: Self.url))
    #expect((image.width, image.height) == (20, 10))
    #expect(decodes.count >= 2)
  }

  @Test
  func aBitmapOfAnotherSizeThanAnnouncedIsAnError() async {
    let (_, cause) = await failure(start(file(), decoder(scale: 2)))
    #expect(cause?.code == .decoderFailed)
    #expect(cause?.detail.contains("40x20 pixels of 20x10") == true)
  }

  @Test
  func itsErrorsNameTheFormatAndKeepTheirCause() async {
    let (error, garbled) = await failure(start(file(red: 13)))
    #expect(garbled?.code == .corrupt)
    #expect(garbled?.cause is Garbled)
    #expect(error?.description == "\(Self.url): decode: spot cannot be decoded: Garbled()")
    let (_, cut) = await failure(start(file().dropLast()))
    #expect(cut?.code == .truncated)
  }

  @Test
  func aDecodeThatTakesTooLongFails() async {
    let (_, cause) = await failure(start(file()) { $0.decodeLimits.timeLimit = .nanoseconds(1) })
    #expect(cause?.code == .outOfTime)
  }

  @Test
  func aLoaderThatThrowsIsAnErrorOfTheFetchWithItsCause() async {
    let pipeline = start(file()) { $0.loader = WholeBodyLoader { _ in throw Garbled() } }
    let (error, _) = await failure(pipeline)
    #expect(error?.code == .fetchFailed)
    #expect(error?.stage == .fetch)
    #expect(error?.source == Self.url)
    #expect(error?.cause is Garbled)
  }

  @Test
  func aCacheThatThrowsIsSeenInTheLogAndTheImageIsLoaded() async throws {
    struct Broken: SimpleDataCache {
      func read(_ name: String) throws -> Data? { throw Garbled() }
      func write(_ data: Data, _ name: String) throws { throw Garbled() }
      func remove(_ prefix: String) throws { throw Garbled() }
      func removeAll() throws { throw Garbled() }
    }
    let warnings = Record<String>()
    let pipeline = start(file()) {
      $0.diskCache = AdaptedDataCache(Broken())
      $0.log = { if $0.level == .warning { warnings.add("\($0)") } }
    }
    #expect(try await pipeline.image(for: ImageRequest(url: Self.url)).width == 20)
    await pipeline.cache.flush()
    await pipeline.flushEvents()
    #expect(warnings.events.contains("disk cache: read failed: Garbled()"))
    #expect(warnings.events.contains("disk cache: write failed: Garbled()"))
  }
}
