import Foundation
import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineRedis

/// Processes that share a server.
@Suite(.needsRedis, .serialized, .patient)
struct FleetTests {
  /// A process, from its start to its end.
  private final class Member: @unchecked Sendable {
    // @unchecked: used by one thread at a time, that of the test.
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())

    init(_ arguments: [String]) throws {
      process.executableURL = URL(
        filePath: try #require(BuiltProgram.path("fleet-member"), "fleet-member is not built")
      )
      process.arguments = arguments
      (process.standardInput, process.standardOutput) = (input, output)
      try process.run()
      let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
      #expect(said == "ready\n")
    }

    func go() { input.fileHandleForWriting.write(Data("go\n".utf8)) }

    func kill() { _ = Foundation.kill(process.processIdentifier, SIGKILL) }

    /// Waits for the end on a thread of its own, and returns what was said.
    func end() async -> String {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          let said = self.output.fileHandleForReading.readDataToEndOfFile()
          self.process.waitUntilExit()
          continuation.resume(returning: String(decoding: said, as: UTF8.self))
        }
      }
    }
  }

  private let redis: RedisProcess
  private let server: LoopbackServer

  init() throws {
    (redis, server) = (try RedisProcess(), try LoopbackServer())
  }

  private func members(_ count: Int, _ images: Int, _ kind: String) throws -> [Member] {
    try (0..<count).map { _ in
      try Member(["unix://\(redis.socket)", server.url("/"), "\(images)", kind])
    }
  }

  @Test(arguments: ["data", "encoded"])
  func aThousandURLsAskedOfThreeProcessesAtOnceAreFetchedOnceEach(kind: String) async throws {
    server.route("*") { exchange in
      let number = Int(exchange.request.path.dropFirst()) ?? 0
      let body: Data
      if kind == "encoded" {
        body = (try? Bitmap.testPattern(width: number, height: 1).encoded(as: .png)) ?? Data()
      } else {
        body = Data(repeating: UInt8(truncatingIfNeeded: number), count: number + 100)
      }
      exchange.respond(LoopbackResponse(headers: ["Cache-Control": "max-age=3600"], body: body))
    }
    let members = try members(3, 1000, kind)
    for member in members { member.go() }
    for member in members {
      let said = await member.end()
      #expect(said.split(separator: "\n").first == "1000", "\(said)")
    }
    #expect(server.counts.requests == 1000)
    #expect(Set(server.requests.map(\.path)).count == 1000)
  }

  @Test
  func aHolderThatIsKilledCostsTheOthersItsLeaseAndNoImage() async throws {
    let gate = server.makeGate()
    let hasBegun = Deferred<Void>()
    let count = Lock(0)
    server.route("/1") { exchange in
      if count.withLock({ count in
        count += 1
        return count
      }) == 1 {
        hasBegun.resolve(())
        gate.wait()
      }
      exchange.respond(
        LoopbackResponse(headers: ["Cache-Control": "max-age=3600"], body: Data(repeating: 1, count: 101))
      )
    }
    let members = try members(2, 1, "data")
    members[0].go()
    await hasBegun.value()
    members[1].go()
    members[0].kill()
    _ = await members[0].end()
    // As time would, a minute later.
    let cache = try redis.makeCache()
    try await cache.scan {
      $0.leasePrefix
    } _: { names, _ in
      for name in names { _ = try await cache.sendPlainly([RedisCommand("DEL", name)]) }
    }
    #expect(await members[1].end().split(separator: "\n").first == "1")
    #expect(count.withLock { $0 } == 2)
    gate.open()
  }
}
