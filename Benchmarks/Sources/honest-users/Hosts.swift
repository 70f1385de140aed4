import Foundation
import VitrineHTTP
import VitrineTesting

/// The servers of an attack, in a process of their own: one that is honest, and many that drip.
struct Hosts: Sendable {
  private let honest: Int
  private let dripping: [Int]
  private let input: FileHandle

  init(photographs: URL, bombs: URL) throws {
    let process = Process()
    process.executableURL = URL(filePath: CommandLine.arguments[0])
    process.arguments = ["serve", photographs.path, bombs.path]
    let pipe = Pipe()
    process.standardOutput = pipe
    let input = Pipe()
    process.standardInput = input
    try process.run()
    let line = String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
    let ports = line.split { $0.isWhitespace }.compactMap { Int($0) }
    guard ports.count == 12 else { throw CocoaError(.executableLoad) }
    (honest, dripping, self.input) = (ports[0], Array(ports.dropFirst()), input.fileHandleForWriting)
  }

  func url(_ path: String) -> URL { Self.url(honest, path) }

  func drippingURL(_ number: Int) -> URL { Self.url(dripping[number % dripping.count], "\(number).jpg") }

  private static func url(_ port: Int, _ path: String) -> URL {
    guard let url = URL(string: "http://127.0.0.1:\(port)/\(path)") else { fatalError("no path of a URL: \(path)") }
    return url
  }

  func stop() { try? input.close() }

  /// Runs the servers until standard input ends.
  static func serve(photographs: URL, bombs: URL) throws -> Never {
    let server = try LoopbackServer()
    server.route("*") { exchange in
      let name = URL(filePath: exchange.request.path).lastPathComponent
      let folder = exchange.request.path.hasPrefix("/bombs/") ? bombs : photographs
      guard let body = try? Data(contentsOf: folder.appending(path: name)) else {
        exchange.respond(LoopbackResponse(status: 404))
        return
      }
      exchange.respond(LoopbackResponse(headers: ["Cache-Control": "max-age=3600"], body: body))
    }
    let dripping = try (0..<11).map { _ in
      let server = try LoopbackServer()
      server.route("*") { exchange in
        exchange.sendHead(200, ["Content-Type": "image/jpeg", "Content-Length": "100000"])
        // 150 bytes a second.
        while exchange.send(Data(repeating: 0xFF, count: 15)) { usleep(100_000) }
      }
      return server
    }
    let ports = ([server] + dripping).map { "\($0.port)" }
    try FileHandle.standardOutput.write(contentsOf: Data((ports.joined(separator: " ") + "\n").utf8))
    // Until the end of the process that started this one.
    _ = try FileHandle.standardInput.readToEnd()
    withExtendedLifetime((server, dripping)) { exit(0) }
  }
}
