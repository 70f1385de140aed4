import CGTK
import VitrineRuntime
import XCTest

@testable import VitrineGTK

/// The bridge uses functions of libdispatch that no header declares; these tests notice when they are gone or change.
final class MainActorSourceTests: XCTestCase {
  func testATaskOnTheMainActorRunsInAPlainMainLoop() {
    MainActor.assumeIsolated {
      MainActorSource.attach()
      XCTAssertTrue(MainActorSource.isAttached)
      var hasRun = false
      Task { @MainActor in hasRun = true }
      MainLoop.turn { hasRun }
    }
  }

  func testAwaitingFromElsewhereComesBackToTheMainActor() {
    MainActor.assumeIsolated {
      MainActorSource.attach()
      var sum = 0
      Task { @MainActor in
        for number in 1...100 { sum += await Task.detached { number }.value }
      }
      MainLoop.turn { sum == 5050 }
    }
  }

  func testManyThreadsCanAskAtOnce() {
    MainActor.assumeIsolated {
      MainActorSource.attach()
      let count = Lock(0)
      for _ in 0..<1000 {
        Task.detached { await MainActor.run { count.withLock { $0 += 1 } } }
      }
      MainLoop.turn { count.withLock { $0 } == 1000 }
    }
  }

  func testAttachingTwiceIsAttachingOnce() {
    MainActor.assumeIsolated {
      MainActorSource.attach()
      MainActorSource.attach()
      MainActorSource.detach()
      XCTAssertFalse(MainActorSource.isAttached)
      MainActorSource.detach()
      MainActorSource.attach()
    }
  }
}
