import Foundation
import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineServing

struct SocketTests {
  private static let question = "GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

  private func ask(_ path: String) async throws -> String {
    let connection = RawConnection(try #require(UnixSocket.connect(path)))
    connection.send(Self.question)
    return await connection.readAll()
  }

  private func server(_ path: String) throws -> TestServer { try TestServer { $0.host = UnixSocket.prefix + path } }

  @Test
  func aServerAnswersOnAFileAndRemovesIt() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("server.sock").path
    let server = try server(path)
    #expect(server.server.port == 0)
    #expect(try await ask(path).hasPrefix("HTTP/1.1 200"))
    let mode = try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)
    #expect(mode.intValue == 0o660)
    await server.server.stop()
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test
  func aSocketThatWasLeftBehindIsReplaced() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("server.sock").path
    let left = try ListeningSocket.open(host: UnixSocket.prefix + path, port: 0).get()
    close(left.descriptor)
    let server = try server(path)
    #expect(try await ask(path).hasPrefix("HTTP/1.1 200"))
    // What was made later is not the first one's to remove.
    left.file?.remove()
    #expect(try await ask(path).hasPrefix("HTTP/1.1 200"))
    await server.server.stop()
  }

  @Test
  func aSocketInUseIsNotReplaced() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("server.sock").path
    let first = try server(path)
    let error = try #require(throws: ServerError.self) { try server(path) }
    #expect(error.description.hasPrefix("cannot listen on unix:\(path): "), "\(error)")
    #expect(try await ask(path).hasPrefix("HTTP/1.1 200"))
    await first.server.stop()
  }

  @Test
  func anotherFileIsNotReplaced() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("notes.txt").path
    try Data("text".utf8).write(to: URL(filePath: path))
    #expect(throws: ServerError.self) { try server(path) }
    #expect(try Data(contentsOf: URL(filePath: path)) == Data("text".utf8))
  }

  @Test
  func aPathThatIsTooLongIsNamed() throws {
    let path = "/tmp/" + String(repeating: "a", count: 200)
    let error = try #require(throws: ServerError.self) { try server(path) }
    #expect(error.description.contains("more bytes than a socket's path may have"))
  }

  @Test
  func aSocketThatWasPassedIsTakenOver() async throws {
    let passed = try ListeningSocket.open(host: "127.0.0.1", port: 0).get()
    let variables = ["LISTEN_PID": "\(getpid())", "LISTEN_FDS": "1"]
    let socket = try #require(try PassedSocket.take(environment: variables, from: passed.descriptor))
    let server = try TestServer(on: socket)
    #expect(server.server.port == passed.port)
    #expect(try await server.get("/health").response.status == 200)
    await server.server.stop()
  }

  @Test
  func socketsForOthersAreLeftAndWrongOnesAreNamed() throws {
    #expect(try PassedSocket.take(environment: [:]) == nil)
    #expect(try PassedSocket.take(environment: ["LISTEN_PID": "1", "LISTEN_FDS": "1"]) == nil)
    let pid = "\(getpid())"
    #expect(throws: ServerError.self) {
      try PassedSocket.take(environment: ["LISTEN_PID": pid, "LISTEN_FDS": "2"], from: -1)
    }
    let other = try #require(openStreamSocket())
    defer { close(other) }
    let error = #expect(throws: ServerError.self) {
      try PassedSocket.take(environment: ["LISTEN_PID": pid, "LISTEN_FDS": "1"], from: other)
    }
    #expect(error?.description == "LISTEN_FDS: descriptor \(other) is no stream socket that listens")
  }
}
