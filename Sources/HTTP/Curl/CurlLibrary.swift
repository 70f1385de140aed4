#if canImport(CVitrineCurl)
import CVitrineCurl
import VitrineRuntime

/// What libcurl has once in a process: its set-up, and the engines that must end before the process does.
enum CurlLibrary {
  private struct Engine {
    let mailbox: CurlMailbox
    let thread: JoinableThread
  }

  private static let engines = Lock([Engine]())

  /// Why there is no libcurl; nil where there is.
  ///
  /// The first to ask opens it and sets it up.
  static let failure: String? = {
    // The text belongs to the system, and nobody else has opened anything meanwhile.
    if let reason = unsafe vitrine_curl_open() { return unsafe String(cString: reason) }
    vitrine_curl_global_init(Int(CURL_GLOBAL_DEFAULT))
    // OpenSSL has just registered a handler of its own that frees what our threads use. Handlers run last
    // in, first out: so this one ends the threads before. Without it 6 of 120 exits under load crashed.
    atexit { CurlLibrary.stopAll() }
    return nil
  }()

  /// Starts the thread of an engine.
  ///
  /// - Returns: Whether the system had one to give.
  static func startThread(of mailbox: CurlMailbox, _ body: @escaping @Sendable () -> Void) -> Bool {
    // Threads that have ended, or are about to, are joined here, so that no more than the last ones are kept.
    let ended = engines.withLock { engines in
      // Each is asked once: it may end in between.
      let start = engines.partition { $0.mailbox.hasEnded }
      let ended = Array(engines[start...])
      engines.removeSubrange(start...)
      return ended
    }
    for engine in ended { engine.thread.join() }
    guard let thread = JoinableThread(named: "vitrine-http", body) else { return false }
    engines.withLock { $0.append(Engine(mailbox: mailbox, thread: thread)) }
    return true
  }

  /// Blocks until the thread of an engine that was told to stop has ended.
  static func join(_ mailbox: CurlMailbox) {
    let engine = engines.withLock { engines in
      engines.firstIndex { $0.mailbox === mailbox }.map { engines.remove(at: $0) }
    }
    engine?.thread.join()
  }

  private static func stopAll() {
    let all = engines.withLock { engines in
      let all = engines
      engines = []
      return all
    }
    for engine in all { engine.mailbox.stop() }
    for engine in all { engine.thread.join() }
  }

  /// The certificates to trust, in one file.
  ///
  /// libcurl is not left its default folder: with one it parses all certificates anew for every connection,
  /// 60 to 80 ms each, since its cache works for a file only.
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
#endif
