import VitrineHTTP
import VitrineRuntime

/// Gathers a body, and says how far it is once somebody wants to know.
final class BodySink: LoadSink, @unchecked Sendable {
  // @unchecked: a loader never makes two calls at once, and what others look at is behind the lock.
  enum Event {
    case progress(completed: Int, total: Int)
    case end(Result<(HTTPResponse, Data), HTTPError>)
  }

  private struct Progress {
    var isWatched = false
    var completed = 0
    /// What the head announced; 0 for nothing.
    var total = 0
    var told = 0
    var feeds: [PreviewFeed] = []

    /// Told some hundred times at most where the length is known, and with every packet only where packets are large.
    var step: Int { max(total / 100, 4 << 10) }
  }

  private let trace: StageTrace?
  private let tell: @Sendable (Event) -> Void
  private let progress = Lock(Progress())
  private var response: HTTPResponse?
  private var body = Data()

  /// `trace` is told where the load is, `tell` what comes of it.
  init(_ trace: StageTrace?, _ tell: @escaping @Sendable (Event) -> Void) {
    (self.trace, self.tell) = (trace, tell)
  }

  /// Asks for progress from now on, and returns that so far, if there is any.
  @discardableResult
  func watch() -> (completed: Int, total: Int)? {
    progress.withLock { progress in
      progress.isWatched = true
      progress.told = progress.completed
      return progress.completed > 0 ? (progress.completed, progress.total) : nil
    }
  }

  /// Lets somebody look at the body from the next bytes on.
  func add(_ feed: PreviewFeed) { progress.withLock { $0.feeds.append(feed) } }

  func begin() { trace?.enter("request") }

  func receive(_ response: HTTPResponse) -> LoadFlow {
    trace?.enter("body")
    self.response = response
    let total = response.contentLength ?? 0
    progress.withLock { $0.total = total }
    // A server may announce what it likes; what comes is counted.
    body.reserveCapacity(min(total, 16 << 20))
    return .proceed
  }

  func receive(_ bytes: RawSpan) -> LoadFlow {
    // The pointer is used within the closure only.
    unsafe bytes.withUnsafeBytes { unsafe body.append(contentsOf: $0) }
    let count = body.count
    let (event, feeds, total) = progress.withLock { progress -> (Event?, [PreviewFeed], Int) in
      progress.completed = count
      let isLast = count == progress.total
      guard progress.isWatched, isLast || count - progress.told >= progress.step else {
        return (nil, progress.feeds, progress.total)
      }
      progress.told = count
      return (.progress(completed: count, total: progress.total), progress.feeds, progress.total)
    }
    if let event { tell(event) }
    // What comes with an error is no image.
    guard !feeds.isEmpty, response?.isSuccess == true else { return .proceed }
    for feed in feeds { feed.follow(body, total: total) }
    return .proceed
  }

  func finish(_ error: HTTPError?) {
    if let error {
      tell(.end(.failure(error)))
    } else if let response {
      tell(.end(.success((response, body))))
    } else {
      tell(.end(.failure(HTTPError(.protocolError, url: "", "the loader delivered no response"))))
    }
  }
}
