#if canImport(Darwin)
import VitrineRuntime

/// Loads over HTTP/1.1, HTTP/2 and HTTP/3 with the system's URLSession.
///
/// It follows redirects itself, hop by hop, without taking secrets to another origin; keeps no cookies unless given a jar, asks for
/// no compression, and stores nothing. Releasing it ends what runs with ``HTTPError/Code/cancelled``. Make one and keep it.
///
/// What differs from `CurlLoader`: URLSession queues by host and knows no limit for all; a pause takes effect after what it has
/// buffered; of ``HTTPTimeouts`` only ``HTTPTimeouts/idle``, which covers connecting as well, and ``HTTPTimeouts/total`` are
/// obeyed; an ``AddressGuard`` sees addresses that are written in URLs only, not what names mean.
public final class URLSessionLoader: DataLoader {
  /// What can be set.
  public struct Options: Sendable {
    /// How many loads of one host run at once; 6 by default.
    public var connectionLimitPerHost = 6
    /// What is sent as `User-Agent` where the request has none; `Vitrine` by default.
    public var userAgent = "Vitrine"
    /// Where cookies are kept; by default nowhere, and none are sent.
    public var cookies: CookieJar?
    /// What checks URLs, redirects included, before they are asked; none by default.
    public var addressGuard: AddressGuard?

    /// Creates the defaults.
    public init() {}
  }

  private let session: URLSession
  private let delegate = SessionDelegate()
  private let options: Options

  /// Creates a loader without any connection yet.
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

/// Leads the session's calls to the loads that they concern.
///
/// URLSession calls its delegate on one serial queue, so that a load gets one call at a time.
final class SessionDelegate: NSObject, URLSessionDataDelegate {
  /// Where hooks run that might block.
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
    // The redirect itself becomes the response, and the load decides.
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
