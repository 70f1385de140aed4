import Testing
import UIKit
import Vitrine
import VitrineRuntime
import VitrineTesting

struct BackgroundTests {
  /// In a process of its own, since the system tells everyone.
  @Test
  func whatIsStoredIsFlushedWhenTheAppLeavesTheScreen() async {
    await #expect(processExitsWith: .success) {
      let cache = CountingDataCache()
      let pipeline = ImagePipeline(.ephemeral) { $0.diskCache = cache }
      NotificationCenter.default.post(name: UIApplication.didEnterBackgroundNotification, object: nil)
      await cache.wait(forFlushes: 1)
      withExtendedLifetime(pipeline) {}
    }
  }
}
