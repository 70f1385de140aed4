import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineRuntime
import VitrineS3
import VitrineSandbox
import VitrineTestSupport
import VitrineTesting
import VitrineTiers

@testable import VitrineServing

/// Servers whose cache is durable in a bucket.
@Suite(.patient)
struct DurableTests {
  /// A server of objects within the process.
  private final class Bucket: Sendable {
    struct Stored: Sendable {
      let body: Data
      let fields: HTTPFields
    }

    let server: LoopbackServer
    let objects = Lock<[String: Stored]>([:])

    /// Starts a server; `isDenying` if it denies everything.
    init(isDenying: Bool = false) throws {
      server = try LoopbackServer()
      server.route("*") { [objects] exchange in
        let request = exchange.request
        if isDenying {
          let body = Data("<Error><Code>AccessDenied</Code></Error>".utf8)
          exchange.respond(LoopbackResponse(status: 403, body: request.method == "HEAD" ? Data() : body))
          return
        }
        switch request.method {
        case "PUT":
          let fields = request.headers.filter { $0.name.lowercased().hasPrefix("x-amz-meta-") }
          let stored = Stored(body: request.body, fields: fields)
          objects.withLock { $0[request.path] = stored }
          exchange.respond(LoopbackResponse())
        case "DELETE":
          objects.withLock { $0[request.path] = nil }
          exchange.respond(LoopbackResponse(status: 204))
        default:
          guard let stored = objects.withLock({ $0[request.path] }) else {
            exchange.respond(LoopbackResponse(status: 404))
            return
          }
          exchange.respond(LoopbackResponse(headers: stored.fields, body: stored.body, entityTag: "\"1\""))
        }
      }
    }
  }

  private let loader = FakeLoader()

  private func makeServer(_ bucket: Bucket, folder: String? = nil) throws -> TestServer {
    try TestServer(loader) {
      ($0.durable, $0.cacheFolder) = ("s3://thumbnails/v1", folder)
      $0.s3 = S3Configuration(endpoint: try? HTTPURL(bucket.server.url("")), credentials: .anonymous)
      // A busy machine may take its time.
      ($0.durableLimits.headDeadline, $0.durableLimits.bodyDeadline) = (.seconds(60), .seconds(60))
      ($0.durableLimits.headPatience, $0.durableLimits.bodyPatience) = (
        .seconds(60) ... .seconds(60), .seconds(60) ... .seconds(60),
      )
    }
  }

  private func tiers(of server: TestServer) throws -> [TieredDataCache.TierStatistics] {
    try #require(server.server.pipeline.configuration.diskCache as? TieredDataCache).tierStatistics
  }

  @Test
  func whatAServerHasMadeOutlivesIt() async throws {
    loader.answer(TestServer.source, with: TestServer.photograph, headers: ["Cache-Control": "max-age=60"])
    let bucket = try Bucket()
    let folders = try (TemporaryFolder(), TemporaryFolder())
    let first = try makeServer(bucket, folder: folders.0.path)
    let made = try await first.get()
    #expect(made.response.status == 200)
    // It stores what has been made, in the bucket, too.
    await first.server.stop()
    let names = bucket.objects.withLock { $0.keys.sorted() }
    #expect(!names.isEmpty && names.allSatisfy { $0.hasPrefix("/thumbnails/v1/") })

    let other = try makeServer(bucket, folder: folders.1.path)
    let served = try await other.get()
    #expect(served.response.status == 200)
    #expect(served.body == made.body)
    #expect(loader.counts.loads == 1)
    #expect(other.metrics.count(of: .encode) == 0)
    let tiers = try tiers(of: other)
    #expect(tiers.map(\.name) == ["disk", "s3"])
    #expect(tiers[1].hits + tiers[1].headHits > 0)
    #expect(tiers[0].promotions > 0)
    await other.server.stop()
  }

  @Test
  func aBucketThatDeniesIsLeftAloneAndImagesAreServedAllTheSame() async throws {
    loader.answer(TestServer.source, with: TestServer.photograph, headers: ["Cache-Control": "max-age=60"])
    let bucket = try Bucket(isDenying: true)
    let server = try makeServer(bucket)
    for side in 10..<30 {
      #expect(try await server.get(TestServer.target("rs:fit:\(side):\(side)")).response.status == 200)
    }
    let tier = try #require(try tiers(of: server).first)
    #expect(tier.name == "s3" && tier.openings > 0 && tier.errors > 0)
    #expect(tier.lastFailure?.contains("AccessDenied") == true)
    await server.server.stop()
  }

  @Test
  func thePlaceIsASetting() throws {
    let settings = try Settings(environment: ["VITRINE_DURABLE": "s3://thumbnails/v1"])
    #expect(settings.configuration.durable == "s3://thumbnails/v1")
    #expect(settings.text.contains("VITRINE_DURABLE=s3://thumbnails/v1\n"))
    #expect(try Settings(environment: ["VITRINE_DURABLE": ""]).configuration.durable == nil)
    let long = "s3://thumbnails/" + String(repeating: "x", count: 200)
    for text in ["thumbnails/v1", "s3://thumbnails", "s3://thumbnails/", long] {
      #expect(throws: ConfigurationError.self) { try Settings(environment: ["VITRINE_DURABLE": text]) }
    }
    #expect(try BucketPlace("s3://thumbnails/v1").prefix == "v1/")
    #expect(try BucketPlace("s3://thumbnails/v1/").prefix == "v1/")
  }

  @Test
  func aPlaceThatIsNoneMakesNoServer() {
    var configuration = ThumbnailServer.Configuration()
    (configuration.sandbox, configuration.durable) = (.none, "thumbnails")
    configuration.s3 = S3Configuration(credentials: .anonymous)
    #expect(throws: ServerError.self) { try ThumbnailServer(configuration) }
  }
}
