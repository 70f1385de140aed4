import CGTK
import Vitrine
import VitrineGTK
import VitrineRuntime
import VitrineTesting

/// A server of local pictures in a process of its own, as a real one is on a machine of its own: neither its threads
/// nor its memory count as those of the windows that are measured.
///
/// The process is this program with the option `--serve`. It reads the delay and the files from its standard input,
/// writes its port, and then answers each line with another, until its input ends.
@MainActor
final class PictureServer {
  /// A file to serve under its number in the list.
  struct Entry: Sendable {
    let path: String
    /// The length of the body: that of the file, and as many zero bytes behind it as are missing.
    let length: Int
  }

  /// The option with which this program is the server.
  nonisolated static let option = "--serve"

  private let port: Int
  private let input: CInt
  private let output: CInt

  /// Starts a process that serves files, each answer at most `latency` milliseconds late, and blocks until it listens.
  ///
  /// `nil` if it cannot be started.
  init?(_ entries: [Entry], latency: Int) {
    let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "vitrine-gallery"
    // Both arrays live until the call has returned; GLib copies them.
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
    guard hasStarted != 0 else { return nil }
    (self.input, self.output) = (input, output)
    let lines = ["\(latency)", "\(entries.count)"] + entries.map { "\($0.length) \($0.path)" }
    Self.send(lines.joined(separator: "\n") + "\n", to: input)
    guard let port = Self.line(from: output).flatMap({ Int($0) }) else {
      close(input)
      close(output)
      return nil
    }
    self.port = port
  }

  isolated deinit {
    close(input)
    close(output)
  }

  /// Returns the URL of a path; that of a file is its number in the list.
  func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

  /// The number of requests so far.
  var requestCount: Int { ask("count") }

  /// True if answers are delayed, as they are at first.
  var isSlow = true {
    didSet { _ = ask(isSlow ? "slow" : "fast") }
  }

  /// Blocks until the server has answered; zero if it no longer does.
  private func ask(_ question: String) -> Int {
    Self.send(question + "\n", to: input)
    return Self.line(from: output).flatMap { Int($0) } ?? 0
  }

  // MARK: The process

  /// Serves until the standard input ends, and ends the process.
  nonisolated static func serve() -> Never {
    guard let latency = readLine().flatMap({ Int($0) }), let count = readLine().flatMap({ Int($0) }),
      let server = try? LoopbackServer()
    else { exit(1) }
    var entries: [Entry] = []
    while entries.count < count, let line = readLine() {
      guard let space = line.firstIndex(of: " "), let length = Int(line[..<space]) else { exit(1) }
      entries.append(Entry(path: String(line[line.index(after: space)...]), length: length))
    }
    let isSlow = Lock(true)
    server.route("*") { [entries] exchange in
      answer(exchange, entries, latency: isSlow.withLock { $0 } ? latency : 0)
    }
    send("\(server.port)\n", to: 1)
    while let question = readLine() {
      if question != "count" { isSlow.withLock { $0 = question == "slow" } }
      send("\(server.counts.requests)\n", to: 1)
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

  private nonisolated static func send(_ text: String, to file: CInt) {
    var rest = Array(text.utf8)[...]
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
