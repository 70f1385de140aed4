package import VitrineRuntime

/// A record of all requests of a pipeline, for the command-line tool, whose requests are few.
package final class TraceRecorder: Sendable {
  private let began: Duration
  private let recorded = Lock<[StageTrace]>([])

  /// Creates an empty recorder; its times are relative to now.
  package init(clock: any TimeSource = .system) { began = clock.uptime }

  /// The requests so far, in the order in which they began.
  package var requests: [RequestMetrics] { recorded.withLock { $0 }.map(\.metrics) }

  /// All requests in Chrome's trace event format; see ``RequestMetrics/chromeTrace(of:)``.
  package var chromeTrace: Data { RequestMetrics.chromeTrace(of: requests, since: began) }

  func append(_ request: StageTrace) { recorded.withLock { $0.append(request) } }
}

/// A factory for the traces of a pipeline's stages, which keeps none of them.
///
/// A pipeline without metrics or observers has no recorder, and pays only for a `nil` check at each stage.
final class StageRecorder: Sendable {
  /// The purpose of a request.
  enum Purpose: String {
    case image, data, encoded, revalidation
  }

  private let clock: any TimeSource
  private let kept: TraceRecorder?
  let feed: EventFeed?
  private let lastID = Lock(0)

  /// Creates a recorder, which `kept` and `feed` learn from.
  init(_ kept: TraceRecorder?, _ feed: EventFeed?, clock: any TimeSource) {
    (self.kept, self.feed, self.clock) = (kept, feed, clock)
  }

  var now: Duration { clock.uptime }

  /// Begins a request; the stages that it waits for belong to it.
  func request(_ request: ImageRequest, for purpose: Purpose = .image, at time: Duration? = nil) -> StageTrace {
    let trace = stage(.request, request.name, at: time ?? now)
    kept?.append(trace)
    trace.beginRequest(request, for: purpose)
    return trace
  }

  /// Begins a stage that belongs to no request yet, at a known time.
  func stage(_ kind: StageKind, _ source: String, at time: Duration) -> StageTrace {
    let id = lastID.withLock { last in
      last += 1
      return last
    }
    return StageTrace(RequestMetrics.Stage(id: id, kind: kind, source: source, began: time, since: time), self)
  }
}

/// A stage of a request: its phases in order, and the stages that it waited for.
///
/// Several requests may wait for one stage; the first owns it, the others share it. An event without a time happens
/// now.
package final class StageTrace: Sendable {
  package typealias Fact = RequestMetrics.Fact

  private struct State {
    /// The current state of the stage, without the stages that it waited for.
    var stage: RequestMetrics.Stage
    var waits: [(stage: StageTrace, since: Duration, isShared: Bool)] = []
    var lastTime: Duration
    var isOwned = false
    /// A Boolean value that indicates whether observers are notified of the stage.
    var isObserved = false
  }

  let source: String
  let began: Duration
  let recorder: StageRecorder
  private let state: Lock<State>

  fileprivate init(_ stage: RequestMetrics.Stage, _ recorder: StageRecorder) {
    (source, began, self.recorder) = (stage.source, stage.began, recorder)
    state = Lock(State(stage: stage, lastTime: stage.began))
  }

  /// The current metrics; meaningful for the trace of a request only.
  var metrics: RequestMetrics { RequestMetrics(root: stage(since: began, isShared: false)) }

  private func stage(since: Duration, isShared: Bool) -> RequestMetrics.Stage {
    let state = state.withLock { $0 }
    var stage = state.stage
    (stage.since, stage.isShared) = (since, isShared)
    stage.stages = state.waits.map { $0.stage.stage(since: $0.since, isShared: $0.isShared) }
    return stage
  }

  // MARK: Events of a stage

  /// Begins a phase, which ends the previous one.
  package func enter(_ phase: String, at time: Duration? = nil) {
    change(at: time, { .phaseBegan($0) }) { stage, time in
      stage.endPhase(at: time)
      // Most stages have no more than four phases.
      if stage.phases.isEmpty { stage.phases.reserveCapacity(4) }
      stage.phases.append(RequestMetrics.Phase(name: phase, began: time))
    }
  }

  /// Records a fact, which replaces an earlier one with the same name.
  package func note(_ name: String, _ fact: Fact, at time: Duration? = nil) {
    change(at: time, { .noted(name, $0) }) { stage, _ in stage.facts[name] = fact }
  }

  /// Ends the stage and its phase; later calls have no effect.
  package func end(_ facts: [String: Fact] = [:], at time: Duration? = nil) {
    end(facts, at: time) { .stageEnded($0) }
  }

  func end(_ facts: [String: Fact], at time: Duration?, _ event: (RequestMetrics.Stage) -> PipelineEvent) {
    change(at: time, event) { stage, time in
      stage.facts.merge(facts) { _, new in new }
      stage.endPhase(at: time)
      stage.ended = time
    }
  }

  /// Ignores changes after the end: abandoned work may still enter its next phase.
  private func change(
    at time: Duration?,
    _ event: (RequestMetrics.Stage) -> PipelineEvent,
    _ change: (inout RequestMetrics.Stage, Duration) -> Void,
  ) {
    let time = time ?? recorder.now
    state.withLock { state in
      guard state.stage.ended == nil else { return }
      // Two threads may read the clock in another order than they get here.
      let time = max(time, state.lastTime)
      state.lastTime = time
      change(&state.stage, time)
      post(event, state)
    }
  }

  // The caller holds the lock, so that a stage's events are posted in order.
  private func post(_ event: (RequestMetrics.Stage) -> PipelineEvent, _ state: State) {
    guard state.isObserved, let feed = recorder.feed else { return }
    feed.post(event(state.stage))
  }

  // MARK: Awaited stages

  /// Begins a stage that belongs to this one.
  package func stage(_ kind: StageKind, at time: Duration? = nil) -> StageTrace {
    let stage = recorder.stage(kind, source, at: time ?? recorder.now)
    wait(for: stage)
    return stage
  }

  /// Records that this stage waits for another from now on.
  func wait(for stage: StageTrace?) {
    guard let stage else { return }
    let (request, isObserved) = state.withLock { ($0.stage.request, $0.isObserved) }
    let isShared = stage.join(request, isObserved: isObserved)
    // A request that joins a running stage has just recorded a time close to this one.
    state.withLock { state in
      let since = isShared ? max(state.lastTime, stage.began) : stage.began
      state.waits.append((stage, since, isShared))
    }
  }

  /// Joins a request to the stage; the first request owns it.
  ///
  /// - Returns: `true` if the stage belongs to another request.
  private func join(_ request: Int?, isObserved: Bool) -> Bool {
    state.withLock { state in
      guard state.isOwned else {
        (state.isOwned, state.isObserved, state.stage.request) = (true, isObserved, request)
        post({ .stageBegan($0) }, state)
        return false
      }
      if isObserved, let request { post({ .stageJoined($0, by: request) }, state) }
      return true
    }
  }

  // MARK: Requests

  fileprivate func beginRequest(_ request: ImageRequest, for purpose: StageRecorder.Purpose) {
    state.withLock { state in
      (state.isOwned, state.stage.request) = (true, state.stage.id)
      if purpose != .image { state.stage.facts["purpose"] = .text(purpose.rawValue) }
      state.isObserved = recorder.feed?.begins() ?? false
      post({ .requestBegan(request, $0) }, state)
    }
  }

  func end(_ error: LoadError, at time: Duration? = nil) {
    end(["error": .text(error.detail)], at: time) { .requestEnded(.failure(error), $0) }
  }
}

extension RequestMetrics.Stage {
  fileprivate mutating func endPhase(at time: Duration) {
    guard !phases.isEmpty else { return }
    phases[phases.count - 1].ended = phases[phases.count - 1].ended ?? time
  }
}
