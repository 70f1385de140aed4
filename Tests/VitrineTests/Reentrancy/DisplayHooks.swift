import VitrineImaging
import VitrineRuntime
import VitrineTesting

@testable import Vitrine

/// What shows images on the main actor, and what asks the main loop to.
enum DisplayHook: String, Hook {
  case displayOfAnImage, displayOfAnImageInMemory, displayOfAPlaceholder, displayOfAFailure
  case slotProgress, displayOfAPreview, requestDelivery

  func play(_ action: Action) async throws {
    let trigger = Trigger()
    let scene = try await Scene(action, trigger)
    let view = await View(self, scene)
    switch self {
    case .displayOfAnImage, .displayOfAPlaceholder: try scene.answer("subject")
    case .displayOfAnImageInMemory:
      try scene.answer("subject")
      scene.pipeline.cache[scene.request] = .testPattern(width: 16, height: 12)
    case .displayOfAFailure: scene.parts.loader.answer(Scene.url("subject"), failing: .cannotConnect)
    case .slotProgress, .displayOfAPreview, .requestDelivery: break
    }
    let isInParts = self == .slotProgress || self == .displayOfAPreview
    if !isInParts { scene.arm() }
    await view.load(scene.request)
    if isInParts { try await scene.sendInTwo() }
    // What comes while the call lasts is shown within it, without a delivery.
    if self == .requestDelivery { try await scene.send(to: scene.held()) }
    try await scene.end()
    await view.rest()
  }

  @MainActor
  private final class View: ImageDisplay {
    private let hook: DisplayHook
    private let trigger: Trigger
    private let slot: ImageSlot

    init(_ hook: DisplayHook, _ scene: Scene) {
      (self.hook, trigger) = (hook, scene.trigger)
      let trigger = trigger
      let mailbox = FrameMailbox { mailbox in
        if hook == .requestDelivery { trigger.pull() }
        Task { @MainActor in mailbox.deliver() }
      }
      slot = ImageSlot(pipeline: scene.pipeline, mailbox: mailbox)
      slot.display = self
      if hook == .slotProgress { slot.onProgress = { _ in trigger.pull() } }
      slot.showsPreviews = hook == .displayOfAPreview
      // A mailbox asks on any thread; its slot can be cancelled on this one only.
      if hook != .requestDelivery {
        let slot = slot
        scene.subject = Grip(cancel: { MainActor.assumeIsolated { slot.cancel() } })
      }
    }

    func load(_ request: ImageRequest) { slot.load(request, placeholder: .color(.init(0xE0E0E0))) }

    /// Lets what is on its way to the main actor come.
    func rest() { withExtendedLifetime(slot) {} }

    func show(_ content: ImageSlot.Content) {
      switch (hook, content) {
      case (.displayOfAnImage, .image), (.displayOfAnImageInMemory, .image), (.displayOfAPreview, .preview),
        (.displayOfAPlaceholder, .placeholder), (.displayOfAFailure, .failure):
        trigger.pull()
      default: break
      }
    }
  }
}
