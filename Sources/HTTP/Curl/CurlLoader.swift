#if canImport(CVitrineCurl)
import VitrineRuntime

/// Loads over HTTP/1.1 and HTTP/2 with libcurl, on one thread of its own.
///
/// It follows redirects itself, hop by hop, without taking secrets to another origin; keeps no cookies, asks
/// for no compression, and stores nothing. Releasing it ends what runs with ``HTTPError/Code/cancelled``, and
/// waits for nothing. Make one and keep it: connections are reused within it.
public final class CurlLoader: DataLoader {
  /// What can be set; the defaults are those of a program that shows pictures.
  public struct Options: Sendable, Hashable {
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

    /// Creates the defaults.
    public init() {}
  }

  private let engine: CurlEngine

  /// Creates a loader without any connection yet, and starts its thread.
  public init(_ options: Options = Options()) {
    engine = CurlEngine(options)
    engine.start()
  }

  deinit {
    engine.mailbox.stop()
  }

  /// Queues a load, and returns at once.
  @discardableResult
  public func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    let transfer = CurlTransfer(request, sink: sink, mailbox: engine.mailbox)
    if !engine.mailbox.post(.start(transfer)) { transfer.end(transfer.error(.cancelled, "the loader has stopped")) }
    return transfer
  }

  /// Ends all loads and the thread, and blocks until that has happened.
  package func stopAndWait() {
    engine.mailbox.stop()
    CurlLibrary.join(engine.mailbox)
  }
}
#endif
