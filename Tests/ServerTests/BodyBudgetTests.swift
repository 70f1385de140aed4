import Testing
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineServing

/// What is being sent is counted, and equal bodies once.
@Suite(.patient)
struct BodyBudgetTests {
  @Test
  func equalBodiesAreOne() throws {
    let budget = BodyBudget(limit: 100)
    do {
      let (first, second) = (budget.body(Data(count: 40), tag: "cat"), budget.body(Data(count: 40), tag: "cat"))
      #expect(first != nil && first === second)
      let other = try #require(budget.body(Data(count: 30), tag: "dog"))
      #expect(other.count == 30 && budget.byteCount == 70)
      withExtendedLifetime((first, second, other)) {}
    }
    #expect(budget.byteCount == 0)
    // Nothing is known of what nobody has.
    let again = budget.body(Data(count: 50), tag: "cat")
    #expect(again?.count == 50)
  }

  @Test
  func whatDoesNotFitIsRefusedUntilThereIsRoom() {
    let budget = BodyBudget(limit: 100)
    var bodies = [budget.body(Data(count: 60), tag: nil), budget.body(Data(count: 40), tag: nil)]
    #expect(!bodies.contains { $0 == nil })
    #expect(budget.isFull && budget.body(Data(count: 1), tag: nil) == nil)
    // What is there needs no room.
    bodies[1] = nil
    #expect(!budget.isFull && budget.byteCount == 60)
    #expect(budget.body(Data(count: 41), tag: nil) == nil)
    #expect(budget.body(Data(count: 40), tag: nil) != nil)
  }

  @Test
  func oneLargeBodyFitsBesideShortOnes() {
    let budget = BodyBudget(limit: 100)
    let short = budget.body(Data(count: 20), tag: nil)
    let large = budget.body(Data(count: 1000), tag: nil)
    #expect(short != nil && large != nil)
    #expect(budget.body(Data(count: 1000), tag: nil) == nil)
    withExtendedLifetime((short, large)) {}
  }

  /// As many readers as like to may have one image without reading it.
  @Test
  func readersThatDoNotReadShareOneBody() async throws {
    // More than sockets hold, and more than the memory keeps.
    let picture = try Bitmap.noise(width: 1600, height: 1200, seed: 1).encoded(as: .png)
    #expect(picture.count > 4 << 20)
    let (loader, folder) = (FakeLoader(), try TemporaryFolder())
    loader.answer(TestServer.source, with: picture, headers: ["Cache-Control": "max-age=600"])
    let server = try TestServer(loader) { ($0.memory, $0.cacheFolder) = (64 << 20, folder.path + "/cache") }
    // It is not enlarged, and stays a PNG.
    let target = TestServer.target("rs:fit:1600:1200", "@png")
    let size = try await server.get(target).body.count
    let readers = try (0..<40).map { _ in try RawConnection(to: server.server.port, receiving: 4096) }
    for reader in readers {
      reader.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(await reader.read().hasPrefix("HTTP/1.1 200"))
    }
    let held = server.server.service.bodies.byteCount
    #expect(held >= size && held <= 2 * size, "\(held) bytes, \(size) a body")
    let metrics = String(decoding: try await server.get("/metrics").body, as: UTF8.self)
    #expect(metrics.contains("vitrine_body_bytes \(held)"))
    await server.server.stop()
    #expect(server.server.service.bodies.byteCount <= size)
  }

  @Test
  func whoWouldNeedMoreIsToldToComeAgain() async throws {
    let loader = FakeLoader()
    for number in 0..<3 {
      let picture = try Bitmap.noise(width: 1000, height: 1000, seed: UInt64(number)).encoded(as: .png)
      loader.answer("http://images.invalid/\(number)", with: picture)
    }
    let server = try TestServer(loader) { $0.memory = 32 << 20 }
    var readers: [RawConnection] = []
    var answers: [String] = []
    for number in 0..<3 {
      let reader = try RawConnection(to: server.server.port, receiving: 4096)
      let target = TestServer.target("rs:fit:1000:1000", of: "http://images.invalid/\(number)", "@png")
      reader.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
      answers.append(await reader.read())
      readers.append(reader)
    }
    #expect(answers[0].hasPrefix("HTTP/1.1 200"))
    #expect(answers[2].hasPrefix("HTTP/1.1 503") && answers[2].contains("Retry-After"), "\(answers[2])")
    #expect(answers[2].contains("too many images are being") == true)
    readers = []
    await server.server.stop()
  }
}
