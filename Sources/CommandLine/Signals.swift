import VitrineRuntime

/// Ends the process on SIGHUP, SIGINT and SIGTERM with 128 plus the signal's number, leaving no half-written file.
enum Signals {
  /// Held while an output file is put in its place, so that the end does not fall in between.
  ///
  /// It guards no state but the order of things; the number is there since a lock around nothing looks like a race to the
  /// thread sanitizer.
  private static let writing = Lock(0)

  /// What is to be brought to an end first.
  private static let closing = Lock<[@Sendable () -> Void]>([])

  /// To be called before there is a second thread: all threads inherit that they do not take the signals.
  static func install() {
    // Whoever writes is told that nobody reads (EPIPE), and can then still end in order.
    signal(SIGPIPE, SIG_IGN)
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for number in [SIGHUP, SIGINT, SIGTERM] where !isIgnored(number) { unsafe sigaddset(&set, number) }
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    let waiting = set
    let isWatching = startThread(named: "signals") { watch(for: waiting) }
    // Without the thread the signals end the process at once, as they do by default.
    if !isWatching { unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil) }
  }

  /// Whether whoever started this wants it to outlive the signal, as `nohup` does, and shells for what is in the background.
  private static func isIgnored(_ number: Int32) -> Bool {
    let action = signal(number, SIG_DFL)
    // SIG_IGN is the number 1 in place of an address, and functions cannot be compared.
    guard unsafe unsafeBitCast(action, to: Int.self) == 1 else { return false }
    signal(number, SIG_IGN)
    return true
  }

  private static func watch(for signals: sigset_t) {
    var set = signals
    var signal: Int32 = 0
    // Both are variables of this thread.
    guard unsafe sigwait(&set, &signal) == 0 else { return }
    let first = signal
    if !startThread(named: "end", { end(with: first) }) { _exit(128 + first) }
    // Who asks a second time does not want to wait for what is being closed.
    guard unsafe sigwait(&set, &signal) == 0 else { return }
    _exit(128 + signal)
  }

  /// Ends the process as a signal does; not from within ``whileUninterrupted(_:)``.
  static func end(with signal: Int32) -> Never {
    writing.withLock { _ in
      // Last come, first closed.
      while let close = closing.withLock({ $0.popLast() }) { close() }
      _exit(128 + signal)
    }
  }

  static func whileUninterrupted<E: Error>(_ body: () throws(E) -> Void) throws(E) {
    try writing.withLock { (_) throws(E) in try body() }
  }

  /// Has `close` called before a signal ends the process; it must not write output files.
  static func beforeTheEnd(_ close: @escaping @Sendable () -> Void) {
    closing.withLock { $0.append(close) }
  }

  /// Ends the process, unless a signal is about to.
  static func exit(_ code: Int32) -> Never {
    writing.withLock { _ in VitrineRuntime.exit(code) }
  }
}
