import VitrineRuntime

/// Ends the process on SIGINT and SIGTERM with 128 plus the signal's number, leaving no half-written file.
enum Signals {
  /// Held while an output file is put in its place, so that the end does not fall in between.
  ///
  /// It guards no state but the order of things; the number is there since a lock around nothing looks like a race to the
  /// thread sanitizer.
  private static let writing = Lock(0)

  /// What is to be brought to an end first.
  private static let closing = Lock<(@Sendable () -> Void)?>(nil)

  /// To be called before there is a second thread: all threads inherit that they do not take the signals.
  static func install() {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    unsafe sigaddset(&set, SIGINT)
    unsafe sigaddset(&set, SIGTERM)
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    let waiting = set
    let isWatching = startThread(named: "signals") { watch(for: waiting) }
    // Without the thread the signals end the process at once, as they do by default.
    if !isWatching { unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil) }
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

  private static func end(with signal: Int32) {
    writing.withLock { _ in
      closing.withLock { $0 }?()
      _exit(128 + signal)
    }
  }

  static func whileUninterrupted<E: Error>(_ body: () throws(E) -> Void) throws(E) {
    try writing.withLock { (_) throws(E) in try body() }
  }

  /// Has `close` called, on a thread of its own, before a signal ends the process; it must not write output files.
  static func beforeTheEnd(_ close: @escaping @Sendable () -> Void) {
    closing.withLock { $0 = close }
  }

  /// Ends the process, unless a signal is about to.
  static func exit(_ code: Int32) -> Never {
    writing.withLock { _ in VitrineRuntime.exit(code) }
  }
}
