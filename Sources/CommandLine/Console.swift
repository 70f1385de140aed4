import VitrineRuntime

/// Standard output and standard error, with a progress bar on the latter where it is a terminal.
///
/// Used by the main thread only.
final class Console {
  private let total: Int
  private let showsProgress: Bool
  private var done = 0
  private var barLength = 0

  /// - Parameter total: How many sources there are; one needs no bar.
  init(total: Int) {
    self.total = total
    showsProgress = total > 1 && isatty(2) == 1
  }

  /// Whether a person watches.
  var isInteractive: Bool { isatty(2) == 1 }

  func out(_ line: String) {
    clearBar()
    Self.print(line + "\n", to: 1)
    drawBar()
  }

  func error(_ source: String, _ reason: String) {
    clearBar()
    Self.print("vitrine: \(source): \(reason)\n", to: 2)
    drawBar()
  }

  func note(_ line: String) {
    clearBar()
    Self.print(line + "\n", to: 2)
  }

  /// Says what went wrong with a source.
  func report(_ failure: Failure, _ source: String, isJSON: Bool) {
    error(source, failure.reason)
    if isJSON { out(failure.json(source)) }
  }

  /// Tells a person at the end what was done, where there were several.
  func summarize(count: Int, failures: Int, time: Duration) {
    guard isInteractive, count > 1 else { return }
    let seconds = (time.seconds * 10).rounded() / 10
    note("\(count - failures) of \(count) done in \(seconds) s")
  }

  func advance() {
    done += 1
    clearBar()
    drawBar()
  }

  private func drawBar() {
    guard showsProgress, done < total else { return }
    let width = 30
    let filled = width * done / total
    let bar =
      "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
      + "] \(done) of \(total)"
    barLength = bar.count
    Self.print(bar, to: 2)
  }

  private func clearBar() {
    guard barLength > 0 else { return }
    Self.print("\r" + String(repeating: " ", count: barLength) + "\r", to: 2)
    barLength = 0
  }

  static func print(_ text: String, to file: Int32) {
    var text = text
    text.withUTF8 { bytes in
      var offset = 0
      while offset < bytes.count, let start = bytes.baseAddress {
        // Within the text by the condition above.
        let written = unsafe write(file, start + offset, bytes.count - offset)
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { return }
        offset += written
      }
    }
  }
}

extension Duration {
  var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
