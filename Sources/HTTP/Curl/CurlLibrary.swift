import CVitrineCurl
import VitrineRuntime

/// The process-wide parts of libcurl: its set-up, and the engines that must end before the process.
enum CurlLibrary {
  private static let engines = Lock([(mailbox: CurlMailbox, thread: JoinableThread)]())

  /// The reason why libcurl is not available, or `nil` if it is.
  ///
  /// The first access loads and initialises it.
  static let failure: String? = {
    // The text belongs to the system, and no other library is loaded meanwhile.
    if let reason = unsafe vitrine_curl_open() { return unsafe String(cString: reason) }
    vitrine_curl_global_init(Int(CURL_GLOBAL_DEFAULT))
    // OpenSSL has just registered an exit handler that frees memory of the engines' threads. Handlers run in reverse
    // order, so this one ends the threads first. Without it 6 of 120 exits under load crashed.
    atexit { CurlLibrary.stopAll() }
    return nil
  }()

  /// Starts the thread of an engine.
  ///
  /// - Returns: `false` if the system has no thread to spare.
  static func startThread(of mailbox: CurlMailbox, _ body: @escaping @Sendable () -> Void) -> Bool {
    // Ended threads are joined here, so that only the last ones remain.
    let ended = engines.withLock { engines in
      // Each engine is checked once, since it may end in between.
      let start = engines.partition { $0.mailbox.hasEnded }
      defer { engines.removeSubrange(start...) }
      return Array(engines[start...])
    }
    for engine in ended { engine.thread.join() }
    guard let thread = JoinableThread(named: "vitrine-http", body) else { return false }
    engines.withLock { $0.append((mailbox, thread)) }
    return true
  }

  /// Blocks until the thread of a stopped engine has ended.
  static func join(_ mailbox: CurlMailbox) {
    let engine = engines.withLock { engines in
      engines.firstIndex { $0.mailbox === mailbox }.map { engines.remove(at: $0) }
    }
    engine?.thread.join()
  }

  private static func stopAll() {
    let all = engines.withLock { engines in
      defer { engines = [] }
      return engines
    }
    for engine in all { engine.mailbox.stop() }
    for engine in all { engine.thread.join() }
  }

  /// The file of trusted certificates.
  ///
  /// Without a file libcurl would use its default folder, and parse all certificates anew for every connection, 60 to
  /// 80 ms each, since its cache works only for a file.
  static let certificateFile: String? = {
    let places = [
      ProcessInfo.processInfo.environment["SSL_CERT_FILE"] ?? "",
      "/etc/ssl/certs/ca-certificates.crt",
      "/etc/pki/tls/certs/ca-bundle.crt",
      "/etc/ssl/ca-bundle.pem",
      "/etc/ssl/cert.pem",
    ]
    return places.first { !$0.isEmpty && FileManager.default.isReadableFile(atPath: $0) }
  }()
}
