#if VITRINE_APPLE
import Dispatch

/// Apple's warnings of memory pressure.
final class MemoryPressureWarnings: Sendable {
  private let observers = MemoryPressureObservers()
  private let notifications: [ApplicationObservation]
  #if canImport(Darwin)
  private let source: any DispatchSourceMemoryPressure
  #endif

  init() {
    let observers = observers
    notifications = [
      ApplicationEvent.memoryWarning.observe { observers.tell(.critical) },
      ApplicationEvent.background.observe { observers.tell(.low) },
    ].compactMap { $0 }
    #if canImport(Darwin)
    source = DispatchSource.makeMemoryPressureSource(eventMask: [.warning, .critical], queue: .global(qos: .utility))
    source.setEventHandler { [source, observers] in
      observers.tell(source.data.contains(.critical) ? .critical : .low)
    }
    source.activate()
    #endif
  }

  func observe(_ body: @escaping @Sendable (MemoryPressure) -> Void) -> MemoryPressureObservation {
    observers.add(body)
  }
}
#endif
