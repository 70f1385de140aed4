import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineServing

@Suite(.patient)
struct KeepingTests {
  private let cat = TestServer.source

  private func loader() -> FakeLoader {
    let loader = FakeLoader()
    loader.answer(cat, with: TestServer.photograph, headers: ["Cache-Control": "max-age=600"])
    return loader
  }

  @Test
  func aNewServerHasTheOldOnesImages() async throws {
    let folder = try TemporaryFolder()
    let first = try TestServer(loader()) { $0.cacheFolder = folder.path + "/cache" }
    let made = try await first.get()
    await first.server.stop()
    let second = try TestServer { $0.cacheFolder = folder.path + "/cache" }
    let found = try await second.get()
    #expect(found.body == made.body)
    #expect(found.response.headers["ETag"] == made.response.headers["ETag"])
    #expect(found.response.headers["Server-Timing"]?.hasPrefix("disk") == true)
    #expect(second.loader.counts.loads == 0)
    await second.server.stop()
  }

  @Test
  func aPurgeRemovesAllVariantsOfASource() async throws {
    let folder = try TemporaryFolder()
    let server = try TestServer(loader()) {
      ($0.cacheFolder, $0.purgeToken) = (folder.path + "/cache", "secret")
    }
    let targets = [TestServer.target("rs:fit:64:64"), TestServer.target("rs:fit:32:32")]
    for target in targets { _ = try await server.get(target) }
    #expect(server.loader.counts.loads == 1)
    let purge = HTTPMethod("PURGE")
    #expect(try await server.get(method: purge).response.status == 401)
    #expect(
      try await server.get(TestServer.target(), ["Authorization": "Bearer wrong"], method: purge).response.status == 401
    )
    #expect(try await server.get(targets[0]).response.headers["Server-Timing"] == "memory")
    let token: HTTPFields = ["Authorization": "Bearer secret"]
    #expect(try await server.get(TestServer.target(), token, method: purge).response.status == 200)
    for target in targets {
      #expect(try await server.get(target).response.headers["Server-Timing"]?.hasPrefix("memory") == false)
    }
    #expect(server.loader.counts.loads == 2)
    await server.server.stop()
  }

  /// The removal waits for writes, and an order that begins meanwhile may find the original.
  @Test
  func anOrderThatBeginsDuringAPurgeIsNotJoinedAfterIt() async throws {
    let folder = try TemporaryFolder()
    let server = try TestServer(loader()) { $0.cacheFolder = folder.path + "/cache" }
    let (service, request, gate) = (server.server.service, ImageRequest(url: cat), Gate())
    let join = { @Sendable (receiver: UInt64) in
      service.flights.join(ByteString("key"), of: request.fetchKey, client: ByteString("client"), as: receiver) {
        await gate.value()
        return .failure(Refusal(status: 404, text: "none", code: "notFound"))
      } _: { _ in
      }
    }
    let write = Gate()
    service.pipeline.resources.addWrite { await write.value() }
    async let purge: Void = service.purge(request)
    while server.metrics.counts.purges == 0 { await Task.yield() }
    #expect(!join(1))
    #expect(join(2))
    write.open()
    await purge
    #expect(!join(3))
    gate.open()
    await server.server.stop()
  }

  @Test
  func aPurgeWithoutATokenSetIsRefused() async throws {
    let server = try TestServer(loader())
    let purge = HTTPMethod("PURGE")
    #expect(
      try await server.get(TestServer.target(), ["Authorization": "Bearer "], method: purge).response.status == 405
    )
    await server.server.stop()
  }

  @Test
  func aLocalFileIsServedAndItsThumbnailKept() async throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.path + "/root/a b", withIntermediateDirectories: true)
    try TestServer.photograph.write(to: URL(filePath: folder.path + "/root/a b/cät.jpg"))
    func start() throws -> TestServer {
      try TestServer { ($0.localRoot, $0.cacheFolder) = (folder.path + "/root", folder.path + "/cache") }
    }
    let target = TestServer.target(of: "local:///a%20b/c%C3%A4t.jpg")
    let first = try start()
    let made = try await first.get(target)
    #expect(made.response.status == 200)
    #expect(made.response.headers["ETag"] != nil)
    await first.server.stop()
    let second = try start()
    let found = try await second.get(target)
    #expect(found.body == made.body)
    #expect(found.response.headers["Server-Timing"]?.hasPrefix("disk") == true)
    await second.server.stop()
  }

  @Test(arguments: [
    "local:///../secret.jpg", "local:///a/../../secret.jpg", "local:///%2e%2e/secret.jpg", "local:///..%2fsecret.jpg",
    "local:///%252e%252e/secret.jpg", "local:///link.jpg", "local:///folder/secret.jpg", "local:////secret.jpg",
    "local:///.%00./secret.jpg", "file:///secret.jpg",
  ])
  func nothingOutsideTheRootIsReached(_ source: String) async throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.path + "/root/a", withIntermediateDirectories: true)
    try TestServer.photograph.write(to: URL(filePath: folder.path + "/secret.jpg"))
    let manager = FileManager.default
    try manager.createSymbolicLink(atPath: folder.path + "/root/link.jpg", withDestinationPath: "../secret.jpg")
    try manager.createSymbolicLink(atPath: folder.path + "/root/folder", withDestinationPath: "..")
    let server = try TestServer { $0.localRoot = folder.path + "/root" }
    let (response, body) = try await server.get(TestServer.target(of: source))
    #expect([400, 403, 404].contains(response.status), "\(response.status)")
    #expect(String(decoding: body, as: UTF8.self).contains("(request "))
    await server.server.stop()
  }
}
