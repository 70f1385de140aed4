import CGTK
import CVitrineGTK
import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting
import XCTest

@testable import VitrineGTK

extension Data {
  /// A GIF of 8x8 pixels whose frames are of one colour each, for `delay` hundredths of a second; the red component is six
  /// times the index of the frame.
  init(gifOf count: Int, delay: Int) {
    var bytes = Array("GIF89a".utf8) + [8, 0, 8, 0, 0, 0, 0]
    // Endless.
    bytes += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]
    for index in 0..<count {
      bytes += [0x21, 0xF9, 4, 0, UInt8(delay & 255), UInt8(delay >> 8), 0, 0]
      // With colours of its own, of which the first is used.
      bytes += [0x2C, 0, 0, 0, 0, 8, 0, 8, 0, 0x86]
      bytes += [UInt8(index * 6), 64, 128] + [UInt8](repeating: 0, count: 127 * 3)
      // Codes of eight bits: one that clears the table, a pixel each, and the end, all before codes become longer.
      let codes = [128] + [UInt8](repeating: 0, count: 64) + [129]
      bytes += [7, UInt8(codes.count)] + codes + [0]
    }
    self.init(bytes + [0x3B])
  }
}

/// Animated pictures on a real frame clock.
final class PlaybackTests: WidgetTestCase {
  @MainActor
  private final class Stage {
    let loading = FakeLoading()
    let mailbox = FrameMailbox.manual()
    let picture: RemotePicture
    let window: TestWindow

    init(frames: Int = 4, delay: Int = 2) throws {
      picture = RemotePicture(slot: ImageSlot(loader: loading, mailbox: mailbox), width: 32, height: 32, mode: .fill)
      let budget = FrameBudget(memoryPressure: nil)
      let animation = try AnimatedImage(Data(gifOf: frames, delay: delay), budget: budget)
      var container = ImageContainer(animation.poster, info: animation.info)
      container.animation = animation
      loading[memory: "A"] = .of(container, origin: .memory)
      unsafe window = TestWindow(picture.widget)
      picture.load(.named("A"))
    }

    /// The red component of the frame that is shown, which tells its index.
    var frame: Int { Int(picture.view.image?.bitmap[0, 0].x ?? 255) / 6 }
  }

  func testFramesFollowOneAnotherInOrder() throws {
    try MainActor.assumeIsolated {
      // Long enough that a machine on which a turn of the main loop takes a tenth of a second shows each frame.
      let stage = try Stage(delay: 30)
      let player = try XCTUnwrap(stage.picture.player)
      // Counted through all loops. A main loop that was held up leaves out what was due meanwhile, if it is decoded.
      var seen = [0]
      var wrong: [String] = []
      MainLoop.turn {
        let number = player.completedLoops * 4 + player.frameIndex
        if stage.frame != player.frameIndex { wrong.append("\(stage.frame) in place of \(number)") }
        if number != seen.last { seen.append(number) }
        return seen.count >= 7 && zip(seen, seen.dropFirst()).contains { $1 == $0 + 1 }
      }
      XCTAssertEqual(wrong, [])
      XCTAssertEqual(seen, seen.sorted())
      stage.window.close()
    }
  }

  func testTheFirstFrameIsNotShownForTwiceItsDelay() throws {
    try MainActor.assumeIsolated {
      // Long enough that a busy machine does not miss the whole time of the second frame.
      let stage = try Stage(delay: 200)
      XCTAssertEqual(stage.picture.view.playback?.isTicking, false)
      MainLoop.turn { stage.picture.view.playback?.isTicking == true }
      // The clock runs only when a frame is due soon.
      MainLoop.turn { stage.frame == 1 || stage.picture.view.playback?.isTicking == false }
      XCTAssertEqual(stage.frame, 1)
      stage.window.close()
    }
  }

  func testNothingRunsWhileThePictureCannotBeSeen() throws {
    try MainActor.assumeIsolated {
      let stage = try Stage()
      MainLoop.turn { stage.frame == 1 }
      XCTAssertEqual(stage.picture.view.playback?.isRunning, true)
      unsafe gtk_widget_set_visible(stage.picture.widget, 0)
      XCTAssertEqual(stage.picture.view.playback?.isRunning, false)
      XCTAssertEqual(stage.picture.player?.isPlaying, false)
      unsafe gtk_widget_set_visible(stage.picture.widget, 1)
      MainLoop.turn { stage.picture.view.playback?.isRunning == true }
      MainLoop.turn { stage.frame == 3 }
      stage.window.close()
    }
  }

  func testADesktopThatWantsNoMotionSeesTheFirstFrame() throws {
    try MainActor.assumeIsolated {
      let stage = try Stage()
      MainLoop.turn { stage.frame == 2 }
      let settings = unsafe gtk_widget_get_settings(stage.picture.widget)
      unsafe set(settings, animations: false)
      XCTAssertEqual(stage.frame, 0)
      XCTAssertEqual(stage.picture.view.playback?.isRunning, false)
      unsafe set(settings, animations: true)
      MainLoop.turn { stage.frame == 2 }
      stage.window.close()
    }
  }

  func testTheProgramPausesAndPlays() throws {
    try MainActor.assumeIsolated {
      let stage = try Stage()
      MainLoop.turn { stage.frame == 1 }
      stage.picture.plays = false
      XCTAssertEqual(stage.picture.view.playback?.isRunning, false)
      stage.picture.plays = true
      MainLoop.turn { stage.frame == 2 }
      stage.window.close()
    }
  }

  func testAFrameThatTheProgramSeeksIsShownAtOnce() throws {
    try MainActor.assumeIsolated {
      let stage = try Stage()
      MainLoop.turn { stage.frame == 1 }
      stage.picture.plays = false
      for frame in [3, 2] {
        let player = try XCTUnwrap(stage.picture.player)
        MainLoop.decode(frame, of: player.image)
        try player.seek(to: frame)
        XCTAssertEqual(stage.frame, frame)
      }
      stage.window.close()
    }
  }

  func testAFrameThatIsSoughtInALongPauseIsShownOnceItIsDecoded() throws {
    try MainActor.assumeIsolated {
      // Minutes a frame, so that nothing but the seek brings another one.
      let stage = try Stage(frames: 40, delay: 60_000)
      XCTAssertEqual(stage.picture.view.playback?.isRunning, true)
      try stage.picture.player?.seek(to: 39)
      MainLoop.turn { stage.frame == 39 }
      stage.window.close()
    }
  }

  func testAnotherImageEndsTheAnimation() throws {
    try MainActor.assumeIsolated {
      let stage = try Stage()
      MainLoop.turn { stage.frame == 1 }
      let player = stage.picture.player
      stage.loading[memory: "B"] = .of("B", origin: .memory)
      stage.picture.load(.named("B"))
      XCTAssertNil(stage.picture.player)
      XCTAssertEqual(player?.isPlaying, false)
      XCTAssertTrue(stage.picture.view.shows("B"))
      stage.window.close()
    }
  }

  func testAnAnimationPlaysWhileItArrivesAndGoesOnAsTheImage() throws {
    try MainActor.assumeIsolated {
      let file = Data(gifOf: 12, delay: 10)
      var (options, policy) = (DecodeOptions(), PreviewPolicy())
      (options.animates, policy.interval) = (true, 1)
      var decoder = IncrementalDecoder(options: options, previews: policy)
      // Half of the frames, and the beginning of the next one.
      let half = file.count / 2 + 20
      XCTAssertEqual(try decoder.append(file.prefix(half)), .previewReady)
      let preview = try XCTUnwrap(try decoder.preview())
      let animation = try XCTUnwrap(preview.animation)
      XCTAssertEqual(animation.frameCount, 6)
      let stage = try Stage()
      stage.picture.slot.showsPreviews = true
      stage.picture.load(.named("B"))
      var container = ImageContainer(preview.bitmap, info: preview.info, isPreview: true)
      container.animation = animation
      stage.loading.oldest("B")?.send(.preview(container))
      stage.mailbox.deliver()

      // It stays at the last frame that is there, and no frame clock runs.
      MainLoop.turn { stage.frame == 5 && stage.picture.view.playback?.isTicking == false }
      XCTAssertEqual(stage.picture.player?.completedLoops, 0)

      _ = try decoder.append(file[half...])
      stage.loading.oldest("B")?.finish(.of(try decoder.image()))
      stage.mailbox.deliver()

      // Without a step back.
      XCTAssertEqual(stage.frame, 5)
      var seen = [5]
      MainLoop.turn {
        if stage.frame != seen.last { seen.append(stage.frame) }
        return stage.frame == 11
      }
      XCTAssertEqual(seen, seen.sorted())
      XCTAssertTrue(stage.picture.player?.image === animation)
      stage.window.close()
    }
  }

  func testAnAnimationThatIsPausedWhileItArrivesKeepsItsFrame() throws {
    try MainActor.assumeIsolated {
      let file = Data(gifOf: 6, delay: 10)
      var (options, policy) = (DecodeOptions(), PreviewPolicy())
      (options.animates, policy.interval) = (true, 1)
      var decoder = IncrementalDecoder(options: options, previews: policy)
      _ = try decoder.append(file.prefix(file.count / 2 + 20))
      let preview = try XCTUnwrap(try decoder.preview())
      let stage = try Stage()
      stage.picture.slot.showsPreviews = true
      stage.picture.load(.named("B"))
      var container = ImageContainer(preview.bitmap, info: preview.info, isPreview: true)
      container.animation = preview.animation
      stage.loading.oldest("B")?.send(.preview(container))
      stage.mailbox.deliver()
      MainLoop.turn { stage.frame == 2 }
      stage.picture.plays = false

      _ = try decoder.append(file[(file.count / 2 + 20)...])
      stage.loading.oldest("B")?.finish(.of(try decoder.image()))
      stage.mailbox.deliver()

      XCTAssertEqual(stage.frame, 2)
      XCTAssertEqual(stage.picture.player?.frameIndex, 2)
      XCTAssertEqual(stage.picture.view.playback?.isRunning, false)
      stage.window.close()
    }
  }

  func testAWidgetMayBeFreedWhileItPlays() throws {
    try MainActor.assumeIsolated {
      weak var view: PictureView?
      weak var player: AnimationPlayer?
      do {
        let stage = try Stage()
        MainLoop.turn { stage.frame == 1 }
        (view, player) = (stage.picture.view, stage.picture.player)
        stage.window.close()
      }
      XCTAssertNil(view)
      XCTAssertNil(player)
    }
  }
}

@MainActor
private func set(_ settings: OpaquePointer?, animations: Bool) {
  var value = GValue()
  unsafe g_value_init(&value, GType(5 << 2))  // G_TYPE_BOOLEAN
  unsafe g_value_set_boolean(&value, animations ? 1 : 0)
  unsafe g_object_set_property(
    vitrine_gtk_object(UnsafeMutableRawPointer(settings)),
    "gtk-enable-animations",
    &value,
  )
  unsafe g_value_unset(&value)
}
