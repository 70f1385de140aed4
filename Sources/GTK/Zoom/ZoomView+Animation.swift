import Vitrine
import VitrineImaging

extension ZoomView {
  func makeAnimation(_ info: ImageInfo) -> ZoomAnimation? {
    guard animates, info.frameCount > 1, info.duration > 0, let binding else { return nil }
    let animation = ZoomAnimation(opener, binding.request)
    animation.arrived = { [weak self] image, frame in self?.play(image, from: frame) }
    animation.failed = { [weak self] in self?.failed($0) }
    animation.frameIndex = { [weak self] in self?.playback?.player.frameIndex ?? 0 }
    return animation
  }

  func setAnimation(_ new: ZoomAnimation?) {
    animation?.stop()
    playback?.stop()
    (animation, playback, frame) = (new, nil, nil)
  }

  /// Frames as small as they are shown, or as they are: GTK enlarges them.
  func frameSize(_ geometry: ZoomGeometry) -> ZoomAnimation.Size {
    let (place, grid) = (geometry.picture, geometry.grid)
    guard geometry.isFitting else { return ZoomAnimation.Size(width: grid.width, height: grid.height) }
    return ZoomAnimation.Size(width: min(place.width, grid.width), height: min(place.height, grid.height))
  }

  private func play(_ image: AnimatedImage, from index: Int) {
    playback?.stop()
    let new = Playback(image, self)
    if index > 0 { _ = try? new.player.seek(to: index) }
    playback = new
    show(frame: new.player.bitmap)
    updatePlayback()
    updateContent()
    tellChange()
  }

  func updatePlayback() {
    // While the widget is being unmapped, GTK still says that it is mapped.
    playback?.update(plays: plays, isMapped: isMapped && !isLeaving)
  }
}

extension ZoomView: FrameDisplay {
  func show(frame bitmap: Bitmap) {
    if let frame, frame.bitmap.isSamePixels(as: bitmap) { return }
    frame = Texture(bitmap)
    redraw()
  }
}
