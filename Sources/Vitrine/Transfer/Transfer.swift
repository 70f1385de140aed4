import VitrineHTTP
import VitrineRuntime

/// One load by a loader, which receives the calls in order and with no lock held.
///
/// The loader may be the program's: it may finish within `load`, block, or call the pipeline.
final class Transfer: Sendable {
  private struct State {
    /// The request, until it has been handed over.
    var request: HTTPRequest?
    var handle: (any LoadHandle)?
    /// The priority that the loader has received.
    var toldPriority: Priority
    /// The priority that the load requests.
    var priority: Priority
    var isCancelled = false
    var isDelivering = false

    /// Takes the next call that the loader has not received.
    mutating func takeCall() -> Call? {
      if var request = request.take() {
        // The load was cancelled before it began.
        guard !isCancelled else { return nil }
        (request.priority, toldPriority) = (priority, priority)
        return .start(request)
      }
      if isCancelled { return handle.take().map(Call.cancel) }
      guard let handle, toldPriority != priority else { return nil }
      toldPriority = priority
      return .setPriority(priority, handle)
    }
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

  /// Sets the priority, and begins the load if it has not begun.
  func setPriority(_ priority: Priority) {
    state.withLock { $0.priority = priority }
    deliver()
  }

  /// Cancels the load, or prevents its start.
  func cancel() {
    state.withLock { $0.isCancelled = true }
    deliver()
  }

  /// Begins the load, unless it has begun or was cancelled, and passes changes on.
  func deliver() {
    while let call = next() {
      switch call {
      case .start(let request):
        let handle = loader.load(request, into: sink)
        state.withLock { $0.handle = handle }
      case .setPriority(let priority, let handle): handle.priority = priority
      case .cancel(let handle): handle.cancel()
      }
      state.withLock { $0.isDelivering = false }
    }
  }

  /// Takes the next call; only one thread at a time makes calls.
  private func next() -> Call? {
    state.withLock { state in
      guard !state.isDelivering, let call = state.takeCall() else { return nil }
      state.isDelivering = true
      return call
    }
  }
}
