#if canImport(CVitrineCurl)
import VitrineRuntime

/// Loads over HTTP/1.1 and HTTP/2 with libcurl, on one thread of its own.
///
/// It follows redirects itself, hop by hop, without taking secrets to another origin; keeps no cookies, asks
/// for no compression, and stores nothing. Releasing it ends what runs with ``HTTPError/Code/cancelled``, and
/// waits for nothing. Make one and keep it: connections are reused within it.
public final class CurlLoader: DataLoader {
  /// What can be set; the defaults are those of a program that shows pictures.
  public struct Options: Sendable {
    /// How many loads run at once; 64 by default.
    public var connectionLimit = 64
    /// How many loads of one scheme, host and port run at once; 6 by default.
    ///
    /// A host that speaks HTTP/2 shares one connection among up to 64 loads instead.
    public var connectionLimitPerHost = 6
    /// What is sent as `User-Agent` where the request has none; `Vitrine` by default.
    public var userAgent = "Vitrine"
    /// The file of certificates in PEM to trust; by default `SSL_CERT_FILE`, or else the system's.
    public var certificateFile: String?
    /// Whether `http_proxy` and the like in the environment are obeyed; true by default.
    public var usesProxiesOfEnvironment = true
    /// The certificate with which the loader tells servers who it is; none by default.
    public var clientCertificate: ClientCertificate?
    /// What keeps the loader out of private networks; none by default.
    ///
    /// Servers that load what strangers name want one.
    public var addressGuard: AddressGuard?
    /// Where cookies are kept; by default nowhere, and none are sent.
    public var cookies: CookieJar?

    /// Creates the defaults.
    public init() {}
  }

  /// A certificate and its key, in files.
  public struct ClientCertificate: Sendable, Hashable {
    /// The file of the certificate, and of those that vouch for it, in PEM.
    public var file: String
    /// The file of its private key, in PEM; by default that of the certificate.
    public var keyFile: String?
    /// The password of the key; none by default.
    public var password: String?

    /// Names the files; they are read when a connection is made, and what is wrong with them is an error then.
    public init(file: String, keyFile: String? = nil, password: String? = nil) {
      self.file = file
      self.keyFile = keyFile
      self.password = password
    }
  }

  private let engine: CurlEngine?
  /// Why there is no engine.
  private let failure: String?
  private let cookies: CookieJar?
  private let addressGuard: AddressGuard?

  /// Creates a loader without any connection yet, and starts its thread.
  ///
  /// The first one of a process opens libcurl (`libcurl.so.4`), which takes some milliseconds. Where there is none, every
  /// load fails with ``HTTPError/Code/preparationFailed``.
  public convenience init(_ options: Options = Options()) {
    self.init(options, failure: CurlLibrary.failure)
  }

  package init(_ options: Options, failure: String?) {
    cookies = options.cookies
    addressGuard = options.addressGuard
    self.failure = failure
    engine = failure == nil ? CurlEngine(options) : nil
    engine?.start()
  }

  deinit {
    engine?.mailbox.stop()
  }

  /// Queues a load, and returns at once.
  @discardableResult
  public func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    guard let engine else {
      let detail = "libcurl cannot be used: \(failure ?? "unknown")"
      sink.finish(HTTPError(.preparationFailed, url: request.url.string, detail))
      return NoLoadHandle()
    }
    let transfer = CurlTransfer(
      request,
      sink: sink,
      cookies: cookies,
      mailbox: engine.mailbox,
      hookQueue: engine.hookQueue,
    )
    if !engine.mailbox.post(.start(transfer)) { transfer.end(transfer.error(.cancelled, "the loader has stopped")) }
    return transfer
  }

  /// Returns whether the guard is the one of ``Options/addressGuard``.
  public func obeys(_ addressGuard: AddressGuard) -> Bool { addressGuard == self.addressGuard }

  /// Ends all loads and the thread, and blocks until that has happened.
  package func stopAndWait() {
    guard let engine else { return }
    engine.mailbox.stop()
    CurlLibrary.join(engine.mailbox)
  }
}
#endif
