import VitrineRuntime

/// A loader over HTTP/1.1 and HTTP/2 with libcurl, on its own thread.
///
/// It follows redirects itself, hop by hop, and sends no secrets to another origin. It keeps no cookies unless it has a
/// jar, requests no compression, and stores nothing. Releasing it ends running loads with ``HTTPError/Code/cancelled``,
/// without waiting. Create one and keep it, since connections are reused within it.
public final class CurlLoader: DataLoader {
  /// The options of a loader, with defaults for a program that shows images.
  public struct Options: Sendable {
    /// The maximum number of concurrent loads.
    ///
    /// Defaults to 64. A quarter of it is kept for hosts without a running load and for loads of high priority, so that
    /// slow hosts cannot take every connection.
    public var connectionLimit = 64
    /// The maximum number of concurrent loads from one scheme, host and port.
    ///
    /// Defaults to 6. With HTTP/2, up to 64 loads share one connection instead.
    public var connectionLimitPerHost = 6
    /// The default `User-Agent`.
    ///
    /// Defaults to `Vitrine`.
    public var userAgent = "Vitrine"
    /// The file of trusted certificates in PEM.
    ///
    /// Defaults to `SSL_CERT_FILE`, or else to the system's file.
    public var certificateFile: String?
    /// A Boolean value that indicates whether to obey `http_proxy` and the like in the environment.
    ///
    /// Defaults to `true`.
    public var usesProxiesOfEnvironment = true
    /// The client certificate that authenticates the loader.
    ///
    /// Defaults to none.
    public var clientCertificate: ClientCertificate?
    /// The guard that keeps the loader out of private networks.
    ///
    /// Defaults to none. Set one in servers that load untrusted URLs.
    public var addressGuard: AddressGuard?
    /// The cookie jar.
    ///
    /// Defaults to `nil`, which stores and sends no cookies.
    public var cookies: CookieJar?

    /// Creates the default options.
    public init() {}
  }

  /// A client certificate and its key, in files.
  public struct ClientCertificate: Sendable, Hashable {
    /// The file of the certificate and its chain, in PEM.
    public var file: String
    /// The file of the private key, in PEM.
    ///
    /// Defaults to the certificate's file.
    public var keyFile: String?
    /// The password of the key.
    ///
    /// Defaults to none.
    public var password: String?

    /// Creates a reference to the files.
    ///
    /// They are read when a connection is made, which fails if they are invalid.
    public init(file: String, keyFile: String? = nil, password: String? = nil) {
      self.file = file
      self.keyFile = keyFile
      self.password = password
    }
  }

  private let options: Options
  private let mailbox = CurlMailbox()
  private let hookQueue = WorkQueue.forHooks()
  private let open: @Sendable () -> String?

  /// Creates a loader without connections; does not block.
  ///
  /// The first load starts the loader's thread. In the first loader of a process, that thread then loads libcurl
  /// (`libcurl.so.4`), which takes some milliseconds. If it is missing, every load fails with
  /// ``HTTPError/Code/preparationFailed``.
  public convenience init(_ options: Options = Options()) {
    self.init(options, opening: { CurlLibrary.failure?.description })
  }

  /// Creates a loader with another function that opens libcurl; it returns the reason if it cannot.
  package init(_ options: Options, opening open: @escaping @Sendable () -> String?) {
    (self.options, self.open) = (options, open)
  }

  deinit {
    mailbox.stop()
  }

  /// Queues a load, and returns at once.
  @discardableResult
  public func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    let transfer = CurlTransfer(request, sink: sink, cookies: options.cookies, mailbox, hookQueue)
    if mailbox.begin() { startThread() }
    if !mailbox.post(.start(transfer)) { transfer.refuse() }
    return transfer
  }

  private func startThread() {
    let isStarted = CurlLibrary.startThread(of: mailbox) { [options, mailbox, open] in
      CurlEngine.run(options, mailbox, open)
    }
    if !isStarted { CurlEngine.refuse(mailbox, "the system has no thread to spare") }
  }

  /// Returns a Boolean value that indicates whether the guard equals ``Options/addressGuard``.
  public func obeys(_ addressGuard: AddressGuard) -> Bool { addressGuard == options.addressGuard }

  /// Ends all loads and the thread, and blocks until they have ended.
  package func stopAndWait() {
    mailbox.stop()
    CurlLibrary.join(mailbox)
  }
}
