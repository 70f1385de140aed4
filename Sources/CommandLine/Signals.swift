import VitrineRuntime

/// Ends the process on SIGINT and SIGTERM with 128 plus the signal's number, leaving no half-written file.
enum Signals {
  /// Held while an output file is put in its place, so that the end does not fall in between.
  ///
  /// It guards no state but the order of things; the number is there since a lock around nothing looks like a race to the
  /// thread sanitizer.
  private static let writing = Lock(0)

  /// To be called before there is a second thread: all threads inherit that they do not take the signals.
  static func install() {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    unsafe sigaddset(&set, SIGINT)
    unsafe sigaddset(&set, SIGTERM)
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    let waiting = set
    let isWatching = startThread(named: "signals") {
      var set = waiting
      var signal: Int32 = 0
      // Both are variables of this thread.
      guard unsafe sigwait(&set, &signal) == 0 else { return }
      writing.withLock { _ in _exit(128 + signal) }
    }
    // Without the thread the signals end the process at once, as they do by default.
    if !isWatching { unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil) }
  }

  static func whileUninterrupted<E: Error>(_ body: () throws(E) -> Void) throws(E) {
    try writing.withLock { (_) throws(E) in try body() }
  }
}
