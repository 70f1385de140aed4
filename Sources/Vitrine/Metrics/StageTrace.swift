package import VitrineRuntime

/// Keeps what the stages of all requests of a pipeline went through, as a tree for each request.
///
/// A pipeline without a recorder spends the look at a `nil` on each stage.
package final class TraceRecorder: Sendable {
  private let clock: any TimeSource
  private let began: Duration
  private let recorded = Lock<[StageTrace]>([])

  /// Creates one without requests, whose time begins now.
  package init(clock: any TimeSource = .system) {
    self.clock = clock
    began = clock.uptime
  }

  /// The requests so far, in the order in which they began.
  package var requests: [StageTrace] { recorded.withLock { $0 } }

  func request(_ source: String) -> StageTrace {
    let trace = stage("request", source)
    recorded.withLock { $0.append(trace) }
    return trace
  }

  func stage(_ name: String, _ source: String) -> StageTrace {
    StageTrace(name, source, recorder: self)
  }

  /// Since the recorder was made.
  fileprivate var now: Duration { clock.uptime - began }
}

/// One stage on the way of a request: the phases it went through one after the other, and the stages it waited for.
///
/// Several requests may wait for one stage; the first of them owns it, to the others it is shared.
package final class StageTrace: Sendable {
  /// What a stage did for a while, such as waiting for its turn in a queue.
  package struct Phase: Sendable {
    package let name: String
    package let began: Duration
    package fileprivate(set) var ended: Duration?
  }

  /// A stage that this one waited for.
  package struct Child: Sendable {
    package let stage: StageTrace
    package let since: Duration
    /// Whether the stage was under way for somebody else.
    package let isShared: Bool
  }

  /// What is known about a stage beside its times.
  package enum Fact: Sendable, Hashable, ExpressibleByStringLiteral {
    case text(String)
    case number(Int)
    case flag(Bool)

    package init(stringLiteral text: String) { self = .text(text) }
  }

  /// Everything that changes while the stage goes on.
  package struct Record: Sendable {
    package fileprivate(set) var phases: [Phase] = []
    package fileprivate(set) var children: [Child] = []
    package fileprivate(set) var facts: [String: Fact] = [:]
    package fileprivate(set) var ended: Duration?
    fileprivate var isOwned = false
  }

  package let name: String
  package let source: String
  package let began: Duration
  private let recorder: TraceRecorder
  private let state = Lock(Record())

  fileprivate init(_ name: String, _ source: String, recorder: TraceRecorder, lasting span: Duration = .zero) {
    (self.name, self.source, self.recorder) = (name, source, recorder)
    began = recorder.now - span
  }

  /// The stage as it is now.
  package var record: Record { state.withLock { $0 } }

  /// Begins a phase, which ends the one before.
  package func enter(_ phase: String) {
    let now = recorder.now
    state.withLock { state in
      state.endPhase(now)
      state.phases.append(Phase(name: phase, began: now))
    }
  }

  /// Says something about the stage, in place of what was said under that name.
  package func note(_ name: String, _ fact: Fact) {
    state.withLock { $0.facts[name] = fact }
  }

  /// Ends the stage and its phase; the first end counts.
  package func end() {
    let now = recorder.now
    state.withLock { state in
      guard state.ended == nil else { return }
      state.endPhase(now)
      state.ended = now
    }
  }

  /// Says that this stage waits for another from now on.
  func wait(for stage: StageTrace?) {
    guard let stage else { return }
    let isShared = stage.state.withLock { state in
      defer { state.isOwned = true }
      return state.isOwned
    }
    let child = Child(stage: stage, since: isShared ? recorder.now : stage.began, isShared: isShared)
    state.withLock { $0.children.append(child) }
  }

  /// Adds a stage of this one's own that has just ended.
  ///
  /// - Parameters:
  ///   - name: What it is called.
  ///   - span: How long it took.
  ///   - phases: What it did, one after the other, and when each ended, counted from its beginning.
  /// - Returns: The stage, to say more about.
  package func addStage(
    _ name: String,
    lasting span: Duration,
    phases: [(name: String, end: Duration)],
  ) -> StageTrace {
    let stage = StageTrace(name, source, recorder: recorder, lasting: span)
    stage.state.withLock { state in
      var began = stage.began
      for phase in phases {
        let end = stage.began + phase.end
        state.phases.append(Phase(name: phase.name, began: began, ended: end))
        began = end
      }
      state.ended = stage.began + span
    }
    wait(for: stage)
    return stage
  }

  /// Begins a stage of this one's own.
  package func stage(_ name: String) -> StageTrace {
    let stage = recorder.stage(name, source)
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
  func end(_ error: LoadError) {
    note("error", .text(error.detail))
    end()
  }

  func end(_ response: ImageResponse) {
    note("from", .text(response.origin.rawValue))
    note("stale", .flag(response.isStale))
    note("bytes", .number(response.byteCount))
    note("width", .number(response.image.width))
    note("height", .number(response.image.height))
    if let status = response.status { note("status", .number(status)) }
    end()
  }
}
