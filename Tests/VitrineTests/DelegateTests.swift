import Testing
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// What a delegate may change: the request, the decoders, what is stored.
@Suite(.patient)
struct DelegateTests {
  /// Does what the test says, and counts how often it was asked.
  private struct Says: PipelineDelegate {
    var load: @Sendable (ImageRequest) -> ImageRequest = { $0 }
    var decode: @Sendable (ImageRequest, Data) -> DecoderRegistry? = { _, _ in nil }
    var store: @Sendable (Data, ImageRequest, HTTPResponse) -> Data? = { data, _, _ in data }
    var keep: @Sendable (ImageResponse, ImageRequest) -> Bool = { _, _ in true }
    let asked = Counter()

    func willLoad(_ request: ImageRequest) -> ImageRequest {
      asked.increase()
      return load(request)
    }

    func decoders(for request: ImageRequest, firstBytes: Data) -> DecoderRegistry? { decode(request, firstBytes) }

    func willStore(_ data: Data, for request: ImageRequest, response: HTTPResponse) -> Data? {
      store(data, request, response)
    }

    func storesFinished(_ image: ImageResponse, for request: ImageRequest) -> Bool { keep(image, request) }
  }

  /// Nothing of its own.
  private struct Silent: PipelineDelegate {}

  private static let asked = "https://example.org/a.png"
  private static let mirrored = "https://mirror.example.org/a.png"
  private let parts = PipelineParts()
  private let file = TestPicture.png
  private let headers: HTTPFields = ["Cache-Control": "max-age=60"]

  init() {
    parts.loader.answer(Self.asked, with: file, headers: headers)
    parts.loader.answer(Self.mirrored, with: file, headers: headers)
  }

  private func start(_ delegate: some PipelineDelegate, _ storage: StoragePolicy = .automatic) -> ImagePipeline {
    .testing(parts) {
      $0.delegate = delegate
      $0.storagePolicy = storage
    }
  }

  private static let mirror: @Sendable (ImageRequest) -> ImageRequest = { request in
    guard let address = request.url?.absoluteString else { return request }
    var request = request
    request.source = .url(address.replacing("//example.org/", with: "//mirror.example.org/"))
    return request
  }

  private var paths: [String] { parts.loader.requests.map(\.url.string) }

  // MARK: Rewriting

  @Test
  func aDelegateWithNothingOfItsOwnChangesNothing() async throws {
    let pipeline = start(Silent())
    let image = try await pipeline.image(for: ImageRequest(url: Self.asked))
    await pipeline.cache.flush()
    #expect(image.width == 64)
    #expect(paths == [Self.asked])
    #expect(parts.diskCache.counts.writes == 1)
  }

  @Test
  func whateverIsDoneByARequestIsDoneByTheRewrittenOne() async throws {
    let pipeline = start(Says(load: Self.mirror))
    let (request, mirrored) = (ImageRequest(url: Self.asked), ImageRequest(url: Self.mirrored))
    _ = try await pipeline.image(for: request)
    await pipeline.cache.flush()

    #expect(paths == [Self.mirrored])
    #expect(pipeline.cachedImage(for: request) != nil)
    #expect(pipeline.cachedImage(for: mirrored) != nil)
    #expect(pipeline.cache[request] != nil)
    #expect(pipeline.hold(request) != nil)
    #expect(await pipeline.cache.contains(request, in: .memory))
    #expect(await pipeline.cache.contains(request, in: .disk))
    let bytes = try await pipeline.data(for: request)
    #expect(bytes == file)
    let prefetched = await ImagePrefetcher(pipeline, destination: .disk).load([request])
    #expect(prefetched.allSatisfy { (try? $0.get()) != nil })
    #expect(paths.count == 1)
    await pipeline.cache.remove(request)
    #expect(pipeline.cachedImage(for: mirrored) == nil)
    #expect(await !pipeline.cache.contains(mirrored))
    pipeline.cache[request] = Bitmap.testPattern(width: 3, height: 2)
    #expect(pipeline.cachedImage(for: mirrored)?.image.width == 3)
  }

  @Test
  func cancellingByTheRequestEndsTheTaskOfTheRewrittenOne() async throws {
    parts.loader.removeAnswer(Self.mirrored)
    let pipeline = start(Says(load: Self.mirror))
    let request = ImageRequest(url: Self.asked)
    let task = pipeline.imageTask(for: request)
    _ = try await parts.loader.nextLoad(of: Self.mirrored)
    pipeline.cancel(for: request)
    await #expect(throws: LoadError.self) { try await task.image }
    #expect(pipeline.loadCount == 0)
    #expect(task.request.url?.absoluteString == Self.asked)
  }

  @Test
  func whatWasRewrittenIsNotRewrittenAgain() async throws {
    // Each time it is asked the address grows.
    let delegate = Says { request in
      var request = request
      request.source = .url((request.url?.absoluteString ?? "") + "?again")
      return request
    }
    parts.loader.answer("*", with: file, headers: headers)
    let pipeline = start(delegate)
    _ = try await pipeline.image(for: ImageRequest(url: Self.asked, size: .pixels(8, 8)))
    #expect(paths == [Self.asked + "?again"])
  }

  @Test
  func scopesKeepApartWhatIsRewrittenIntoThem() async throws {
    let user = Lock("ann")
    let pipeline = start(
      Says { request in
        var request = request
        request.cachePartition = user.withLock { $0 }
        return request
      }
    )
    let request = ImageRequest(url: Self.asked)
    _ = try await pipeline.image(for: request)
    user.withLock { $0 = "bob" }
    #expect(pipeline.cachedImage(for: request) == nil)
    _ = try await pipeline.image(for: request)
    #expect(paths.count == 2)
    user.withLock { $0 = "ann" }
    #expect(pipeline.cachedImage(for: request) != nil)
  }

  @Test
  func ofSeveralSourcesEachIsRewritten() async throws {
    let other = "https://example.org/b.png"
    parts.loader.answer("https://mirror.example.org/b.png", FakeResponse(status: 404))
    let pipeline = start(Says(load: Self.mirror))
    let request = ImageRequest(.first(of: [.url(other), .url(Self.asked)]), size: .pixels(16, 16))
    _ = try await pipeline.image(for: request)
    #expect(paths == ["https://mirror.example.org/b.png", Self.mirrored])
    #expect(pipeline.cachedImage(for: request)?.image.width == 16)
    #expect(pipeline.cachedImage(for: ImageRequest(url: Self.mirrored, size: .pixels(16, 16))) != nil)
    // Changes made after it was rewritten reach them all.
    var prepared = request.prepared(by: Says(load: Self.mirror))
    prepared.cachePolicy = .cacheOnly
    prepared.size = .pixels(8, 8)
    #expect(prepared.alternatives?.map(\.cachePolicy) == [.cacheOnly, .cacheOnly])
    #expect(
      prepared.alternatives?.map { $0.url?.absoluteString } == ["https://mirror.example.org/b.png", Self.mirrored]
    )
    #expect(prepared.imageKey != request.imageKey)
  }

  @Test
  func badAddressesFailAsTheyWouldHave() async throws {
    let pipeline = start(
      Says { request in
        var request = request
        request.source = .url("no address")
        return request
      }
    )
    do throws(LoadError) {
      _ = try await pipeline.image(for: ImageRequest(url: Self.asked))
      Issue.record("it came")
    } catch {
      #expect(error.code == .invalidURL)
    }
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func anUnchangedRequestKeepsItsKeys() {
    let request = ImageRequest(url: Self.asked)
    let delegate = Says()
    #expect(request.prepared(by: delegate).isCopy(of: request))
    #expect(delegate.asked.count == 1)
    let several = ImageRequest(.first(of: [.url(Self.asked), .url(Self.mirrored)]))
    #expect(several.prepared(by: delegate).isCopy(of: several))
  }

  @Test
  func itsPriorityCountsToo() async throws {
    parts.loader.removeAnswer(Self.asked)
    let pipeline = start(
      Says { request in
        var request = request
        request.priority = .veryHigh
        return request
      }
    )
    let task = pipeline.imageTask(for: ImageRequest(url: Self.asked))
    #expect(task.priority == .veryHigh)
    #expect(try await parts.loader.nextLoad(of: Self.asked).request.priority == .veryHigh)
    task.cancel()
  }

  // MARK: Decoders

  @Test
  func decodersAreChosenByRequestAndFirstBytes() async throws {
    let special = CountingDecoder()
    let seen = Lock<[Int]>([])
    let pipeline = start(
      Says(decode: { request, bytes in
        seen.withLock { $0.append(bytes.count) }
        return request.frame == 0 && bytes.starts(with: [0x89, 0x50]) ? DecoderRegistry([special]) : nil
      })
    )
    _ = try await pipeline.image(for: ImageRequest(url: Self.asked))
    #expect(special.decodes.count == 1)
    #expect(seen.withLock { $0 } == [min(4096, file.count)])
    let bitmap = Bitmap.testPattern(width: 90, height: 90)
    _ = try await pipeline.image(for: ImageRequest(.data(try bitmap.encoded(as: .jpeg), id: "b")))
    #expect(special.decodes.count == 1)
  }

  @Test
  func previewsAreDecodedByWhatWasChosenOnceEnoughHasCome() async throws {
    let file = try Photograph.data("lighthouse-progressive.jpg")
    parts.loader.removeAnswer(Self.asked)
    let seen = Lock<[Int]>([])
    let pipeline = ImagePipeline.testing(parts) {
      // Alone it could make nothing of it.
      $0.decoders = DecoderRegistry([])
      $0.delegate = Says(decode: { _, bytes in
        seen.withLock { $0.append(bytes.count) }
        return .standard
      })
    }
    let task = pipeline.imageTask(for: ImageRequest(url: Self.asked))
    var events = task.events.makeAsyncIterator()
    let load = try await parts.loader.nextLoad(of: Self.asked)
    load.respond(headers: ["Content-Length": "\(file.count)"])
    for start in stride(from: 0, to: 9000, by: 500) { load.send(file[start..<start + 500]) }
    var hasPreview = false
    while !hasPreview, let event = await events.next() { if case .preview = event { hasPreview = true } }
    #expect(seen.withLock { $0 } == [4096])
    load.send(file[9000...])
    load.finish()
    #expect(try await task.image.width == 768)
    #expect(seen.withLock { $0 } == [4096, 4096])
  }

  @Test
  func noDecoderAtAllIsAnErrorAndNothingIsStored() async throws {
    let pipeline = start(Says(decode: { _, _ in DecoderRegistry([]) }))
    do throws(LoadError) {
      _ = try await pipeline.image(for: ImageRequest(url: Self.asked))
      Issue.record("it came")
    } catch {
      #expect(error.code == .undecodable)
    }
    await pipeline.cache.flush()
    #expect(parts.diskCache.counts.writes == 0)
    let results = await ImagePrefetcher(pipeline, destination: .disk).load([ImageRequest(url: Self.asked)])
    await pipeline.cache.flush()
    #expect(results.count == 1)
    #expect(parts.diskCache.counts.writes == 0)
  }

  // MARK: Storing

  @Test
  func whatIsVetoedIsNotKeptAndNeitherIsWhatWasThere() async throws {
    parts.loader.answer(Self.asked, with: file, headers: ["Cache-Control": "max-age=60"])
    let lets = Lock(true)
    let seen = Lock<[Int]>([])
    let pipeline = start(
      Says(store: { data, request, response in
        seen.withLock { $0.append(response.status) }
        return lets.withLock { $0 } && request.url?.absoluteString == Self.asked ? data : nil
      })
    )
    let request = ImageRequest(url: Self.asked)
    _ = try await pipeline.image(for: request)
    await pipeline.cache.flush()
    #expect(await pipeline.cache.contains(request, in: .disk))
    lets.withLock { $0 = false }
    var again = request
    again.cachePolicy = .reload
    _ = try await pipeline.image(for: again)
    await pipeline.cache.flush()
    #expect(await !pipeline.cache.contains(request, in: .disk))
    #expect(pipeline.cachedImage(for: request) != nil)
    #expect(seen.withLock { $0 } == [200, 200])
  }

  @Test
  func finishedImagesAreVetoedApart() async throws {
    let request = ImageRequest(url: Self.asked, size: .pixels(16, 16))
    let first = start(Says(keep: { _, _ in false }), .both)
    _ = try await first.image(for: request)
    await first.cache.flush()
    #expect(await parts.diskCache.entries().map(\.kind) == [.original])
    await first.cache.removeAll()
    let second = start(Says(store: { _, _, _ in nil }), .both)
    _ = try await second.image(for: request)
    await second.cache.flush()
    #expect(await parts.diskCache.entries().map(\.kind) == [.finished])
  }

  @Test
  func theSamePictureInOtherBytesIsKeptUnderItsContentID() async throws {
    let smaller = try Bitmap(decoding: file).encoded(as: .qoi)
    let request = ImageRequest(url: Self.asked)
    let first = start(Says(store: { _, _, _ in smaller }))
    let original = try await first.imageTask(for: request).response
    await first.cache.flush()
    #expect(await parts.diskCache.entries().map(\.byteCount) == [smaller.count])

    let second = start(Silent())
    let kept = try await second.imageTask(for: request).response
    #expect(kept.origin == .disk)
    #expect(kept.info.format == .qoi)
    #expect(kept.contentID == original.contentID)
    #expect(kept.image.largestDifference(from: original.image) == 0)
    #expect(paths.count == 1)
  }

  @Test(arguments: ["other size", "no image"])
  func anotherPictureIsNotKept(what: String) async throws {
    let other =
      what == "no image" ? Data("text".utf8) : try Bitmap.testPattern(width: 32, height: 24).encoded(as: .png)
    let pipeline = start(Says(store: { _, _, _ in other }))
    let image = try await pipeline.image(for: ImageRequest(url: Self.asked))
    await pipeline.cache.flush()
    #expect(image.width == 64)
    #expect(await parts.diskCache.entries().isEmpty)
  }

  @Test
  func bytesThatAreNoImageMayBeChangedButNotIntoOne() async throws {
    let (text, file) = (Data("text".utf8), file)
    parts.loader.answer(Self.asked, with: text, headers: headers)
    let becomes = Lock(Data("other".utf8))
    let pipeline = start(Says(store: { _, _, _ in becomes.withLock { $0 } }))
    let request = ImageRequest(url: Self.asked)
    #expect(try await pipeline.data(for: request) == text)
    await pipeline.cache.flush()
    #expect(try await pipeline.data(for: request) == Data("other".utf8))
    await pipeline.cache.remove(request)
    becomes.withLock { $0 = file }
    _ = try await pipeline.data(for: request)
    await pipeline.cache.flush()
    #expect(await parts.diskCache.entries().isEmpty)
  }

  @Test
  func cancelledLoadsStoreNothingAndAskNobody() async throws {
    parts.loader.removeAnswer(Self.asked)
    let asked = Counter()
    let pipeline = start(
      Says(store: { data, _, _ in
        asked.increase()
        return data
      })
    )
    let task = pipeline.imageTask(for: ImageRequest(url: Self.asked))
    let load = try await parts.loader.nextLoad(of: Self.asked)
    load.respond(headers: headers)
    load.send(file.prefix(100))
    task.cancel()
    await pipeline.cache.flush()
    #expect(asked.count == 0)
    #expect(parts.diskCache.counts.writes == 0)
    #expect(pipeline.loadCount == 0)
  }
}
