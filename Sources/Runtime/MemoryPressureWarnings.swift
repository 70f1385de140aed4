#if canImport(Darwin)
import Dispatch

/// Apple's warnings of memory pressure.
final class MemoryPressureWarnings: Sendable {
  private let observers = MemoryPressureObservers()
  private let source: any DispatchSourceMemoryPressure

  init() {
    source = DispatchSource.makeMemoryPressureSource(eventMask: [.warning, .critical], queue: .global(qos: .utility))
    source.setEventHandler { [source, observers] in
      observers.tell(source.data.contains(.critical) ? .critical : .low)
    }
    source.activate()
  }

  func observe(_ body: @escaping @Sendable (MemoryPressure) -> Void) -> MemoryPressureObservation {
    observers.add(body)
  }
}
#endif
