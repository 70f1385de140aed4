import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// One load by a loader, which receives the calls in order and with no lock held.
///
/// The loader may be the program's: it may finish within `load`, block, or call the pipeline.
final class Transfer: WorkDependency {
  private struct State: WrappingState {
    /// The request, until it has been handed over; boxed, since many loads wait long after that.
    var request: Box<HTTPRequest>?
    var wrapped: WrappedHandle
  }

  private let loader: any DataLoader
  let sink: BodySink
  private let state: Lock<State>

  init(_ request: HTTPRequest, by loader: any DataLoader, into sink: BodySink) {
    (self.loader, self.sink) = (loader, sink)
    state = Lock(State(request: Box(request), wrapped: WrappedHandle(request.priority)))
  }

  var progress: WorkProgress? { sink.known }

  /// Sets the priority and the interest, and begins the load if it has not begun; `nil` cancels it or prevents its start.
  func setDemand(_ demand: WorkDemand?) {
    guard let demand else {
      let (request, handle) = state.change { state in
        state.wrapped.cancel()
        return (state.request.take(), state.wrapped.detach())
      }
      withExtendedLifetime((request, handle)) {}
      return sink.abandon()
    }
    sink.watch(demand.interest)
    let request = state.change { state in
      if state.wrapped.priority != demand.priority { state.wrapped.reprioritize(demand.priority) }
      return state.request.take()
    }
    guard var request = request?.value else { return }
    request.priority = demand.priority
    let handle = loader.load(request, into: sink)
    state.change { state in
      state.wrapped.attach(handle, startedWith: demand.priority)
      if state.wrapped.isCancelled { _ = state.wrapped.detach() }
    }
  }
}

/// A sink that collects a body, and reports progress if it is watched.
final class BodySink: LoadSink, @unchecked Sendable {
  // @unchecked: a loader never makes two calls at once, and state that other threads read is behind the lock.
  enum Event {
    case progress(completed: Int, total: Int)
    /// The body so far.
    case arriving(Data, Head)
    case end(End)
    /// The body is wanted no more.
    case abandoned
  }

  enum End: Sendable {
    case body(Body)
    case error(HTTPError)
    /// The server does not resume the earlier download.
    case startOver
  }

  /// A whole body.
  struct Body: Sendable {
    let head: Head
    let data: Data
    /// The checksum of the bytes, computed during the transfer.
    let contentID: ContentID
    /// The part of the body that is on disk already.
    let recording: BodyRecording?

    var response: HTTPResponse { head.response }
  }

  /// The properties of a body that its response head gives.
  struct Head: Sendable {
    /// The number of the body; one load may receive several.
    let number: Int
    let response: HTTPResponse
    /// The earlier download that it continues; `nil` for a whole body.
    let resumption: Resumption?
    /// The number of bytes of the whole body; 0 if unknown.
    let total: Int
    /// The response to be stored with the whole body.
    let stored: StoredResponse

    /// The metadata of a partial download of this body.
    var partial: PartialHead {
      if let resumption { return PartialHead(total: resumption.total, stored: resumption.stored) }
      return PartialHead(total: response.contentLength, stored: stored)
    }
  }

  private struct Progress {
    var interest = WorkDemand.Interest.none
    var completed = 0
    /// The announced number of bytes; 0 if there is none.
    var total = 0
    var told = 0

    /// The minimum progress between reports: about a hundred reports for a known length, and none for small packets.
    var step: Int { max(total / 100, 4 << 10) }
  }

  /// The handling of a body.
  struct Plan {
    /// The header fields of the request, and the time at which it was sent.
    let fields: HTTPFields
    let requested: Date
    let clock: any TimeSource
    /// The writes for which ``PipelineCache/flush()`` waits, such as the write of an interrupted body.
    let pending: PendingWrites
    var hooks = LoadHooks()
    /// The maximum number of bytes, including the bytes of ``resumption``.
    var limit = Int.max
    /// The earlier download to resume.
    var resumption: Resumption?
    /// The closure that starts a recording after the head, if the body is worth a recording.
    var record: (@Sendable (Head) -> BodyRecording?)?

    /// Returns the response to be stored with the whole body, whose head has just arrived.
    fileprivate func stored(_ response: HTTPResponse, after resumption: Resumption?) -> StoredResponse {
      let now = clock.now
      // A partial response renews the stored head as a 304 would (RFC 9111, section 3.4).
      return resumption?.stored.renewed(by: response, requested: requested, received: now)
        ?? StoredResponse(response, to: fields, requested: requested, received: now)
    }
  }

  /// The state of a body whose head has arrived; it is separate, since many loads wait long for their head.
  private final class Arrival {
    let head: Head
    var hash: ContentHash
    let recording: BodyRecording?
    /// The required number of bytes; `nil` if only the loader knows it.
    let wholeCount: Int?

    init(_ head: Head, _ recording: BodyRecording?, wholeCount: Int?) {
      (self.head, self.recording, self.wholeCount) = (head, recording, wholeCount)
      hash = head.resumption?.hash ?? ContentHash()
    }
  }

  private let trace: StageTrace?
  private let plan: Plan
  private let receiver: @Sendable (Event) -> Void
  private let progress = Lock(Progress())
  /// The state since the arrival of the head; `nil` before.
  private var arrival: Arrival?
  private var body = Data()
  private var bodyCount = 0
  private var mustStartOver = false
  /// The error for which the sink refused further bytes.
  private var refusal: HTTPError?

  /// Creates a sink; `trace` records the phases of the load, `tell` receives the events.
  init(_ plan: Plan, _ trace: StageTrace?, _ tell: @escaping @Sendable (Event) -> Void) {
    (self.plan, self.trace, receiver) = (plan, trace, tell)
  }

  /// Sends an event on the loader's thread, for which other loads wait.
  private func tell(_ event: Event) { BorrowedThread.run { receiver(event) } }

  var hooks: LoadHooks { plan.hooks }
  var canStartOver: Bool { true }

  /// The progress so far; 0 of 0 before the first byte.
  var known: WorkProgress {
    progress.withLock { WorkProgress($0.completed, of: $0.completed > 0 ? $0.total : 0) }
  }

  /// Sends the events of an interest from now on, and the progress so far, if there is any.
  func watch(_ interest: WorkDemand.Interest) {
    let known = progress.withLock { progress -> WorkProgress? in
      let isNew = progress.interest == .none && interest > .none
      progress.interest = interest
      guard isNew, progress.completed > 0 else { return nil }
      progress.told = progress.completed
      return WorkProgress(progress.completed, of: progress.total)
    }
    if let known { tell(.progress(completed: known.completed, total: known.total)) }
  }

  /// Tells the receiver that the body is wanted no more, on any thread; the loader may still make calls.
  func abandon() { receiver(.abandoned) }

  func begin() { trace?.enter("request") }

  func receive(_ response: HTTPResponse) -> LoadFlow {
    trace?.enter("body")
    startOver()
    var total = response.contentLength ?? 0
    var resumption: Resumption?
    var wholeCount: Int?
    if let known = plan.resumption, response.status == 206 || response.status == 416 {
      guard response.status == 206, known.isContinued(by: response) else {
        mustStartOver = true
        // Reading the few bytes of an error to their end leaves the connection usable.
        return response.status == 416 && total <= 64 << 10 ? .proceed : .stop
      }
      resumption = known
      // A second head finds the prefix here already.
      if body.isEmpty { body = known.takePrefix() }
      wholeCount = ContentRange(response)?.total ?? known.total
      total = wholeCount ?? 0
    } else {
      body = Data()
    }
    guard total <= plan.limit || !response.isSuccess else {
      return refuse("the response has \(total) bytes", response)
    }
    bodyCount += 1
    let head = Head(
      number: bodyCount,
      response: response,
      resumption: resumption,
      total: total,
      stored: plan.stored(response, after: resumption),
    )
    arrival = Arrival(head, plan.record?(head), wholeCount: wholeCount)
    // A server may announce any number, so it is not trusted.
    body.reserveCapacity(min(total, 16 << 20))
    let event = progress.withLock { progress -> Event? in
      (progress.total, progress.completed) = (total, body.count)
      guard progress.interest > .none, !body.isEmpty else { return nil }
      progress.told = body.count
      return .progress(completed: body.count, total: total)
    }
    if let event { tell(event) }
    return .proceed
  }

  /// Ends a load over the limit, which a custom loader may not enforce.
  private func refuse(_ what: String, _ response: HTTPResponse?) -> LoadFlow {
    let url = response?.url.string ?? ""
    refusal = HTTPError(.tooLarge, url: url, "\(what), more than the limit of \(plan.limit)")
    return .stop
  }

  func receive(_ bytes: RawSpan) -> LoadFlow {
    guard !mustStartOver else { return .proceed }
    guard refusal == nil else { return .stop }
    guard body.count + bytes.byteCount <= plan.limit else {
      return refuse("\(body.count + bytes.byteCount) bytes came", arrival?.head.response)
    }
    // The pointer is used only within the closure.
    unsafe bytes.withUnsafeBytes {
      unsafe body.append(contentsOf: $0)
      unsafe arrival?.hash.append($0)
    }
    let count = body.count
    let (event, interest) = progress.withLock { progress -> (Event?, WorkDemand.Interest) in
      progress.completed = count
      let isLast = count == progress.total
      guard progress.interest > .none, isLast || count - progress.told >= progress.step else {
        return (nil, progress.interest)
      }
      progress.told = count
      return (.progress(completed: count, total: progress.total), progress.interest)
    }
    if let event { tell(event) }
    arrival?.recording?.follow(body)
    // The body of an error is not an image.
    guard interest == .partials, let head = arrival?.head, head.response.isSuccess else { return .proceed }
    tell(.arriving(body, head))
    return .proceed
  }

  func finish(_ error: HTTPError?) {
    var error = refusal ?? error
    // For an error page, the status is enough.
    if error?.code == .tooLarge, let head = arrival?.head, !head.response.isSuccess { error = nil }
    if mustStartOver { return tell(.end(.startOver)) }
    if error == nil, let wholeCount = arrival?.wholeCount, body.count != wholeCount {
      let url = arrival?.head.response.url.string ?? ""
      error = HTTPError(.truncated, url: url, "received \(body.count) of \(wholeCount) bytes")
    }
    if let error {
      leave(after: error)
      tell(.end(.error(error)))
    } else if let arrival {
      let (head, recording) = (arrival.head, arrival.recording)
      tell(.end(.body(Body(head: head, data: body, contentID: arrival.hash.value, recording: recording))))
    } else {
      tell(.end(.error(HTTPError(.protocolError, url: "", "the loader delivered no response"))))
    }
  }

  /// Drops an interrupted body that another will replace, except the bytes that were stored before.
  private func startOver() {
    guard let old = arrival.take() else { return }
    body = Data(body.prefix(old.head.resumption?.count ?? 0))
    if let recording = old.recording { plan.pending.add { await recording.drop() } }
    progress.withLock { ($0.completed, $0.told) = (0, 0) }
  }

  /// Keeps the recording for a later download, if one could use it.
  private func leave(after error: HTTPError) {
    guard let arrival, let recording = arrival.recording else { return }
    let total = progress.withLock { $0.total }
    // A complete body with an error is not a part of a larger one.
    let isPart = total == 0 || body.count < total
    let isOfUse = isPart && error.code != .tooLarge
    plan.pending.add { [body, hash = arrival.hash] in
      if isOfUse { await recording.keep(body, hash) } else { await recording.drop() }
    }
  }
}
