import VitrineRuntime

/// The stages of a load: its own, and below it the current one.
final class StageSequence: Sendable {
  private struct State {
    var own: StageTrace?
    var current: StageTrace?
  }

  private let recorder: StageRecorder
  private let source: String
  private let identify: @Sendable (StageTrace) -> Void
  private let state = Lock(State())

  init(_ recorder: StageRecorder, _ source: String, identify: @escaping @Sendable (StageTrace) -> Void) {
    (self.recorder, self.source, self.identify) = (recorder, source, identify)
  }

  var current: StageTrace? { state.withLock { $0.current } }

  /// Begins the next stage: the load's own, or one below it.
  func enter(_ kind: StageKind) {
    let (own, current) = state.withLock { ($0.own, $0.current) }
    guard let own else {
      let first = recorder.stage(kind, source, at: recorder.now)
      state.withLock { ($0.own, $0.current) = (first, first) }
      return identify(first)
    }
    if current === own { own.enter("wait") } else { current?.end() }
    let next = own.stage(kind)
    state.withLock { $0.current = next }
  }

  func end() {
    let (own, current) = state.withLock { ($0.own, $0.current) }
    if current !== own { current?.end() }
    own?.end()
  }

  func fail(_ error: LoadError, isAbandoned: Bool) {
    let (own, current) = state.withLock { ($0.own, $0.current) }
    if current !== own { current?.fail(error, isAbandoned: isAbandoned) }
    own?.fail(error, isAbandoned: isAbandoned)
  }
}

extension StageTrace {
  /// Ends the stage with an error.
  func fail(_ error: LoadError, isAbandoned: Bool) {
    note("error", .text(isAbandoned ? "no subscribers left" : "\(error)"))
    end()
  }
}
