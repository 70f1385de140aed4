import Foundation
import VitrineHTTP
import VitrineTesting

/// A server of local pictures in a process of its own, as a real one is on a machine of its own: neither its threads
/// nor its memory count for the window that is measured.
///
/// The process is this program with the subject `serve` and the same arguments. It writes its port, and then answers
/// each line of its input with the number of requests so far, until its input ends.
@MainActor
final class PictureServer {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  /// The URL of the pictures; the number of each is a path below.
  private(set) var root = ""

  /// Starts the process, and blocks until it listens.
  init() throws(Mistake) {
    // A server that has ended is an error, and not the end of this process.
    signal(SIGPIPE, SIG_IGN)
    process.executableURL = URL(filePath: CommandLine.arguments[0])
    process.arguments = [Options.Subject.serve.rawValue] + CommandLine.arguments.dropFirst(2)
    (process.standardInput, process.standardOutput) = (input, output)
    do {
      try process.run()
    } catch {
      throw Mistake(message: "the server of the pictures could not be started: \(error)")
    }
    root = "http://127.0.0.1:\(try answer())/"
  }

  /// Returns the number of requests so far; blocks until the server has answered.
  func requestCount() throws(Mistake) -> Int {
    try? input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
    return try answer()
  }

  private func answer() throws(Mistake) -> Int {
    // A line is one write. None is the end of the process.
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard let number = Int(line.dropLast()) else {
      throw Mistake(message: "the server of the pictures has ended; nothing was measured")
    }
    return number
  }

  /// Returns the URL of the same pictures without a delay.
  nonisolated static func atOnce(_ root: String) -> String { "\(root)at-once/" }

  // MARK: The process

  /// Serves until the standard input ends, and ends the process.
  static func serve(_ options: Options) throws(Mistake) -> Never {
    let pictures = try Picture.all(options)
    guard let server = try? LoopbackServer() else { throw Mistake(message: "there is no free port") }
    server.route("*") { respond($0, pictures, latency: options.latency) }
    say(server.port)
    while readLine() != nil { say(server.counts.requests) }
    exit(0)
  }

  private static func say(_ number: Int) { FileHandle.standardOutput.write(Data("\(number)\n".utf8)) }

  private nonisolated static func respond(_ exchange: LoopbackExchange, _ pictures: [Picture], latency: Int) {
    let path = exchange.request.path
    guard let number = path.split(separator: "/").last.flatMap({ Int($0) }), pictures.indices.contains(number),
      var body = try? Data(contentsOf: URL(filePath: pictures[number].path)), body.count <= pictures[number].byteCount
    else {
      exchange.respond(LoopbackResponse(status: 404))
      return
    }
    body.append(Data(count: pictures[number].byteCount - body.count))
    if latency > 0, path == "/\(number)" {
      // Answers arrive out of order, in the same order in every run.
      let share = (UInt64(number) &* 0x9E37_79B9_7F4A_7C15) >> 32 % 100
      usleep(useconds_t(UInt64(latency) * 10 * share))
    }
    exchange.respond(
      LoopbackResponse(headers: ["Cache-Control": "public, max-age=31536000, immutable"], body: body)
    )
  }
}
