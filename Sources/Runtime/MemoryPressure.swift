/// How scarce memory is.
public enum MemoryPressure: Sendable, Hashable, CaseIterable {
  /// Some threads wait for memory, or a limit is near: what can be had again without much work should go.
  case low
  /// The process may be ended next: all that is not in use should go.
  case critical
}

/// Tells when memory is scarce.
public protocol MemoryPressureSource: Sendable {
  /// Has `body` called, on any thread, each time that memory is scarce, for as long as the answer is kept.
  ///
  /// While it stays scarce the call is repeated, at most once a second. `body` must be short.
  func observe(_ body: @escaping @Sendable (MemoryPressure) -> Void) -> MemoryPressureObservation
}

/// Keeps an observation of memory pressure going for as long as it lives.
public final class MemoryPressureObservation: Sendable {
  private let onEnd: @Sendable () -> Void

  /// Creates one, for a source of your own.
  ///
  /// - Parameter onEnd: Ends the observation; called once.
  public init(onEnd: @escaping @Sendable () -> Void) {
    self.onEnd = onEnd
  }

  deinit {
    onEnd()
  }
}

/// Hands on to whoever observes; where each system's source, and one for tests, keep their observers.
package final class MemoryPressureObservers: Sendable {
  private struct State {
    var next = 0
    var bodies: [Int: @Sendable (MemoryPressure) -> Void] = [:]
  }

  private let state = Lock(State())

  package init() {}

  /// How many there are.
  package var count: Int { state.withLock { $0.bodies.count } }

  package func add(_ body: @escaping @Sendable (MemoryPressure) -> Void) -> MemoryPressureObservation {
    let id = state.withLock { state in
      state.next += 1
      state.bodies[state.next] = body
      return state.next
    }
    return MemoryPressureObservation { [weak self] in
      let body = self?.state.withLock { $0.bodies.removeValue(forKey: id) }
      _ = consume body
    }
  }

  package func tell(_ pressure: MemoryPressure) {
    for body in state.withLock({ Array($0.bodies.values) }) { body(pressure) }
  }
}

/// Memory pressure as the system tells it.
///
/// On Linux: stalls (PSI) of the machine and of the process's control group, and events of that group (version 2). Where the
/// system does not allow these, or a group of version 1 has a limit, what is used and left, looked at every 5 seconds.
/// On Apple's systems: their own warnings. One thread watches for the whole process; it starts with the first observer.
public struct SystemMemoryPressure: MemoryPressureSource {
  #if os(Linux)
  private static let watcher = MemoryPressureWatcher()
  #else
  private static let watcher = MemoryPressureWarnings()
  #endif

  /// Creates one; all are the same.
  public init() {}

  /// Has `body` called on the watcher's thread.
  public func observe(_ body: @escaping @Sendable (MemoryPressure) -> Void) -> MemoryPressureObservation {
    Self.watcher.observe(body)
  }
}

extension MemoryPressureSource where Self == SystemMemoryPressure {
  /// Memory pressure as the system tells it.
  public static var system: SystemMemoryPressure { SystemMemoryPressure() }
}
