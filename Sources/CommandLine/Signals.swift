import VitrineRuntime

/// Ends the process on SIGHUP, SIGINT and SIGTERM with 128 plus the signal's number, and leaves no partial file.
enum Signals {
  /// Held while an output file is moved into place, so that the process does not end in between.
  ///
  /// It protects only this order. The number is there because the thread sanitizer reports a lock around nothing as a
  /// race.
  private static let writing = Lock(0)

  /// The work to do before the process ends.
  private static let closing = Lock<[@Sendable () -> Void]>([])

  /// Blocks the signals in all threads.
  ///
  /// Call it before a second thread exists, since threads inherit the mask.
  static func install() {
    // A write to a closed pipe then returns EPIPE, and the process can end in an orderly way.
    signal(SIGPIPE, SIG_IGN)
    // So does one beyond the limit of a file's size, EFBIG.
    signal(SIGXFSZ, SIG_IGN)
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for number in [SIGHUP, SIGINT, SIGTERM] where !isIgnored(number) { unsafe sigaddset(&set, number) }
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    let waiting = set
    let isWatching = startThread(named: "signals") { watch(for: waiting) }
    // Without the thread, the signals end the process at once, which is their default.
    if !isWatching { unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil) }
  }

  /// Returns `true` if the parent process ignored the signal, as `nohup` does, and shells do for background jobs.
  private static func isIgnored(_ number: Int32) -> Bool {
    let action = signal(number, SIG_DFL)
    // SIG_IGN is the number 1 in place of a pointer, and functions cannot be compared.
    guard unsafe unsafeBitCast(action, to: Int.self) == 1 else { return false }
    signal(number, SIG_IGN)
    return true
  }

  private static func watch(for signals: sigset_t) {
    var set = signals
    var signal: Int32 = 0
    // Both are local variables.
    guard unsafe sigwait(&set, &signal) == 0 else { return }
    let first = signal
    if !startThread(named: "end", { end(with: first) }) { _exit(128 + first) }
    // A second signal does not wait for the closing work.
    guard unsafe sigwait(&set, &signal) == 0 else { return }
    _exit(128 + signal)
  }

  /// Ends the process as the signal would.
  ///
  /// Do not call it within ``whileUninterrupted(_:)``.
  static func end(with signal: Int32) -> Never {
    writing.withLock { _ in
      // In reverse order of registration.
      while let close = closing.withLock({ $0.popLast() }) { close() }
      _exit(128 + signal)
    }
  }

  static func whileUninterrupted<E: Error>(_ body: () throws(E) -> Void) throws(E) {
    try writing.withLock { (_) throws(E) in try body() }
  }

  /// Calls `close` before a signal ends the process.
  ///
  /// It must not write output files.
  static func beforeTheEnd(_ close: @escaping @Sendable () -> Void) {
    closing.withLock { $0.append(close) }
  }

  /// Ends the process, unless a signal is already ending it.
  static func exit(_ code: Int32) -> Never {
    writing.withLock { _ in VitrineRuntime.exit(code) }
  }
}
