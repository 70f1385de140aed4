import CVitrineCurl
package import VitrineRuntime

/// The process-wide parts of libcurl: its set-up, and the engines that must end before the process.
package enum CurlLibrary {
  private struct Engines {
    var running: [(mailbox: CurlMailbox, thread: JoinableThread)] = []
    var isExiting = false
  }

  private static let engines = Lock(Engines())

  /// The reason why libcurl is not available, or `nil` if it is.
  ///
  /// The first access loads and initialises it, which blocks for about 10 ms.
  package static let failure: LibraryFailure? = {
    // OpenSSL's exit handler frees memory of the engines' threads. It runs before the exit handler of `startThread`, which was
    // registered earlier, but calls this function first. Without that 6 of 120 exits under load crashed.
    if let reason = unsafe vitrine_curl_open({ CurlLibrary.stopAll() }) {
      // The text belongs to this thread.
      return unsafe LibraryFailure(String(cString: reason))
    }
    vitrine_curl_global_init(Int(CURL_GLOBAL_DEFAULT))
    return nil
  }()

  /// The version of the library, such as `7.88.1, HTTP/2, OpenSSL/3.0.17`, and a Boolean value that indicates whether it
  /// can use HTTP/2 and TLS; `nil` if it is not available.
  package static var version: (text: String, isComplete: Bool)? {
    // The library's own constants, whose strings end in zeros.
    guard failure == nil, let facts = unsafe vitrine_curl_version_info()?.pointee else { return nil }
    let hasHTTP2 = unsafe facts.features & CURL_VERSION_HTTP2 != 0
    let tls = unsafe facts.ssl_version.map { unsafe String(cString: $0) }
    let text = unsafe "\(String(cString: facts.version)), \(hasHTTP2 ? "" : "no ")HTTP/2, \(tls ?? "no TLS")"
    return (text, hasHTTP2 && tls != nil)
  }

  /// The first access has the engines end before the process, even if it exits while libcurl is being loaded.
  private static let stopsAtExit: Bool = atexit { CurlLibrary.stopAll() } == 0

  /// Starts the thread of an engine.
  ///
  /// - Returns: `false` if the system has no thread to spare, or the process is exiting.
  static func startThread(of mailbox: CurlMailbox, _ body: @escaping @Sendable () -> Void) -> Bool {
    // Ended threads are joined here, so that only the last ones remain.
    let ended = engines.withLock { engines in
      // Each engine is checked once, since it may end in between.
      let start = engines.running.partition { $0.mailbox.hasEnded }
      defer { engines.running.removeSubrange(start...) }
      return Array(engines.running[start...])
    }
    for engine in ended { engine.thread.join() }
    return stopsAtExit
      && engines.withLock { engines in
        // The lock is held while the thread is created, so that none is missed at exit.
        guard !engines.isExiting, let thread = JoinableThread(named: "vitrine-http", body) else { return false }
        engines.running.append((mailbox, thread))
        return true
      }
  }

  /// Blocks until the thread of a stopped engine has ended.
  static func join(_ mailbox: CurlMailbox) {
    let engine = engines.withLock { engines in
      engines.running.firstIndex { $0.mailbox === mailbox }.map { engines.running.remove(at: $0) }
    }
    engine?.thread.join()
  }

  private static func stopAll() {
    let all = engines.withLock { engines in
      defer { engines = Engines(isExiting: true) }
      return engines.running
    }
    for engine in all { engine.mailbox.stop() }
    for engine in all { engine.thread.join() }
  }

  /// The file of trusted certificates.
  ///
  /// Without a file libcurl would use its default folder, and parse all certificates anew for every connection, 60 to
  /// 80 ms each, since its cache works only for a file.
  package static let certificateFile: String? = {
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
