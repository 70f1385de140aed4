public import VitrineRuntime

/// A source of memory pressure that a test controls.
///
/// ```swift
/// let pressure = ManualMemoryPressure()
/// let pipeline = ImagePipeline.testing { $0.memoryPressure = pressure }
/// pressure.tell(.critical)
/// ```
public final class ManualMemoryPressure: MemoryPressureSource {
  private let observers = MemoryPressureObservers()

  /// Creates a source.
  public init() {}

  /// The number of observers.
  public var observerCount: Int { observers.count }

  /// Calls `body` in each ``tell(_:)``, on its caller's thread, for the life of the returned observation.
  public func observe(_ body: @escaping @Sendable (MemoryPressure) -> Void) -> MemoryPressureObservation {
    observers.add(body)
  }

  /// Notifies all observers, and returns after they have reacted.
  public func tell(_ pressure: MemoryPressure) { observers.tell(pressure) }
}
