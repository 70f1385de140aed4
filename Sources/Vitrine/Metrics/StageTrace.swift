package import VitrineRuntime

/// Keeps what all requests of a pipeline went through; for the tool, whose requests are few.
package final class TraceRecorder: Sendable {
  private let began: Duration
  private let recorded = Lock<[StageTrace]>([])

  /// Creates one without requests, whose time begins now by the pipeline's clock.
  package init(clock: any TimeSource = .system) { began = clock.uptime }

  /// The requests so far, in the order in which they began.
  package var requests: [StageTrace] { recorded.withLock { $0 } }

  /// All requests as Chrome's trace events; see ``RequestMetrics/chromeTrace(of:)``.
  package var chromeTrace: Data { RequestMetrics.chromeTrace(of: requests.map(\.metrics), since: began) }

  func append(_ request: StageTrace) { recorded.withLock { $0.append(request) } }
}

/// Makes the traces of a pipeline's stages, and keeps none of them.
///
/// A pipeline that records nothing has none, and spends the look at a `nil` on each stage.
final class StageRecorder: Sendable {
  private let clock: any TimeSource
  private let kept: TraceRecorder?
  let feed: EventFeed?
  private let lastID = Lock(0)

  /// `nil` where nobody wants to know anything.
  init?(_ configuration: ImagePipeline.Configuration) {
    kept = configuration.recorder
    feed = EventFeed(configuration)
    clock = configuration.clock
    guard kept != nil || feed != nil || configuration.collectsMetrics else { return nil }
  }

  var now: Duration { clock.uptime }

  /// Begins a request; whatever it waits for is part of it.
  func request(
    _ request: ImageRequest,
    for purpose: StageTrace.Purpose = .image,
    at time: Duration? = nil,
  ) -> StageTrace {
    let trace = stage(.request, request.name, at: time ?? now)
    kept?.append(trace)
    trace.beginRequest(request, for: purpose)
    return trace
  }

  /// Begins a stage of no request, at a known time.
  func stage(_ kind: StageKind, _ source: String, at time: Duration) -> StageTrace {
    let id = lastID.withLock { last in
      last += 1
      return last
    }
    return StageTrace(id, kind, source, recorder: self, at: time)
  }
}

/// One stage on the way of a request: the phases it went through one after the other, and the stages it waited for.
///
/// Several requests may wait for one stage; the first of them owns it, to the others it is shared.
package final class StageTrace: Sendable {
  package typealias Phase = RequestMetrics.Phase
  package typealias Fact = RequestMetrics.Fact

  /// What a request is made for.
  enum Purpose: String, Sendable {
    case image, data, revalidation
  }

  /// A stage that this one waited for.
  package struct Child: Sendable {
    package let stage: StageTrace
    package let since: Duration
    /// Whether the stage was under way for somebody else.
    package let isShared: Bool
  }

  /// Everything that changes while the stage goes on.
  package struct Record: Sendable {
    package fileprivate(set) var phases: [Phase] = []
    package fileprivate(set) var children: [Child] = []
    package fileprivate(set) var facts: [String: Fact] = [:]
    package fileprivate(set) var ended: Duration?
    fileprivate var lastTime: Duration?
    fileprivate var isOwned = false
    /// The request whose observers are told of the stage; `nil` where nobody is.
    fileprivate var request: Int?
  }

  let id: Int
  package let kind: StageKind
  package let source: String
  package let began: Duration
  let recorder: StageRecorder
  private let state = Lock(Record())

  fileprivate init(_ id: Int, _ kind: StageKind, _ source: String, recorder: StageRecorder, at time: Duration) {
    (self.id, self.kind, self.source, self.recorder, began) = (id, kind, source, recorder, time)
  }

  package var name: String { kind.rawValue }

  /// The stage as it is now.
  package var record: Record { state.withLock { $0 } }

  /// The request as it is now, as a value; to be asked of the trace of a request.
  package var metrics: RequestMetrics { RequestMetrics(root: stage(since: began, isShared: false)) }

  private func stage(since: Duration, isShared: Bool) -> RequestMetrics.Stage {
    let record = record
    return RequestMetrics.Stage(
      id: id,
      kind: kind,
      source: source,
      began: began,
      ended: record.ended,
      since: since,
      isShared: isShared,
      phases: record.phases,
      facts: record.facts,
      stages: record.children.map { $0.stage.stage(since: $0.since, isShared: $0.isShared) },
    )
  }

  /// Begins a phase, which ends the one before.
  package func enter(_ phase: String) { enter(phase, at: recorder.now) }

  /// Begins a phase that began at a known time.
  package func enter(_ phase: String, at time: Duration) {
    change(at: time) { state, time in
      state.endPhase(time)
      // Most stages have no more than these.
      if state.phases.isEmpty { state.phases.reserveCapacity(4) }
      state.phases.append(Phase(name: phase, began: time))
      return .phaseBegan(phase)
    }
  }

  /// Says something about the stage, in place of what was said under that name.
  package func note(_ name: String, _ fact: Fact) { note(name, fact, at: recorder.now) }

  /// The same, at a known time.
  package func note(_ name: String, _ fact: Fact, at time: Duration) {
    change(at: time) { state, _ in
      state.facts[name] = fact
      return .noted(name)
    }
  }

  /// Ends the stage and its phase; the first end counts.
  package func end() { end(at: recorder.now) }

  /// The same, at a known time.
  package func end(at time: Duration) { end([:], .stageEnded, at: time) }

  fileprivate func end(_ facts: [String: Fact], _ what: EventFeed.What, at time: Duration) {
    change(at: time) { state, time in
      state.facts.merge(facts) { _, new in new }
      state.endPhase(time)
      state.ended = time
      return what
    }
  }

  /// After the end nothing changes any more: work that nobody waits for may still run into its next phase.
  private func change(at time: Duration, _ change: (inout Record, Duration) -> EventFeed.What) {
    state.withLock { state in
      guard state.ended == nil else { return }
      // A turn has the time of its beginning, and may have waited for another one.
      let time = max(time, state.lastTime ?? began)
      state.lastTime = time
      tell(change(&state, time), state, at: time)
    }
  }

  // Within the lock, so that what is told of a stage is in order.
  private func tell(_ what: EventFeed.What, _ state: Record, at time: Duration) {
    guard let feed = recorder.feed, let request = state.request else { return }
    feed.post(
      PipelineEvent(request: request, stage: id, kind: kind, source: source, time: time, facts: state.facts),
      what,
    )
  }

  /// Says that this stage waits for another from now on.
  func wait(for stage: StageTrace?) {
    guard let stage else { return }
    let request = state.withLock { $0.request }
    let isShared = stage.join(request)
    // Whoever joins what is under way has done something at about this time.
    state.withLock { state in
      let now = max(state.lastTime ?? began, stage.began)
      state.children.append(Child(stage: stage, since: isShared ? now : stage.began, isShared: isShared))
    }
  }

  /// - Returns: Whether the stage belongs to somebody else.
  private func join(_ request: Int?) -> Bool {
    state.withLock { state in
      guard state.isOwned else {
        (state.isOwned, state.request) = (true, request)
        tell(.stageBegan, state, at: began)
        return false
      }
      if let request { tell(.stageJoined(by: request), state, at: state.lastTime ?? began) }
      return true
    }
  }

  fileprivate func beginRequest(_ request: ImageRequest, for purpose: Purpose) {
    state.withLock { state in
      state.isOwned = true
      if purpose != .image { state.facts["purpose"] = .text(purpose.rawValue) }
      guard let feed = recorder.feed, feed.begins() else { return }
      state.request = id
      tell(.requestBegan(request), state, at: began)
    }
  }

  /// Adds a stage of this one's own that has just ended.
  ///
  /// - Parameters:
  ///   - kind: What it did.
  ///   - span: How long it took.
  ///   - phases: What it did, one after the other, and when each ended, counted from its beginning.
  ///   - facts: What else is known about it.
  func addStage(
    _ kind: StageKind,
    lasting span: Duration,
    phases: [(name: String, end: Duration)],
    facts: [String: Fact],
  ) {
    let stage = recorder.stage(kind, source, at: recorder.now - span)
    wait(for: stage)
    var began = stage.began
    for phase in phases {
      stage.enter(phase.name, at: began)
      began = stage.began + phase.end
    }
    stage.end(facts, .stageEnded, at: stage.began + span)
  }

  /// Begins a stage of this one's own.
  package func stage(_ kind: StageKind) -> StageTrace { stage(kind, at: recorder.now) }

  /// The same, at a known time.
  func stage(_ kind: StageKind, at time: Duration) -> StageTrace {
    let stage = recorder.stage(kind, source, at: time)
    wait(for: stage)
    return stage
  }
}

extension StageTrace.Record {
  fileprivate mutating func endPhase(_ now: Duration) {
    guard !phases.isEmpty else { return }
    phases[phases.count - 1].ended = phases[phases.count - 1].ended ?? now
  }
}

// MARK: - What the pipeline says

extension StageTrace {
  func end(_ error: LoadError, at time: Duration? = nil) {
    end(["error": .text(error.detail)], .requestEnded(.failure(error)), at: time ?? recorder.now)
  }

  func end(_ response: ImageResponse, at time: Duration? = nil) {
    var facts: [String: Fact] = [
      "from": .text(response.origin.rawValue), "stale": .flag(response.isStale), "bytes": .number(response.byteCount),
      "width": .number(response.image.width), "height": .number(response.image.height),
    ]
    facts["status"] = response.status.map(Fact.number)
    end(facts, .requestEnded(.image(response)), at: time ?? recorder.now)
  }

  func end(_ bytes: FetchedBytes, at time: Duration? = nil) {
    var facts: [String: Fact] = [
      "from": .text(bytes.origin.rawValue), "stale": .flag(bytes.isStale), "bytes": .number(bytes.data.count),
    ]
    facts["status"] = bytes.status.map(Fact.number)
    end(facts, .requestEnded(.data(byteCount: bytes.data.count)), at: time ?? recorder.now)
  }

  func end(_ result: Result<ImageResponse, LoadError>, at time: Duration? = nil) {
    switch result {
    case .success(let response): end(response, at: time)
    case .failure(let error): end(error, at: time)
    }
  }

  /// Ends with what a load of bytes came to, if that is it.
  func end(_ event: JobEvent<FetchedBytes>, at time: Duration? = nil) {
    guard case .finished(let result) = event else { return }
    switch result {
    case .success(let bytes): end(bytes, at: time)
    case .failure(let error): end(error, at: time)
    }
  }
}
