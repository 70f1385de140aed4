import Testing
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineS3
import VitrineTestSupport
import VitrineTesting

@testable import VitrineServing

/// Objects in buckets as sources of a server.
@Suite(.patient)
struct ObjectTests {
  @Test
  func aThumbnailIsMadeOfAnObjectInANamedBucket() async throws {
    let bucket = try LoopbackServer()
    bucket.route("/photos/a%20b/cat.jpg", LoopbackResponse(body: TestServer.photograph))
    let server = try TestServer {
      $0.urls.sources.buckets = ["photos"]
      $0.s3 = S3Configuration(endpoint: try? HTTPURL(bucket.url("")), credentials: .anonymous)
    }
    let (response, body) = try await server.get(TestServer.target(of: "s3://photos/a%20b/cat.jpg"))
    #expect(response.status == 200)
    #expect(try DecoderRegistry.standard.info(of: body).width == 64)
    // As a proxy sends it that joins slashes.
    #expect(try await server.get(TestServer.target(of: "s3:/photos/a%20b/cat.jpg")).response.status == 200)
    #expect(try await server.get(TestServer.target(of: "gs://photos/a%20b/cat.jpg")).response.status == 200)
    #expect(try await server.get(TestServer.target(of: "s3://photos/missing.jpg")).response.status == 404)
    #expect(try await server.get(TestServer.target(of: "s3://others/cat.jpg")).response.status == 403)
    #expect(bucket.requests.map(\.path).filter { $0 != "/photos/a%20b/cat.jpg" } == ["/photos/missing.jpg"])
    #expect(server.loader.counts.loads == 0)
    await server.server.stop()
  }

  @Test
  func bucketsAreASetting() throws {
    let settings = try Settings(environment: ["VITRINE_S3_BUCKETS": "photos, thumbs.v1"])
    #expect(settings.configuration.urls.sources.buckets == ["photos", "thumbs.v1"])
    #expect(settings.text.contains("VITRINE_S3_BUCKETS=photos,thumbs.v1\n"))
    #expect(throws: ConfigurationError.self) { try Settings(environment: ["VITRINE_S3_BUCKETS": "a/b"]) }
  }
}
