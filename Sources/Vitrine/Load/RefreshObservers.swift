import VitrineRuntime

/// The observers of ``ImagePipeline/refresh(_:)-(ImageRequest)``.
final class RefreshObservers: Sendable {
  /// Receives a function that returns `true` for requests whose source was refreshed; both run on any thread.
  typealias Observer = @Sendable (_ isRefreshed: @escaping @Sendable (ImageRequest) -> Bool) -> Void

  private struct State {
    var observers: [Int: Observer] = [:]
    var nextID = 0
  }

  private let state = Lock(State())

  /// Adds an observer for as long as the returned value lives.
  func add(_ observer: @escaping Observer) -> any Sendable {
    let id = state.withLock { state in
      defer { state.nextID += 1 }
      state.observers[state.nextID] = observer
      return state.nextID
    }
    return Observation(id, self)
  }

  /// Calls all observers, with no lock held.
  func notify(_ isRefreshed: @escaping @Sendable (ImageRequest) -> Bool) {
    for observer in state.withLock({ Array($0.observers.values) }) { observer(isRefreshed) }
  }

  private func remove(_ id: Int) {
    // The observer is released with no lock held.
    let observer = state.withLock { $0.observers.removeValue(forKey: id) }
    withExtendedLifetime(observer) {}
  }

  private final class Observation: Sendable {
    private let id: Int
    private let observers: RefreshObservers

    init(_ id: Int, _ observers: RefreshObservers) { (self.id, self.observers) = (id, observers) }

    deinit { observers.remove(id) }
  }
}
