import CGTK
import CVitrineGTK
import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting
import XCTest

@testable import VitrineGTK

/// Animations in a zoom picture.
final class ZoomAnimationTests: WidgetTestCase {
  /// A stage with an animation of four frames, each of one colour and for so many hundredths of a second.
  @MainActor
  private static func stage(_ width: Int = 200, _ height: Int = 150, delay: Int = 2) -> ZoomStage {
    let picture = FakePicture(width: width, height: height, frameCount: 4) { _, _ in SIMD4(0, 64, 128, 255) }
    let stage = ZoomStage(["A": picture])
    stage.opener.animations["A"] = try? AnimatedImage(
      Data(gifOf: 4, delay: delay),
      budget: FrameBudget(memoryPressure: nil),
    )
    return stage
  }

  @MainActor
  private static func shown(_ stage: ZoomStage) throws -> Int {
    let drawn = try stage.render()
    return Int(drawn[drawn.width / 2, drawn.height / 2].x) / 6
  }

  func testEveryAnimationThatIsOpenedMoves() throws {
    try MainActor.assumeIsolated {
      let stage = Self.stage()
      for round in 0..<20 {
        stage.picture.load(.named("A"))
        MainLoop.turn { stage.picture.player?.frameIndex ?? 0 > 0 }
        XCTAssertEqual(try Self.shown(stage), stage.picture.player?.frameIndex, "round \(round)")
        stage.picture.clear()
        XCTAssertNil(stage.picture.player)
      }
      stage.window.close()
    }
  }

  func testFramesAreAsLargeAsTheyAreShownAndGoOnWhereTheyWere() throws {
    try MainActor.assumeIsolated {
      let stage = Self.stage(3000, 2000, delay: 60_000)
      stage.picture.load(.named("A"))
      MainLoop.turn { stage.picture.player != nil }
      XCTAssertEqual(stage.opener.animationSizes, [.pixels(301, 201, .exact)])
      let player = try XCTUnwrap(stage.picture.player)
      MainLoop.decode(2, of: player.image)
      _ = try player.seek(to: 2)
      XCTAssertEqual(try Self.shown(stage), 2)

      stage.picture.zoom(to: 2)
      MainLoop.turn { stage.picture.player.map { $0 !== player } ?? false }
      XCTAssertEqual(stage.opener.animationSizes.last, .pixels(3000, 2000, .exact))
      XCTAssertEqual(stage.picture.player?.frameIndex, 2)
      XCTAssertEqual(try Self.shown(stage), 2)
      stage.window.close()
    }
  }

  func testAnAnimationStopsWhileItCannotBeSeenAndWhenItIsToldTo() {
    MainActor.assumeIsolated {
      let stage = Self.stage()
      stage.picture.load(.named("A"))
      MainLoop.turn { stage.picture.player?.isPlaying == true }
      stage.picture.plays = false
      XCTAssertEqual(stage.picture.player?.isPlaying, false)
      stage.picture.plays = true
      XCTAssertEqual(stage.picture.player?.isPlaying, true)
      unsafe gtk_widget_set_visible(stage.picture.widget, 0)
      XCTAssertEqual(stage.picture.player?.isPlaying, false)
      unsafe gtk_widget_set_visible(stage.picture.widget, 1)
      MainLoop.turn { stage.picture.player?.isPlaying == true }
      stage.window.close()
    }
  }

  func testStillPicturesAndProgramsThatWantNoMotionLoadNoFrames() {
    MainActor.assumeIsolated {
      let stage = Self.stage()
      stage.picture.animates = false
      stage.picture.load(.named("A"))
      stage.complete()
      XCTAssertNil(stage.picture.player)
      stage.opener["B"] = .slow(300, 200)
      stage.picture.animates = true
      stage.picture.load(.named("B"))
      stage.complete()
      XCTAssertEqual(stage.opener.animationSizes, [])
      stage.window.close()
    }
  }

  func testFramesThatFailLeaveTheFirstOneAndCanBeTriedAgain() throws {
    try MainActor.assumeIsolated {
      let stage = Self.stage()
      let animation = stage.opener.animations["A"]
      stage.opener.animations = [:]
      stage.picture.load(.named("A"))
      MainLoop.turn { if case .failure = stage.picture.content { true } else { false } }
      XCTAssertEqual(try Self.shown(stage), 0)
      stage.opener.animations["A"] = animation
      stage.picture.retry()
      MainLoop.turn { stage.picture.player?.frameIndex ?? 0 > 0 }
      XCTAssertTrue(stage.picture.content.isSame(as: .complete))
      stage.window.close()
    }
  }

  func testARingTurnsUntilTheWholePictureIsThere() throws {
    try MainActor.assumeIsolated {
      let picture = FakePicture.slow(isAutomatic: false)
      let stage = ZoomStage(["A": picture])
      stage.picture.showsProgress = true
      stage.picture.load(.named("A"))
      let ring = try XCTUnwrap(stage.picture.view.ring)
      XCTAssertTrue(ring.isRunning)
      MainLoop.turn { picture.waitsForOverview && ring.isShown }
      picture.sendOverview(0.5)
      MainLoop.turn { stage.tiles?.overview != nil }
      XCTAssertTrue(ring.isRunning)
      picture.sendOverview()
      MainLoop.turn { !ring.isRunning }
      stage.picture.load(.named("none"))
      MainLoop.turn { if case .failure = stage.picture.content { true } else { false } }
      XCTAssertFalse(ring.isRunning)
      stage.window.close()
    }
  }

  func testAChequerboardIsUnderTransparencyAndALineAroundThePicture() throws {
    try MainActor.assumeIsolated {
      let picture = FakePicture(width: 100, height: 80, hasAlpha: true) { x, _ in
        x < 50 ? SIMD4(255, 0, 0, 255) : SIMD4(0, 0, 0, 0)
      }
      let stage = ZoomStage(picture)
      stage.complete()
      let (left, top) = ((301 - 100) / 2, (223 - 80) / 2)
      XCTAssertEqual(try stage.render()[left + 90, top + 40].w, 0)
      stage.picture.hasChequerboard = true
      stage.picture.outline = PixelColor(0x00FF00)
      let drawn = try stage.render()
      XCTAssertEqual(drawn[left + 10, top + 40], SIMD4(255, 0, 0, 255))
      let greys = Set((0..<30).map { drawn[left + 65 + $0, top + 40].x })
      XCTAssertEqual(greys, [0xC4, 0xE6])
      XCTAssertEqual(drawn[left - 1, top + 40], SIMD4(0, 255, 0, 255))
      XCTAssertEqual(drawn[left, top + 40], SIMD4(255, 0, 0, 255))
      stage.window.close()
    }
  }
}
