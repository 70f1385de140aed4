import CGTK
import VitrineRuntime
import VitrineTesting

/// A server of local pictures in a process of its own, as a real one is on a machine of its own: neither its threads
/// nor its memory count as those of the windows that are measured.
///
/// The process is this program with the option `--serve`. It reads its setup from the first line of its standard input,
/// as JSON, writes its port, and then answers each line with the number of requests so far, until its input ends.
@MainActor
final class PictureServer {
  /// A file to serve under its number in the list.
  struct Entry: Sendable, Codable {
    let path: String
    /// The length of the body: that of the file, and as many zero bytes behind it as are missing.
    let length: Int
  }

  private struct Setup: Codable {
    let entries: [Entry]
    /// The maximum delay of an answer, in milliseconds.
    let latency: Int
  }

  private enum Speed: String { case slow, fast }

  /// The option with which this program is the server.
  nonisolated static let option = "--serve"

  private let port: Int
  private let input: CInt
  private let output: CInt

  /// Starts a process that serves files, each answer at most `latency` milliseconds late, and blocks until it listens.
  init(_ entries: [Entry], latency: Int) throws(Options.Mistake) {
    // A server that has ended is an error, and not the end of this process.
    signal(SIGPIPE, SIG_IGN)
    let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "vitrine-gallery"
    // The array and its texts live until the call has returned; GLib copies them.
    var words: [UnsafeMutablePointer<CChar>?] = unsafe [strdup(program), strdup(Self.option), nil]
    defer { unsafe words.forEach { unsafe free($0) } }
    var (input, output) = (CInt(-1), CInt(-1))
    let hasStarted = unsafe g_spawn_async_with_pipes(
      nil,
      &words,
      nil,
      G_SPAWN_DEFAULT,
      nil,
      nil,
      nil,
      &input,
      &output,
      nil,
      nil,
    )
    let mistake = Options.Mistake(message: "the server of the pictures could not be started")
    guard hasStarted != 0, let setup = try? JSONEncoder().encode(Setup(entries: entries, latency: latency)) else {
      throw mistake
    }
    Self.send(String(decoding: setup, as: UTF8.self), to: input)
    guard let port = Self.line(from: output).flatMap({ Int($0) }) else {
      close(input)
      close(output)
      throw mistake
    }
    (self.input, self.output, self.port) = (input, output, port)
  }

  isolated deinit {
    close(input)
    close(output)
  }

  /// Returns the URL of a path; that of a file is its number in the list.
  func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

  /// Returns the number of requests so far; blocks until the server has answered.
  func requestCount() throws(Options.Mistake) -> Int { try ask("count") }

  /// Delays answers, as at first, or no longer; blocks until the server has answered.
  func delay(_ isSlow: Bool) throws(Options.Mistake) {
    _ = try ask((isSlow ? Speed.slow : .fast).rawValue)
  }

  private func ask(_ question: String) throws(Options.Mistake) -> Int {
    Self.send(question, to: input)
    guard let count = Self.line(from: output).flatMap({ Int($0) }) else {
      throw Options.Mistake(message: "the server of the pictures has ended; nothing was measured")
    }
    return count
  }

  // MARK: The process

  /// Serves until the standard input ends, and ends the process.
  static func serve() -> Never {
    guard let setup = readLine().flatMap({ try? JSONDecoder().decode(Setup.self, from: Data($0.utf8)) }) else {
      Gallery.fail("\(option) is for the gallery itself, which says what to serve", status: 64)
    }
    guard let server = try? LoopbackServer() else { exit(1) }
    let isSlow = Lock(true)
    server.route("*") { exchange in
      answer(exchange, setup.entries, latency: isSlow.withLock { $0 } ? setup.latency : 0)
    }
    send("\(server.port)", to: 1)
    while let question = readLine() {
      if let speed = Speed(rawValue: question) { isSlow.withLock { $0 = speed == .slow } }
      send("\(server.counts.requests)", to: 1)
    }
    exit(0)
  }

  private nonisolated static func answer(_ exchange: LoopbackExchange, _ entries: [Entry], latency: Int) {
    guard let number = Int(exchange.request.path.dropFirst()), entries.indices.contains(number),
      var body = try? Data(contentsOf: URL(filePath: entries[number].path)), body.count <= entries[number].length
    else {
      exchange.respond(LoopbackResponse(status: 404))
      return
    }
    body.append(Data(count: entries[number].length - body.count))
    if latency > 0 {
      // Answers arrive out of order, in the same order in every run.
      let share = (UInt64(number) &* 0x9E37_79B9_7F4A_7C15) >> 32 % 100
      usleep(useconds_t(UInt64(latency) * 10 * share))
    }
    exchange.respond(
      LoopbackResponse(headers: [("Cache-Control", "public, max-age=31536000, immutable")], body: body)
    )
  }

  // MARK: Lines

  private nonisolated static func send(_ line: String, to file: CInt) {
    var rest = Array("\(line)\n".utf8)[...]
    while !rest.isEmpty {
      // As many bytes as there are.
      let count = unsafe rest.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  private nonisolated static func line(from file: CInt) -> String? {
    var bytes: [UInt8] = []
    while true {
      var byte: UInt8 = 0
      // One byte, which outlives the call.
      let count = unsafe read(file, &byte, 1)
      if count < 0, errno == EINTR { continue }
      guard count == 1 else { return nil }
      if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
  }
}
