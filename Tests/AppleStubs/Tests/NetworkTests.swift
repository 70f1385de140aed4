import Dispatch
import Network
import Testing

struct NetworkTests {
  @Test
  func aCancelledMonitorTellsNothing() async {
    let monitor = NWPathMonitor()
    let queue = DispatchQueue(label: "cancelled")
    queue.suspend()
    monitor.pathUpdateHandler = { _ in Issue.record("told after the end") }
    monitor.start(queue: queue)
    monitor.cancel()
    queue.resume()
    await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
  }
}
