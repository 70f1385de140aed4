import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting
import VitrineTiers

@testable import VitrineS3

/// `s3://` as the source of images.
@Suite(.patient)
struct SourceTests {
  private let server: FakeS3
  private let picture: Data

  init() throws {
    server = try FakeS3()
    picture = try EncoderRegistry.standard.encode(Bitmap.testPattern(width: 40, height: 30), as: .png())
    put("/photos/a%20b%2Bc/cat.png")
  }

  private func put(_ path: String, _ fields: HTTPFields = ["Cache-Control": "max-age=60"]) {
    let object = FakeS3.Stored(body: picture, fields: fields, tag: "\"v1\"")
    server.state.withLock { $0.objects[path] = object }
  }

  private func makePipeline(
    _ buckets: Set<String> = ["photos"],
    _ others: FakeLoader = FakeLoader(),
  ) throws -> ImagePipeline {
    let loader = S3Loader(try server.makeClient(), buckets: buckets, others: others)
    return ImagePipeline(.ephemeral) {
      $0.memoryCache = nil
      $0.diskCache = MemoryDataCache(sizeLimit: 1 << 20)
      $0.loader = loader
      $0.retryPolicy = .never
    }
  }

  private func failure(_ request: ImageRequest, _ pipeline: ImagePipeline) async throws -> LoadError {
    do throws(LoadError) {
      _ = try await pipeline.image(for: request)
    } catch {
      return error
    }
    throw Unexpected()
  }

  @Test
  func anObjectIsAnImageWithTheFreshnessThatItSays() async throws {
    let pipeline = try makePipeline()
    let request = ImageRequest(url: "s3://photos/a b+c/cat.png")
    let first = try await pipeline.imageTask(for: request).response
    #expect(first.image.width == 40 && first.origin == .network)
    await pipeline.cache.flush()
    #expect(try await pipeline.imageTask(for: request).response.origin != .network)
    #expect(server.server.counts.requests == 1)
    let sent = try #require(server.server.requests.first)
    #expect(sent.target == "/photos/a%20b%2Bc/cat.png" && sent["Authorization"]?.contains("SignedHeaders=") == true)
  }

  @Test
  func aStaleObjectIsRevalidatedByItsTag() async throws {
    put("/photos/old.png", ["Cache-Control": "max-age=0"])
    let pipeline = try makePipeline()
    let request = ImageRequest(url: "s3://photos/old.png")
    #expect(try await pipeline.imageTask(for: request).response.origin == .network)
    await pipeline.cache.flush()
    #expect(try await pipeline.imageTask(for: request).response.origin == .revalidated)
    #expect(server.server.requests.last?["If-None-Match"] == "\"v1\"")
  }

  @Test(arguments: [true, false])
  func aBrokenDownloadGoesOnIfTheObjectIsStillTheSame(isSame: Bool) async throws {
    let noise = try EncoderRegistry.standard.encode(Bitmap.testPattern(width: 300, height: 300), as: .png())
    let body = noise + bytes(200_000)
    server.state.withLock { $0.objects["/photos/big.png"] = FakeS3.Stored(body: body, fields: [:], tag: "\"v1\"") }
    let (server, gate) = (server, server.server.makeGate())
    server.fail { exchange in
      exchange.sendHead(200, ["ETag": "\"v1\"", "Content-Length": "\(body.count)"])
      exchange.send(body.prefix(100_000))
      gate.wait()
      if !isSame { server.change { $0.tag = "\"v2\"" } }
      exchange.reset()
    }
    let loader = RetryingLoader(
      S3Loader(try server.makeClient(), buckets: ["photos"], others: FakeLoader()),
      .exponential(maxAttempts: 2, random: { 0 }),
    )
    let sink = RecordingSink()
    loader.load(HTTPRequest(try #require(ObjectURL("s3://photos/big.png")).standIn), into: sink)
    // The reset would take what has not been read with it.
    await sink.wait { $0.byteCount >= 100_000 }
    gate.open()
    #expect(isSame == (await sink.end() == nil))
    // Nothing of another object follows the beginning.
    #expect(sink.body == (isSame ? body : body.prefix(100_000)))
    let requests = server.server.requests
    #expect(requests.map { $0["If-Match"] } == [nil, "\"v1\""] + (isSame ? [] : [nil]))
    #expect(requests.dropFirst().first?["Range"]?.hasPrefix("bytes=100000-") == true)
  }

  @Test
  func errorsNameTheObjectAsItWasWritten() async throws {
    let pipeline = try makePipeline()
    let missing = try await failure(ImageRequest(url: "s3://photos/nothing here.png"), pipeline)
    #expect(missing.code == .badStatus && missing.status == 404 && missing.source == "s3://photos/nothing here.png")
    server.fail(FakeS3.refusal(403, "AccessDenied"))
    #expect(try await failure(ImageRequest(url: "s3://photos/x"), pipeline).status == 403)
    server.fail { $0.reset() }
    let broken = try await failure(ImageRequest(url: "s3://photos/x"), pipeline)
    #expect(broken.source == "s3://photos/x" && !"\(broken)".contains("127.0.0.1"))
    #expect(try await failure(ImageRequest(url: "s3://photos"), pipeline).code == .invalidURL)
  }

  @Test
  func onlyNamedBucketsAreReadHoweverTheURLIsWritten() async throws {
    put("/secrets/cat.png")
    let pipeline = try makePipeline()
    for url in ["s3://secrets/cat.png", "S3://secrets/cat.png", "https://s3.vitrine.invalid/secrets?cat.png"] {
      let error = try await failure(ImageRequest(url: url), pipeline)
      #expect(error.code == .forbidden, "\(url)")
    }
    for url in [
      "http://s3.vitrine.invalid/photos", "https://s3.vitrine.invalid:444/photos?a%ZZ",
      "https://s3.vitrine.invalid./photos?a",
    ] {
      let error = try await failure(ImageRequest(url: url), pipeline)
      #expect([.invalidURL, .forbidden].contains(error.code), "\(url)")
    }
    #expect(server.server.counts.requests == 0)
  }

  @Test
  func otherURLsGoToTheOtherLoader() async throws {
    let others = FakeLoader()
    others.answer("https://a.invalid/cat.png", with: picture)
    let pipeline = try makePipeline(["photos"], others)
    #expect(try await pipeline.image(for: ImageRequest(url: "https://a.invalid/cat.png")).width == 40)
    #expect(server.server.counts.requests == 0)
  }

  @Test
  func aLoaderThatKnowsNoObjectsSaysSo() async throws {
    let pipeline = ImagePipeline(.ephemeral) {
      $0.diskCache = nil
      $0.loader = makeLoader()
      $0.retryPolicy = .never
    }
    let error = try await failure(ImageRequest(url: "s3://photos/cat.png"), pipeline)
    #expect(error.detail.contains("S3Loader"))
  }

  @Test
  func whatAHookOfThePipelineAddsIsSentAndDoesNotMoveTheRequest() async throws {
    let client = try server.makeClient()
    let pipeline = ImagePipeline(.ephemeral) {
      $0.memoryCache = nil
      $0.diskCache = nil
      $0.loader = S3Loader(client, buckets: ["photos"], others: FakeLoader())
      $0.willSend = { request in
        request.headers["Authorization"] = "Bearer mine"
        request.headers["x-amz-request-payer"] = "requester"
        request.url = try HTTPURL("http://elsewhere.invalid/")
      }
    }
    _ = try await pipeline.image(for: ImageRequest(url: "s3://photos/a b+c/cat.png"))
    let sent = try #require(server.server.requests.first)
    #expect(sent["Authorization"]?.hasPrefix("AWS4-HMAC-SHA256 ") == true)
    #expect(sent["Authorization"]?.contains("x-amz-request-payer") == true)
  }

  @Test
  func objectsAreOnlyRead() async throws {
    let loader = S3Loader(try server.makeClient(), buckets: ["photos"], others: FakeLoader())
    let object = try #require(ObjectURL("s3://photos/a b+c/cat.png"))
    for method in [HTTPMethod.put, .delete, .post] {
      await #expect(throws: HTTPError.self) {
        try await loader.data(for: HTTPRequest(object.standIn, method: method, body: Data([1])))
      }
    }
    #expect(server.server.counts.requests == 0)
  }
}
