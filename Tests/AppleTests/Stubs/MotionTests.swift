import Testing
import UIKit
import Vitrine
import VitrineApple
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Tests that move the clock of all animations, so they run one by one.
@Suite(.serialized)
enum ClockTests {}

extension ClockTests {
  /// Animated images on the display link.
  @MainActor
  @Suite(.patient)
  struct MotionTests {
    private let setting: Setting
    private let history = History()
    private let window = UIWindow(frame: CGRect(x: 0, y: 0, width: 100, height: 100))
    private let url = "https://images.invalid/moving.gif"

    init() throws {
      setting = try Setting()
      UIAccessibility._setReduceMotionEnabled(false)
      setting.loader.answer(url, with: MovingGIF.file(frameCount: 3))
    }

    private func shownView() async -> RemoteImageView {
      let view = RemoteImageView(setting.pipeline)
      view.frame = CGRect(x: 0, y: 0, width: 4, height: 4)
      view.vitrine.onChange = { [history] in history.note($0) }
      window.addSubview(view)
      view.vitrine.load(ImageRequest(url: url, size: .pixels(4, 4)))
      window.layoutIfNeeded()
      await history.settled()
      return view
    }

    @Test
    func anAnimationPlaysWhileItsViewIsInAWindow() async throws {
      let view = await shownView()
      let player = try #require(view.vitrine.player)
      #expect(player.isPlaying)
      _ = try await player.image.frame(at: 1)
      _RunLoop._advance(by: 0.2, frames: 4)
      let frame = player.frameIndex
      #expect(frame > 0)

      view.removeFromSuperview()
      _RunLoop._advance(by: 0.2, frames: 4)
      #expect(player.frameIndex == frame)
    }

    @Test
    func anAnimationPlaysWhileItArrivesAndGoesOnAsTheImage() async throws {
      let file = MovingGIF.file(frameCount: 3000)
      let view = RemoteImageView(setting.pipeline)
      view.frame = CGRect(x: 0, y: 0, width: 4, height: 4)
      view.vitrine.slot.showsPreviews = true
      view.vitrine.onChange = { [history] in history.note($0) }
      window.addSubview(view)
      view.vitrine.load(ImageRequest(url: Setting.slow, size: .pixels(4, 4)))
      window.layoutIfNeeded()
      let load = try await setting.loader.nextLoad(of: Setting.slow)
      load.respond(headers: ["Content-Length": "\(file.count)"])
      let half = file.count / 2
      for start in stride(from: 0, to: half, by: 1000) { load.send(file[start..<min(start + 1000, half)]) }
      while view.vitrine.player == nil { await Task { @MainActor in }.value }
      let player = try #require(view.vitrine.player)
      #expect(player.image.isArriving && player.isPlaying)
      _ = try await player.image.frame(at: 1)
      _RunLoop._advance(by: 0.2, frames: 4)
      let frame = player.frameIndex
      #expect(frame > 0)

      load.send(file[half...])
      load.finish()
      await history.settled()

      let next = try #require(view.vitrine.player)
      #expect(next.image === player.image && !next.image.isArriving)
      #expect(next.frameIndex == frame && next.isPlaying)
      // The view shows it, and not the first frame.
      let shown = try #require(view.imageView.image)
      #expect(try Bitmap(shown)[0, 0] == MovingGIF.color(frame))
    }

    /// Also after the user has wanted less motion for a while.
    @Test
    func anAnimationThatHasEndedDoesNotBeginAnew() async throws {
      let view = await shownView()
      let player = try #require(view.vitrine.player)
      for index in 1...2 { _ = try await player.image.frame(at: index) }
      _RunLoop._advance(by: 1, frames: 20)
      #expect(player.isFinished)

      for isReduced in [true, false] {
        UIAccessibility._setReduceMotionEnabled(isReduced)
        while player.reducesMotion != isReduced { await Task { @MainActor in }.value }
      }
      _RunLoop._advance(by: 0.05, frames: 4)
      #expect(player.isPlaying == false)
    }

    @Test
    func anotherPipelineLeavesWhatTheViewShows() async throws {
      let view = await shownView()
      view.vitrine.pipeline = ImagePipeline.testing(PipelineParts())
      #expect(view.imageView.image != nil)
    }

    @Test
    func itStandsStillWhereTheUserWantsLessMotion() async throws {
      let view = await shownView()
      let player = try #require(view.vitrine.player)
      UIAccessibility._setReduceMotionEnabled(true)
      defer { UIAccessibility._setReduceMotionEnabled(false) }
      while player.isPlaying { await Task { @MainActor in }.value }
      _RunLoop._advance(by: 0.5, frames: 5)
      #expect(player.isPlaying == false)
      #expect(player.frameIndex == 0)
    }
  }
}
