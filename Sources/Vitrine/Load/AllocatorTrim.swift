import VitrineCaching
import VitrineRuntime

/// Returns the memory of a burst of loads to the system once its callers have gone, too: the allocator keeps it
/// otherwise.
struct AllocatorTrim: Sendable {
  private let clock: any TimeSource

  init(_ clock: any TimeSource) { self.clock = clock }

  func schedule() {
    clock.schedule(after: .seconds(2)) {
      // It takes a while for gigabytes, so not on the clock's thread.
      _ = startThread(named: "vitrine-free") { FreeMemory.returnToSystem() }
    }
  }
}
