import Testing
import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Sources that are more than one address.
@Suite(.patient)
struct SourceTests {
  private let parts = PipelineParts()
  private let decoder = CountingDecoder()
  private let pipeline: ImagePipeline
  private let file = TestPicture.png

  init() throws {
    pipeline = .testing(parts) { [decoder] in $0.decoders = DecoderRegistry([decoder]) }
  }

  private func url(_ name: String) -> String { "https://example.org/\(name)" }

  private func either(_ names: String...) -> ImageRequest {
    ImageRequest(.first(of: names.map { .url(url($0)) }), size: .pixels(16, 16))
  }

  private func serve(_ name: String, _ body: Data? = nil) {
    parts.loader.answer(url(name), with: body ?? file, headers: ["Cache-Control": "max-age=60"])
  }

  // MARK: Data

  @Test
  func dataWithoutAnIDIsCachedByItsBytes() async throws {
    let other = try Bitmap.testPattern(width: 8, height: 8).encoded(as: .png)
    #expect(try await pipeline.image(for: ImageRequest(.data(file))).width == 64)
    #expect(pipeline.cachedImage(for: ImageRequest(.data(Data(file)))) != nil)
    #expect(pipeline.cachedImage(for: ImageRequest(.data(other))) == nil)
    // FIPS 180-4: the hash of "abc".
    #expect(
      ImageSource.data(Data("abc".utf8)).description
        == "data 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'"
    )
  }

  @Test
  func otherBytesUnderOneIDAreAnotherSource() async throws {
    let other = try Bitmap.testPattern(width: 8, height: 8).encoded(as: .png)
    #expect(try await pipeline.image(for: ImageRequest(.data(file, id: "upload"))).width == 64)
    #expect(pipeline.cachedImage(for: ImageRequest(.data(Data(file), id: "upload"))) != nil)
    #expect(pipeline.cachedImage(for: ImageRequest(.data(other, id: "upload"))) == nil)
    #expect(try await pipeline.image(for: ImageRequest(.data(other, id: "upload"))).width == 8)
    #expect(ImageRequest(.data(file, id: "upload")) != ImageRequest(.data(other, id: "upload")))
  }

  // MARK: The first of several

  @Test
  func theNextIsAskedWhereOneFailsOrIsNoImage() async throws {
    parts.loader.answer(url("down"), failing: .cannotConnect)
    serve("page", Data("<html>".utf8))
    serve("good")
    serve("never")
    let request = either("down", "page", "good", "never")

    let response = try await pipeline.imageTask(for: request).response

    #expect(response.image.width == 16)
    #expect(parts.loader.requests.map(\.url.string) == ["down", "page", "good"].map(url))
    // It is there now, and for whoever asks for that one alone.
    #expect(pipeline.cachedImage(for: request) != nil)
    #expect(pipeline.cachedImage(for: either("good")) != nil)
    #expect(pipeline.cachedImage(for: ImageRequest(url: url("good"), size: .pixels(16, 16))) != nil)
    #expect(decoder.decodes.count == 1)
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func whenAllFailTheErrorIsThatOfTheFirst() async {
    parts.loader.answer(url("a"), failing: .cannotConnect)
    parts.loader.answer(url("b"), FakeResponse(status: 404))
    let error = await #expect(throws: LoadError.self) { try await pipeline.image(for: either("a", "b")) }
    #expect(error?.code == .fetchFailed)
    #expect(error?.source == url("a"))
    await #expect(throws: LoadError.self) { try await pipeline.image(for: ImageRequest(.first(of: []))) }
  }

  @Test
  func cancelledItAsksNoOther() async throws {
    let task = pipeline.imageTask(for: either("a", "b"))
    let load = try await parts.loader.nextLoad(of: url("a"))
    task.cancel()
    await load.wait { $0.isCancelled }
    #expect(parts.loader.counts.loads == 1)
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func itsPriorityReachesWhicheverIsUnderWay() async throws {
    let task = pipeline.imageTask(for: either("a", "b"))
    try await parts.loader.nextLoad(of: url("a")).fail(.timedOut)
    let load = try await parts.loader.nextLoad(of: url("b"))
    task.priority = .high
    await load.wait { $0.priority == .high }
    load.respond(with: FakeResponse(body: file))
    #expect(try await task.image.width == 16)
  }

  @Test
  func bytesComeFromTheFirstThatHasThem() async throws {
    parts.loader.answer(url("a"), FakeResponse(status: 500))
    serve("b")
    #expect(try await pipeline.data(for: either("a", "b")) == file)
  }

  @Test
  func removedItIsGoneFromEach() async throws {
    serve("a")
    let request = either("a", "b")
    _ = try await pipeline.image(for: request)
    await pipeline.cache.flush()
    #expect(await pipeline.cache.contains(request, in: .disk))
    await pipeline.cache.remove(request)
    #expect(await !pipeline.cache.contains(request))
    #expect(pipeline.cachedImage(for: either("a")) == nil)
  }

  @Test
  func whatIsStaleOfOneIsAskedForBehindIt() async throws {
    parts.loader.answer(url("a"), failing: .cannotConnect)
    let headers: HTTPFields = ["Cache-Control": "max-age=60, stale-while-revalidate=60", "ETag": "\"1\""]
    parts.loader.answer(url("b"), with: file, headers: headers)
    _ = try await pipeline.image(for: either("a", "b"))
    await pipeline.cache.flush()
    _ = try await parts.loader.nextLoad(of: url("b"))
    parts.clock.advance(by: .seconds(70))

    #expect(try await pipeline.imageTask(for: either("a", "b")).response.isStale)

    let load = try await parts.loader.nextLoad(of: url("b"))
    #expect(load.request.headers["If-None-Match"] == "\"1\"")
  }

  // MARK: An address for a size

  @Test
  func aServerThatResizesIsAskedForTheSizeThatIsShown() async throws {
    parts.loader.answer("*", with: file)
    let source = ImageSource.url { "https://example.org/cat?w=\(Int($0?.width ?? 800))" }
    let small = ImageRequest(source, size: .pixels(16, 16))
    let large = ImageRequest(source, size: .pixels(32, 32))

    #expect(try await pipeline.image(for: small).width == 16)
    #expect(try await pipeline.image(for: large).width == 32)
    #expect(try await pipeline.image(for: ImageRequest(source)).width == 64)
    #expect(parts.loader.requests.map(\.url.string) == [16, 32, 800].map { "https://example.org/cat?w=\($0)" })
    // The same as if the address had been written down.
    let plain = ImageRequest(url: "https://example.org/cat?w=16", size: .pixels(16, 16))
    #expect(pipeline.cachedImage(for: plain) != nil)
  }

  // MARK: Files

  @Test
  func addressesOfFilesCanBeForbidden() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.png")
    try file.write(to: path)
    let strict = ImagePipeline.testing(parts) { $0.allowsFileURLs = false }

    #expect(try await pipeline.image(for: path).width == 64)
    for request in [ImageRequest(url: path), ImageRequest(url: "FILE://\(path.path)")] {
      let error = await #expect(throws: LoadError.self) { try await strict.image(for: request) }
      #expect(error?.code == .forbidden)
      #expect(error?.stage == .request)
    }
    #expect(try await strict.image(for: ImageRequest(.file(path.path))).width == 64)

    // A program that guards itself against strangers' URLs guards its files, unless it says otherwise.
    let guarded = ImagePipeline(.ephemeral) { $0.addressGuard = AddressGuard() }
    await #expect(throws: LoadError.self) { try await guarded.image(for: path) }
    let open = ImagePipeline(.ephemeral) {
      $0.addressGuard = AddressGuard()
      $0.allowsFileURLs = true
    }
    #expect(try await open.image(for: path).width == 64)

    let resource = ImageRequest(.resource("a.png", in: folder.url))
    #expect(try await strict.image(for: resource).width == 64)
    for name in ["b.png", "", "../\(folder.url.lastPathComponent)/a.png", "/a.png", "./a.png", path.path] {
      let error = await #expect(throws: LoadError.self) {
        try await pipeline.image(for: ImageRequest(.resource(name, in: folder.url)))
      }
      #expect(error?.code == .unreadable)
    }
  }
}
