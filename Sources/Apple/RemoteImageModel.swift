import Observation
import SwiftUI
import Vitrine
import VitrineRuntime

/// The state behind a ``RemoteImage``: a slot whose display is observable.
@MainActor
@Observable
final class RemoteImageModel: ImageDisplay {
  /// The content for ``request``.
  private var content = ImageSlot.Content.empty
  /// The player of a moving image.
  private(set) var player: AnimationPlayer?
  /// True until a moving image has shown its last frame for the last time.
  private(set) var isMoving = false

  @ObservationIgnored
  private var slot: ImageSlot?
  @ObservationIgnored
  private weak var pipeline: ImagePipeline?
  @ObservationIgnored
  private var request: ImageRequest?
  @ObservationIgnored
  private var transaction = Transaction()

  /// Returns what is to be shown for a request, also before it was loaded: an image in memory is there at once.
  func phase(of request: ImageRequest?, _ pipeline: ImagePipeline, _ look: ImageLook) -> RemoteImagePhase {
    guard let request else { return .empty }
    // Read in any case, so that the view follows it.
    let content = content
    guard let known = self.request, known.isSame(as: request), pipeline === self.pipeline else {
      guard let hit = pipeline.cachedImage(for: request) else { return .empty }
      return .success(Image(hit.container, look), hit)
    }
    switch content {
    case .preview(let preview):
      return .preview(player.map { Image($0.bitmap, scale: look.scale) } ?? Image(preview, look))
    case .placeholder(.image(let bitmap)): return .preview(Image(bitmap, scale: look.scale))
    case .image(let response, _):
      guard let player else { return .success(Image(response.container, look), response) }
      return .success(Image(player.bitmap, scale: look.scale), response)
    case .failure(let error, _): return .failure(error)
    case .empty, .placeholder: return .empty
    }
  }

  /// Shows an image; the view has appeared, or its request has changed.
  func load(
    _ request: ImageRequest?,
    _ pipeline: ImagePipeline,
    _ transaction: Transaction,
    whenLeft: ImageSlot.Leaving,
  ) {
    self.transaction = transaction
    // Also for the load of an earlier request.
    slot?.whenLeft = whenLeft
    let isOther = pipeline !== self.pipeline || self.request.map { known in request?.isSame(as: known) != true } ?? true
    if pipeline !== self.pipeline {
      let slot = ImageSlot(pipeline: pipeline)
      (slot.showsPreviews, slot.whenLeft) = (true, whenLeft)
      slot.display = self
      (self.slot, self.pipeline) = (slot, pipeline)
    }
    // An image of another request or pipeline is not shown for this one, even for a moment.
    if isOther { set(.empty) }
    self.request = request
    slot?.isVisible = true
    slot?.load(request)
  }

  /// Handles the load as is said, until the view appears again.
  func disappear(_ whenLeft: ImageSlot.Leaving) {
    slot?.whenLeft = whenLeft
    slot?.isVisible = false
    player?.pause()
  }

  /// Tells a moving image the time; called when the view is made anew for a frame.
  func advance(to date: Date, isStill: Bool) {
    guard let player else { return }
    if player.reducesMotion != isStill { player.reducesMotion = isStill }
    // A finished one would begin anew.
    if !isStill, !player.isFinished { player.play() }
    _ = player.advance(to: .seconds(date.timeIntervalSinceReferenceDate))
    // Not now, while the view is being made.
    if player.isFinished, isMoving { Task { isMoving = self.player?.isFinished == false } }
  }

  func show(_ content: ImageSlot.Content) {
    // After a failed reload, the picture stays.
    if case .failure(_, shows: .keepCurrent) = content, case .image = self.content { return }
    guard case .image(_, fades: true) = content else { return set(content) }
    withTransaction(transaction) { set(content) }
  }

  private func set(_ content: ImageSlot.Content) {
    self.content = content
    let animation: AnimatedImage? =
      switch content {
      case .image(let response, _): response.animation
      case .preview(let preview): preview.animation
      case .empty, .placeholder, .failure: nil
      }
    if animation != nil || player != nil { player = animation.map { AnimationPlayer($0, after: player) } }
    if isMoving != (player != nil) { isMoving.toggle() }
  }
}
