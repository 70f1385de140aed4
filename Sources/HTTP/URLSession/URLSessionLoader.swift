#if canImport(Darwin)
import VitrineRuntime

/// A loader over HTTP/1.1, HTTP/2 and HTTP/3 with the system's URLSession.
///
/// It follows redirects itself, hop by hop, and sends no secrets to another origin. It keeps no cookies unless it has a
/// jar, requests no compression, and stores nothing. Releasing it ends running loads with ``HTTPError/Code/cancelled``.
/// Create one and keep it.
///
/// It differs from `CurlLoader` in these points. URLSession queues by host and has no overall limit. A pause takes
/// effect after the data that it has buffered. Of ``HTTPTimeouts`` it obeys only ``HTTPTimeouts/idle``, which includes
/// connecting, and ``HTTPTimeouts/total``. An ``AddressGuard`` sees only addresses in URLs, and not those that names
/// resolve to.
public final class URLSessionLoader: DataLoader {
  /// The options of a loader.
  public struct Options: Sendable {
    /// The maximum number of concurrent loads from one host.
    ///
    /// Defaults to 6.
    public var connectionLimitPerHost = 6
    /// The default `User-Agent`.
    ///
    /// Defaults to `Vitrine`.
    public var userAgent = "Vitrine"
    /// The cookie jar.
    ///
    /// Defaults to `nil`, which stores and sends no cookies.
    public var cookies: CookieJar?
    /// The guard that checks URLs, including redirects, before each request.
    ///
    /// Defaults to none.
    public var addressGuard: AddressGuard?

    /// Creates the default options.
    public init() {}
  }

  private let session: URLSession
  private let delegate = SessionDelegate()
  private let options: Options

  /// Creates a loader without connections.
  public init(_ options: Options = Options()) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.urlCredentialStorage = nil
    configuration.httpMaximumConnectionsPerHost = max(1, options.connectionLimitPerHost)
    self.options = options
    session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
  }

  deinit {
    session.invalidateAndCancel()
  }

  /// Starts a load, and returns at once.
  @discardableResult
  public func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    let load = SessionLoad(request, sink: sink, session: session, delegate: delegate, options: options)
    load.start()
    return load
  }
}

/// The delegate that forwards the session's calls to their loads.
///
/// URLSession calls its delegate on one serial queue, so a load gets one call at a time.
final class SessionDelegate: NSObject, URLSessionDataDelegate {
  /// The queue for hooks that may block.
  let hookQueue = HookCalls.makeQueue()
  private let loads = Lock([Int: SessionLoad]())

  func add(_ load: SessionLoad, for task: URLSessionTask) {
    loads.withLock { $0[task.taskIdentifier] = load }
  }

  private func load(of task: URLSessionTask) -> SessionLoad? {
    loads.withLock { $0[task.taskIdentifier] }
  }

  func urlSession(
    _ session: URLSession,
    task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void,
  ) {
    // The redirect itself becomes the response, and the load decides whether to follow it.
    completionHandler(nil)
  }

  func urlSession(
    _ session: URLSession,
    dataTask: URLSessionDataTask,
    didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void,
  ) {
    let goesOn = load(of: dataTask)?.receive(response) ?? false
    completionHandler(goesOn ? .allow : .cancel)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    load(of: dataTask)?.receive(data)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
    guard let load = load(of: task), let figures = metrics.transactionMetrics.last else { return }
    load.measure(figures, received: Int(task.countOfBytesReceived))
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let load = loads.withLock { $0.removeValue(forKey: task.taskIdentifier) }
    load?.complete(error)
  }
}
#endif
