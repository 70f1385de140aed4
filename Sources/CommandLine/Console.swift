import VitrineRuntime

/// Standard output and standard error, with progress on the latter where it is a terminal.
///
/// Lines are shown without the control characters that files and servers may have put into them.
final class Console: Sendable {
  private struct State {
    var done = 0
    /// How much of the only source has come, of how much; `nil` for what no server has said.
    var download: (received: Int, total: Int?)?
    var bar = ""
    var isDrawingDue = false
  }

  private let total: Int
  private let showsProgress: Bool
  private let state = Lock(State())
  /// Draws the progress of a download: whoever receives it must not wait for a terminal.
  private let drawing: WorkQueue?

  /// - Parameters:
  ///   - total: How many sources there are: of several it is shown how many are done, of one how much has come.
  ///   - isQuiet: Whether no progress is shown at all.
  init(total: Int, isQuiet: Bool = false) {
    self.total = total
    showsProgress = !isQuiet && isatty(2) == 1
    drawing = showsProgress && total == 1 ? WorkQueue(label: "progress", width: 1) : nil
    if showsProgress { Signals.beforeTheEnd { Self.wipe() } }
  }

  /// Whether somebody is to be told how much of a download has come.
  var showsDownload: Bool { drawing != nil }

  func out(_ line: String) { print(line, to: 1) }

  func error(_ source: ByteString, _ reason: String) { note("vitrine: \(source.readable): \(reason)") }

  func note(_ line: String) { print(line, to: 2) }

  private func print(_ line: String, to file: Int32) {
    state.withLock { state in
      show("", &state)
      Self.print(line.withoutControls + "\n", to: file)
      show(bar(state), &state)
    }
  }

  /// Tells a person at the end what was done, where there were several.
  func summarize(count: Int, failures: Int, time: Duration) {
    guard showsProgress, count > 1 else { return }
    let seconds = (time.seconds * 10).rounded() / 10
    note("\(count - failures) of \(count) done in \(seconds) s")
  }

  // MARK: - Progress

  /// Takes note that one more source is done.
  func advance() {
    state.withLock { state in
      state.done += 1
      show(bar(state), &state)
    }
  }

  /// Takes note of how much of a download has come, on any thread, and returns at once.
  func receive(_ received: Int, of total: Int?) {
    let isFirst = state.withLock { state in
      defer { state.isDrawingDue = true }
      state.download = (received, total)
      return !state.isDrawingDue
    }
    guard isFirst else { return }
    _ = try? drawing?.enqueue { [self] _ in
      state.withLock { state in
        state.isDrawingDue = false
        show(bar(state), &state)
      }
    }
  }

  /// What is to be seen now; empty for nothing.
  private func bar(_ state: State) -> String {
    guard showsProgress, state.done < total else { return "" }
    guard total == 1 else { return "\(Self.bar(state.done, of: total)) \(state.done) of \(total)" }
    guard let (received, length) = state.download else { return "" }
    guard let length, length > 0 else { return received.asBytes }
    return "\(Self.bar(min(received, length), of: length)) \(min(100, received * 100 / length)) % of \(length.asBytes)"
  }

  private static func bar(_ done: Int, of total: Int) -> String {
    let width = 30
    let filled = Int(Double(done) / Double(total) * Double(width))
    return "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled) + "]"
  }

  private func show(_ bar: String, _ state: inout State) {
    guard bar != state.bar else { return }
    let blank = state.bar.isEmpty ? "" : "\r" + String(repeating: " ", count: state.bar.count) + "\r"
    state.bar = bar
    Self.print(blank + bar, to: 2)
  }

  /// Removes whatever bar there is, without waiting for whoever draws one.
  private static func wipe() {
    let blank = "\r" + String(repeating: " ", count: 70) + "\r"
    _ = unsafe Array(blank.utf8).withUnsafeBytes { unsafe AtomicFile.fill(2, with: $0) }
  }

  // MARK: - Printing

  /// Why standard output could not be written; 0 where it could.
  private static let failure = Lock<Int32>(0)

  /// Prints text as it is.
  ///
  /// Where nobody reads it any more the process ends, as it would if nothing had been done about SIGPIPE.
  static func print(_ text: String, to file: Int32) {
    var text = text
    let code = text.withUTF8 { unsafe AtomicFile.fill(file, with: UnsafeRawBufferPointer($0)) }
    if code == EPIPE { Signals.end(with: SIGPIPE) }
    if file == 1, code != 0 { failure.withLock { if $0 == 0 { $0 = code } } }
  }

  /// What the process ends with, after `code` so far: what could not be printed is an error too, and is told here.
  static func exitCode(_ code: Int32) -> Int32 {
    let failure = failure.withLock { $0 }
    guard failure != 0 else { return code }
    print("vitrine: standard output: \(FileError(code: failure).ofStandardFile)\n", to: 2)
    return code == ExitCode.success ? ExitCode.failure : code
  }
}

extension Duration {
  var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
