public import VitrineRuntime

/// Memory that is scarce when a test says so.
///
/// ```swift
/// let pressure = ManualMemoryPressure()
/// let pipeline = ImagePipeline.testing { $0.memoryPressure = pressure }
/// pressure.tell(.critical)
/// ```
public final class ManualMemoryPressure: MemoryPressureSource {
  private let observers = MemoryPressureObservers()

  /// Creates a source that has nothing to tell yet.
  public init() {}

  /// How many observe it.
  public var observerCount: Int { observers.count }

  /// Has `body` called by ``tell(_:)``, on that caller's thread.
  public func observe(_ body: @escaping @Sendable (MemoryPressure) -> Void) -> MemoryPressureObservation {
    observers.add(body)
  }

  /// Tells all observers, and returns when they have acted.
  public func tell(_ pressure: MemoryPressure) { observers.tell(pressure) }
}
