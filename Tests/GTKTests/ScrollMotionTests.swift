import VitrineRuntime
import XCTest

@testable import VitrineGTK

/// What frames tell of a scroll: a page of 800 points, sixty frames a second.
final class ScrollMotionTests: XCTestCase {
  private let page = 800.0
  private let length = 100_000.0
  private var frames = 0
  private var motion = ScrollMotion()

  private func show(_ places: Double...) {
    for place in places {
      frames += 1
      motion.note(place, of: length, page: page, at: .seconds(Double(frames) / 60))
    }
  }

  func testASpeedIsWhatTwoFramesHaveInCommon() {
    show(0, 100)
    XCTAssertEqual(motion.speed, 0)
    XCTAssertTrue(motion.isMoving)
    show(160)
    XCTAssertEqual(motion.speed, 3600, accuracy: 1)
    XCTAssertEqual(motion.rest, 900, accuracy: 1)
    show(160)
    XCTAssertEqual(motion.speed, 0)
    XCTAssertFalse(motion.isMoving)
  }

  func testWhatWillGoOnForMoreThanAPageIsTooFast() {
    show(0, 60, 120)
    XCTAssertEqual(motion.rest, 900, accuracy: 1)
    XCTAssertTrue(motion.isTooFast)
    show(170)
    // 50 points a frame are 3,000 a second.
    XCTAssertFalse(motion.isTooFast)
  }

  func testAFlingUpHasANegativeRest() {
    show(5000, 4900, 4800)
    XCTAssertEqual(motion.rest, -1500, accuracy: 1)
  }

  func testAJumpIsNoMotion() {
    show(0, 50_000)
    XCTAssertFalse(motion.isMoving)
    show(50_000)
    XCTAssertEqual(motion.speed, 0)
  }

  func testATurnHasNoSpeed() {
    show(1000, 1100, 1000)
    XCTAssertEqual(motion.speed, 0)
  }

  func testTheDirectionTurnsAfterAQuarterOfAPage() {
    show(5000, 6000, 5850)
    XCTAssertTrue(motion.isForward)
    show(5790)
    XCTAssertFalse(motion.isForward)
    show(5900)
    XCTAssertFalse(motion.isForward)
    show(6000)
    XCTAssertTrue(motion.isForward)
  }

  func testAListThatLearnsItsLengthIsNotScrolled() {
    show(5000, 5100, 5200)
    frames += 1
    motion.note(100, of: length * 2, page: page, at: .seconds(Double(frames) / 60))
    XCTAssertFalse(motion.isMoving)
    XCTAssertTrue(motion.isForward)
  }

  func testTheSameFrameCountsOnce() {
    show(0, 100, 200)
    let speed = motion.speed
    motion.note(230, of: length, page: page, at: .seconds(Double(frames) / 60))
    XCTAssertEqual(motion.speed, speed)
  }
}
