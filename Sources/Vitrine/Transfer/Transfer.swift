import VitrineHTTP
import VitrineRuntime

/// One load that a job has begun: brings what the job wants of it to the loader, in order and with no lock held.
///
/// The loader is a user's perhaps: it may answer within the call that starts it, block, or call the pipeline.
final class Transfer: Deliverable {
  private struct State {
    var request: HTTPRequest?
    var handle: (any LoadHandle)?
    /// What the loader knows.
    var toldPriority: Priority
    /// What the job wants.
    var priority: Priority
    var isCancelled = false
    var isDelivering = false
  }

  private enum Call {
    case start(HTTPRequest)
    case setPriority(Priority, any LoadHandle)
    case cancel(any LoadHandle)
  }

  private let loader: any DataLoader
  let sink: BodySink
  private let state: Lock<State>

  init(_ request: HTTPRequest, by loader: any DataLoader, into sink: BodySink) {
    (self.loader, self.sink) = (loader, sink)
    state = Lock(State(request: request, toldPriority: request.priority, priority: request.priority))
  }

  /// Takes note of a priority for the loader; within a turn, that is to be followed by a delivery.
  func setPriority(_ priority: Priority, _ turn: inout Turn) {
    state.withLock { $0.priority = priority }
    turn.deliver(self)
  }

  /// Ends the load, or keeps it from beginning.
  func cancel(_ turn: inout Turn) {
    state.withLock { $0.isCancelled = true }
    turn.deliver(self)
  }

  var callsOut: Bool { false }

  func deliver() {
    guard
      state.withLock({ state in
        guard !state.isDelivering else { return false }
        state.isDelivering = true
        return true
      })
    else { return }
    while let call = next() {
      switch call {
      case .start(let request):
        let handle = loader.load(request, into: sink)
        state.withLock { $0.handle = handle }
      case .setPriority(let priority, let handle): handle.priority = priority
      case .cancel(let handle): handle.cancel()
      }
    }
  }

  private func next() -> Call? {
    state.withLock { state in
      if var request = state.request {
        state.request = nil
        // Left before it began.
        guard !state.isCancelled else {
          state.isDelivering = false
          return nil
        }
        (request.priority, state.toldPriority) = (state.priority, state.priority)
        return .start(request)
      }
      if let handle = state.handle {
        if state.isCancelled {
          state.handle = nil
          return .cancel(handle)
        }
        if state.toldPriority != state.priority {
          state.toldPriority = state.priority
          return .setPriority(state.priority, handle)
        }
      }
      state.isDelivering = false
      return nil
    }
  }
}
