import Testing
import UIKit
import VitrineRuntime

/// In processes of their own, since the system tells everyone.
struct ApplicationEventTests {
  @Test
  func eachEventIsToldForAsLongAsItIsObserved() async {
    await #expect(processExitsWith: .success) {
      let told = Lock<[ApplicationEvent]>([])
      var observations = ApplicationEvent.allCases.map { event in
        event.observe { told.withLock { $0.append(event) } }
      }
      precondition(observations.allSatisfy { $0 != nil })
      let center = NotificationCenter.default
      center.post(name: UIApplication.didReceiveMemoryWarningNotification, object: nil)
      precondition(told.withLock { $0 } == [.memoryWarning])
      center.post(name: UIApplication.didEnterBackgroundNotification, object: nil)
      precondition(told.withLock { $0 } == [.memoryWarning, .background])
      observations = []
      center.post(name: UIApplication.didEnterBackgroundNotification, object: nil)
      precondition(told.withLock { $0.count } == 2)
    }
  }

  /// The center of swift-foundation releases its closures under its lock.
  @Test
  func anObservationMayRetainAnother() async {
    await #expect(processExitsWith: .success) {
      var outer = ApplicationEvent.background.observe { [inner = ApplicationEvent.background.observe {}] in
        withExtendedLifetime(inner) {}
      }
      precondition(outer != nil)
      outer = nil
      precondition(outer == nil)
    }
  }

  @Test
  func aWarningIsCriticalPressureAndTheBackgroundIsLow() async {
    await #expect(processExitsWith: .success) {
      let seen = Lock<[MemoryPressure]>([])
      let observation = SystemMemoryPressure().observe { pressure in seen.withLock { $0.append(pressure) } }
      NotificationCenter.default.post(name: UIApplication.didReceiveMemoryWarningNotification, object: nil)
      NotificationCenter.default.post(name: UIApplication.didEnterBackgroundNotification, object: nil)
      precondition(seen.withLock { $0 } == [.critical, .low])
      withExtendedLifetime(observation) {}
    }
  }
}
