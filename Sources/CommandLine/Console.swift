import VitrineRuntime

/// Standard output and standard error, with progress on the latter if it is a terminal.
///
/// Control characters, which files and servers may supply, are escaped in every line.
final class Console: Sendable {
  private struct State {
    var done = 0
    /// The progress of a single source.
    ///
    /// The total is `nil` if the server has not stated it.
    var download: (received: Int, total: Int?)?
    var bar = ""
    var isDrawingDue = false
  }

  private let total: Int
  private let showsProgress: Bool
  private let state = Lock(State())
  /// The queue that draws a download's progress, since its receiver must not wait for a terminal.
  private let drawing: WorkQueue?

  /// - Parameters:
  ///   - total: The number of sources. With several the progress counts sources, with one it counts bytes.
  ///   - isQuiet: Set to hide the progress.
  init(total: Int, isQuiet: Bool = false) {
    self.total = total
    showsProgress = !isQuiet && isatty(2) == 1
    drawing = showsProgress && total == 1 ? WorkQueue(label: "progress", width: 1) : nil
    if showsProgress { Signals.beforeTheEnd { Self.wipe() } }
  }

  /// A Boolean value that indicates whether to report the progress of a download.
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

  /// Prints a summary for a person at the end, if there were several sources.
  func summarize(count: Int, failures: Int, time: Duration) {
    guard showsProgress, count > 1 else { return }
    let seconds = (time.seconds * 10).rounded() / 10
    note("\(count - failures) of \(count) done in \(seconds) s")
  }

  // MARK: - Progress

  /// Counts one more source as done.
  func advance() {
    state.withLock { state in
      state.done += 1
      show(bar(state), &state)
    }
  }

  /// Records the progress of a download, on any thread, and returns at once.
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

  /// The current progress bar, or an empty string.
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

  /// Removes the progress bar without waiting for a thread that draws one.
  private static func wipe() {
    let blank = "\r" + String(repeating: " ", count: 70) + "\r"
    _ = unsafe Array(blank.utf8).withUnsafeBytes { unsafe AtomicFile.fill(2, with: $0) }
  }

  // MARK: - Printing

  /// The error of writing to standard output, or 0.
  private static let failure = Lock<Int32>(0)

  /// Prints text as it is.
  ///
  /// If the reader has closed the pipe, the process ends as it would by an unhandled SIGPIPE.
  static func print(_ text: String, to file: Int32) {
    var text = text
    let code = text.withUTF8 { unsafe AtomicFile.fill(file, with: UnsafeRawBufferPointer($0)) }
    if code == EPIPE { Signals.end(with: SIGPIPE) }
    if file == 1, code != 0 { failure.withLock { if $0 == 0 { $0 = code } } }
  }

  /// Returns the exit status, given the status so far.
  ///
  /// A failure to print is reported here and counts as an error.
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
