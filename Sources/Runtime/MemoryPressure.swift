/// The level of memory pressure.
public enum MemoryPressure: Sendable, Hashable, CaseIterable {
  /// Threads wait for memory, or a limit is near. Release data that is cheap to recreate.
  case low
  /// The system may kill the process next. Release all data that is not in use.
  case critical
}

/// A source of memory pressure events.
public protocol MemoryPressureSource: Sendable {
  /// Calls `body`, on any thread, whenever memory is scarce, for the life of the returned observation.
  ///
  /// While memory stays scarce the call is repeated, at most once a second. `body` must be fast.
  func observe(_ body: @escaping @Sendable (MemoryPressure) -> Void) -> MemoryPressureObservation
}

/// An observation of memory pressure.
///
/// It ends when it is released.
public final class MemoryPressureObservation: Sendable {
  private let onEnd: @Sendable () -> Void

  /// Creates an observation, for a custom source.
  ///
  /// - Parameter onEnd: Ends the observation; called once.
  public init(onEnd: @escaping @Sendable () -> Void) {
    self.onEnd = onEnd
  }

  deinit {
    onEnd()
  }
}

/// Forwards memory pressure to observers.
///
/// Each system's source, and the one for tests, keeps its observers here.
package final class MemoryPressureObservers: Sendable {
  private struct State {
    var next = 0
    var bodies: [Int: @Sendable (MemoryPressure) -> Void] = [:]
  }

  private let state = Lock(State())

  package init() {}

  /// The number of observers.
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

/// Memory pressure as reported by the system.
///
/// - Linux: stalls (PSI) of the machine and of the process's control group, and events of that group (version 2). If
///   the system does not allow these, or a group of version 1 has a limit, usage is polled every 5 seconds.
/// - Apple's platforms: the kernel's warnings. With UIKit, its memory warning is critical pressure, and entering the
///   background is low pressure, since the system ends large background apps first.
///
/// On Linux one thread watches for the whole process. It starts with the first observer. With
/// `VITRINE_MEMORY_PRESSURE=ignore` in the environment it reports nothing, so that tests and measurements do not depend
/// on other processes.
public struct SystemMemoryPressure: MemoryPressureSource {
  #if VITRINE_APPLE
  private static let watcher = MemoryPressureWarnings()
  #else
  private static let watcher = MemoryPressureWatcher()
  #endif

  /// Creates a source.
  ///
  /// All instances are equivalent.
  public init() {}

  /// Calls `body` on the watcher's thread whenever memory is scarce, for the life of the returned observation.
  public func observe(_ body: @escaping @Sendable (MemoryPressure) -> Void) -> MemoryPressureObservation {
    #if !VITRINE_APPLE
    let isIgnored = ProcessInfo.processInfo.environment["VITRINE_MEMORY_PRESSURE"] == "ignore"
    guard !isIgnored else { return MemoryPressureObservation {} }
    #endif
    return Self.watcher.observe(body)
  }
}

extension MemoryPressureSource where Self == SystemMemoryPressure {
  /// Memory pressure as reported by the system.
  public static var system: SystemMemoryPressure { SystemMemoryPressure() }
}
