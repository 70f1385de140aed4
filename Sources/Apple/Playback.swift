#if !os(watchOS)
import Vitrine
import VitrineRuntime

/// A clock that ticks with the frames of a display while its view is in a window.
@MainActor
protocol FrameLink: AnyObject {
  var isRunning: Bool { get set }
}

/// Plays an animation by the display link of a view.
@MainActor
final class Playback {
  let player: AnimationPlayer
  private let show: @MainActor (Bitmap) -> Void
  private var link: (any FrameLink)?
  private var motion: MotionPreference?

  /// Plays an animation, from where the view has played it while it arrived.
  init(
    _ image: AnimatedImage,
    after former: Playback?,
    on host: any PictureHost,
    show: @escaping @MainActor (Bitmap) -> Void,
  ) {
    (player, self.show) = (AnimationPlayer(image, after: former?.player), show)
    player.didSeek = { [weak self] in self.map { $0.show($0.player.bitmap) } }
    link = host.makeFrameLink { [weak self] in self?.advance(to: $0) }
    motion = MotionPreference { [weak self] in self?.update() }
    update()
    // It goes on where the view's former one, or another view's, is.
    if player.frameIndex > 0 { show(player.bitmap) }
  }

  /// Plays, or shows the first frame where the user wants less motion.
  private func update() {
    let isStill = MotionPreference.isReduced
    if player.reducesMotion != isStill {
      player.reducesMotion = isStill
      if isStill { show(player.bitmap) }
    }
    // A finished one would begin anew.
    let plays = !isStill && !player.isFinished
    if plays { player.play() }
    link?.isRunning = plays
  }

  private func advance(to time: Duration) {
    if let frame = player.advance(to: time) { show(frame) }
    if player.isFinished { link?.isRunning = false }
  }
}
#endif
