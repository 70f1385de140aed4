import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// Gathers a body, and says how far it is once somebody wants to know.
final class BodySink: LoadSink, @unchecked Sendable {
  // @unchecked: a loader never makes two calls at once, and what others look at is behind the lock.
  enum Event {
    case progress(completed: Int, total: Int)
    case end(Result<Body, HTTPError>)
    /// The server does not go on from where an earlier download has ended.
    case startOver
  }

  /// A whole body.
  struct Body {
    let head: Head
    let data: Data
    /// The checksum of the bytes, made while they came.
    let contentID: ContentID
    /// What the disk has of it already.
    let recording: BodyRecording?

    var response: HTTPResponse { head.response }
  }

  /// What is known of a body from its beginning on.
  struct Head: Sendable {
    let response: HTTPResponse
    /// What it began with, if it does not come whole.
    let resumption: Resumption?
    /// How many bytes it will have; 0 where nobody knows.
    let total: Int
    /// What would be stored with the whole body.
    let stored: StoredResponse

    /// What would be kept beside its beginning.
    var partial: PartialHead {
      if let resumption { return PartialHead(total: resumption.total, stored: resumption.stored) }
      return PartialHead(total: response.contentLength, stored: stored)
    }
  }

  private struct Progress {
    var isWatched = false
    var completed = 0
    /// What the head announced; 0 for nothing.
    var total = 0
    var told = 0
    var feeds: [ArrivalFeed] = []

    /// Told some hundred times at most where the length is known, and with every packet only where packets are large.
    var step: Int { max(total / 100, 4 << 10) }
  }

  /// What becomes of a body on the way.
  struct Plan {
    /// The header fields of the request, and when it was sent.
    let fields: HTTPFields
    let requested: Date
    let clock: any TimeSource
    /// Has ``PipelineCache/flush()`` wait for what is kept of a body that breaks off.
    let pending: PendingWrites
    var hooks = LoadHooks()
    /// The maximum number of bytes, those of ``resumption`` included.
    var limit = Int.max
    /// What is there of it.
    var resumption: Resumption?
    /// Takes it down from its head on, if it is worth that.
    var record: (@Sendable (Head) -> BodyRecording?)?

    /// What would be stored with the whole body; its head has just come.
    fileprivate func stored(_ response: HTTPResponse, after resumption: Resumption?) -> StoredResponse {
      let now = clock.now
      // A part says of the whole what a 304 would (RFC 9111, section 3.4).
      return resumption?.stored.renewed(by: response, requested: requested, received: now)
        ?? StoredResponse(response, to: fields, requested: requested, received: now)
    }
  }

  let hooks: LoadHooks
  private let trace: StageTrace?
  private let plan: Plan
  private let tell: @Sendable (Event) -> Void
  private let progress = Lock(Progress())
  private var head: Head?
  private var body = Data()
  private var hash = ContentHash()
  private var recording: BodyRecording?
  /// How many bytes the body must have; `nil` where the loader knows better.
  private var wholeCount: Int?
  private var mustStartOver = false
  /// Why no more is taken.
  private var refusal: HTTPError?

  /// `trace` is told where the load is, `tell` what comes of it.
  init(_ plan: Plan, _ trace: StageTrace?, _ tell: @escaping @Sendable (Event) -> Void) {
    (self.plan, self.trace, self.tell) = (plan, trace, tell)
    hooks = plan.hooks
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
  func add(_ feed: ArrivalFeed) { progress.withLock { $0.feeds.append(feed) } }

  func begin() { trace?.enter("request") }

  func receive(_ response: HTTPResponse) -> LoadFlow {
    trace?.enter("body")
    var total = response.contentLength ?? 0
    var resumption: Resumption?
    if let known = plan.resumption, response.status == 206 || response.status == 416 {
      guard response.status == 206, known.isContinued(by: response) else {
        mustStartOver = true
        // A few bytes that say why are read to their end, which leaves the connection usable.
        return response.status == 416 && total <= 64 << 10 ? .proceed : .stop
      }
      resumption = known
      body = known.takePrefix()
      wholeCount = ContentRange(response)?.total ?? known.total
      total = wholeCount ?? 0
    }
    guard total <= plan.limit || !response.isSuccess else {
      return refuse("the response has \(total) bytes", response)
    }
    let head = Head(
      response: response,
      resumption: resumption,
      total: total,
      stored: plan.stored(response, after: resumption),
    )
    self.head = head
    hash = resumption?.hash ?? ContentHash()
    recording = plan.record?(head)
    // A server may announce what it likes; what comes is counted.
    body.reserveCapacity(min(total, 16 << 20))
    let event = progress.withLock { progress -> Event? in
      (progress.total, progress.completed) = (total, body.count)
      guard progress.isWatched, !body.isEmpty else { return nil }
      progress.told = body.count
      return .progress(completed: body.count, total: total)
    }
    if let event { tell(event) }
    return .proceed
  }

  /// Ends a load of more bytes than may come: a loader of a user's need not count.
  private func refuse(_ what: String, _ response: HTTPResponse?) -> LoadFlow {
    let url = response?.url.string ?? ""
    refusal = HTTPError(.tooLarge, url: url, "\(what), more than the limit of \(plan.limit)")
    return .stop
  }

  func receive(_ bytes: RawSpan) -> LoadFlow {
    guard !mustStartOver else { return .proceed }
    guard refusal == nil else { return .stop }
    guard body.count + bytes.byteCount <= plan.limit else {
      return refuse("\(body.count + bytes.byteCount) bytes came", head?.response)
    }
    // The pointer is used within the closure only.
    unsafe bytes.withUnsafeBytes {
      unsafe body.append(contentsOf: $0)
      unsafe hash.append($0)
    }
    let count = body.count
    let (event, feeds) = progress.withLock { progress -> (Event?, [ArrivalFeed]) in
      progress.completed = count
      let isLast = count == progress.total
      guard progress.isWatched, isLast || count - progress.told >= progress.step else {
        return (nil, progress.feeds)
      }
      progress.told = count
      return (.progress(completed: count, total: progress.total), progress.feeds)
    }
    if let event { tell(event) }
    recording?.follow(body)
    // What comes with an error is no image.
    guard !feeds.isEmpty, let head, head.response.isSuccess else { return .proceed }
    for feed in feeds { feed.follow(body, of: head) }
    return .proceed
  }

  func finish(_ error: HTTPError?) {
    var error = refusal ?? error
    // What comes with a failure is not wanted, and its status is.
    if error?.code == .tooLarge, let head, !head.response.isSuccess { error = nil }
    if mustStartOver { return tell(.startOver) }
    if error == nil, let wholeCount, body.count != wholeCount {
      let url = head?.response.url.string ?? ""
      error = HTTPError(.truncated, url: url, "\(body.count) bytes came of \(wholeCount)")
    }
    if let error {
      leave(after: error)
      tell(.end(.failure(error)))
    } else if let head {
      tell(.end(.success(Body(head: head, data: body, contentID: hash.value, recording: recording))))
    } else {
      tell(.end(.failure(HTTPError(.protocolError, url: "", "the loader delivered no response"))))
    }
  }

  /// Leaves what has come for a later download, unless that could not use it.
  private func leave(after error: HTTPError) {
    guard let recording else { return }
    let total = progress.withLock { $0.total }
    // All of it there, and yet an error: whatever it is, it is no part of something larger.
    let isPart = total == 0 || body.count < total
    let isOfUse = isPart && error.code != .tooLarge
    plan.pending.add { [body] in
      if isOfUse { await recording.keep(body) } else { await recording.drop() }
    }
  }
}
