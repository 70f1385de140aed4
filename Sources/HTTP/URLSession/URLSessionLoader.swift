import VitrineRuntime

/// A loader over HTTP/1.1, HTTP/2 and HTTP/3 with the system's URLSession.
///
/// It follows redirects itself, hop by hop, and sends no secrets to another origin. It keeps no cookies unless it has a
/// jar, requests no compression, and stores nothing. Releasing it ends running loads with ``HTTPError/Code/cancelled``.
/// Create one and keep it.
///
/// It differs from `CurlLoader` in these points. URLSession queues by host and has no overall limit, so a load has
/// begun when it is passed to URLSession, and any number of hooks run at once. A pause takes effect after the data that
/// it has buffered. The only time-outs are ``HTTPTimeouts/idle``, which includes connecting, and
/// ``HTTPTimeouts/total``. A GET has no body. An ``AddressGuard`` checks the addresses from a look-up before the
/// request, and not the ones that URLSession then finds. URLSession may change `Authorization`, `Connection`,
/// `Content-Length`, `Host` and the fields for proxies, which Apple reserves for it.
public final class URLSessionLoader: DataLoader {
  /// The options of a loader.
  public struct Options: Sendable {
    /// The maximum number of concurrent loads from one host.
    ///
    /// Defaults to 6.
    public var connectionLimitPerHost = 6
    /// A Boolean value that indicates whether the proxies of the system's settings are used.
    ///
    /// Defaults to `true`.
    public var usesProxiesOfEnvironment = true
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
  private let delegate: SessionDelegate

  /// Creates a loader without connections.
  public init(_ options: Options = Options()) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.urlCredentialStorage = nil
    // The session's time-out limits the time-outs of its requests.
    configuration.timeoutIntervalForRequest = 7 * 24 * 3600
    if !options.usesProxiesOfEnvironment { configuration.connectionProxyDictionary = [:] }
    configuration.httpMaximumConnectionsPerHost = max(1, options.connectionLimitPerHost)
    delegate = SessionDelegate(options)
    session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
  }

  deinit {
    let loads = delegate.close()
    session.invalidateAndCancel()
    // Loads that wait for a hook have no task.
    for load in loads { load.cancel() }
  }

  /// Returns `true` if the guard equals the options' guard.
  public func obeys(_ addressGuard: AddressGuard) -> Bool { addressGuard == delegate.options.addressGuard }

  /// Starts a load, and returns at once.
  @discardableResult
  public func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    let load = SessionLoad(request, sink: sink, session: session, delegate: delegate)
    load.start()
    return load
  }
}

/// The delegate that forwards the session's calls to their loads.
///
/// URLSession calls its delegate on one serial queue, so a load gets one call at a time.
final class SessionDelegate: NSObject, URLSessionDataDelegate {
  private struct State {
    /// The loads that have begun and not ended.
    var loads: [ObjectIdentifier: SessionLoad] = [:]
    /// The loads by the identifiers of their tasks.
    var tasks: [Int: SessionLoad] = [:]
    var isClosed = false
  }

  let options: URLSessionLoader.Options
  /// The queue for hooks that may block.
  let hookQueue = WorkQueue.forHooks()
  private let state = Lock(State())

  init(_ options: URLSessionLoader.Options) { self.options = options }

  /// Retains a load until it ends.
  func begin(_ load: SessionLoad) { state.withLock { $0.loads[ObjectIdentifier(load)] = load } }

  func end(_ load: SessionLoad) { _ = state.withLock { $0.loads.removeValue(forKey: ObjectIdentifier(load)) } }

  /// Creates a task, or returns `nil` once the session is invalidated, where a new task raises an exception.
  func makeTask(_ request: URLRequest, in session: URLSession, for load: SessionLoad) -> URLSessionDataTask? {
    state.withLock { state in
      guard !state.isClosed else { return nil }
      // The call runs the system's own code, which makes no callback here.
      let task = session.dataTask(with: request)
      state.tasks[task.taskIdentifier] = load
      return task
    }
  }

  /// Prevents further tasks, and returns the loads that have not ended.
  func close() -> [SessionLoad] {
    state.withLock { state in
      state.isClosed = true
      return Array(state.loads.values)
    }
  }

  private func load(of task: URLSessionTask) -> SessionLoad? {
    state.withLock { $0.tasks[task.taskIdentifier] }
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
    load.measure(figures)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let load = state.withLock { $0.tasks.removeValue(forKey: task.taskIdentifier) }
    load?.complete(error)
  }
}
