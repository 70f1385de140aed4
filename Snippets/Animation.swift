// Plays an animation.

import Foundation
import Vitrine
import VitrineImaging

@MainActor
func play(_ url: URL, show: @escaping (Bitmap) -> Void) async throws -> AnimationPlayer? {
  // snippet.show
  var request = ImageRequest(url: url, size: .pixels(300, 300))
  request.animates = true
  let response = try await ImagePipeline.shared.imageTask(for: request).response
  show(response.image)  // the first frame, at once
  guard let animation = response.animation else { return nil }  // it does not move

  // All players of an image share its frames: ten views decode each of them once.
  let player = AnimationPlayer(animation)
  player.play()
  // snippet.hide
  return player
}

@MainActor
func refresh(_ player: AnimationPlayer, at time: Duration, show: (Bitmap) -> Void) {
  // snippet.show
  // With every refresh of the display, from any clock:
  if let frame = player.advance(to: time) { show(frame) }
  // snippet.hide
}

func frames(of data: Data, write: (Bitmap, Double) throws -> Void) throws {
  // snippet.show
  // All frames of an animation, one after another; the next one builds on the last.
  var frames = try FrameSource(data)
  while let frame = try frames.next() {
    try write(frame.bitmap, frame.delay)
  }
  // snippet.hide
}
