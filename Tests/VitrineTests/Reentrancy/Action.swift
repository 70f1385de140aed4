import VitrineImaging
import VitrineRuntime
import VitrineTesting

@testable import Vitrine

/// What a hook does when it is called.
enum Action: String, Codable, CaseIterable, Sendable {
  case loadsAnother, loadsTheSame
  case cancelsThis, cancelsAnother, cancelsByRequest
  case changesPriorities
  case clearsCaches
  case dropsWhatCancelsAndLoads
  case blocks

  func run(in scene: Scene) {
    switch self {
    case .loadsAnother: scene.load(Scene.request("another"), as: "another")
    case .loadsTheSame: scene.load(scene.request, as: "the same")
    case .cancelsThis: scene.subject.cancel()
    case .cancelsAnother: scene.bystander.cancel()
    case .cancelsByRequest:
      scene.pipeline.cancel(for: scene.request)
      scene.pipeline.cancel(for: Scene.request("bystander"))
    case .changesPriorities:
      for priority in [Priority.veryHigh, .veryLow, .high] {
        scene.subject.setPriority(priority)
        scene.bystander.setPriority(priority)
      }
    case .clearsCaches:
      let cache = scene.pipeline.cache
      cache[scene.request] = nil
      cache[Scene.request("put")] = .solid(SIMD4(1, 2, 3, 255), width: 4, height: 4)
      cache.memory?.removeAll()
      scene.whileAtIt { await cache.removeAll() }
    case .dropsWhatCancelsAndLoads: scene.dropOwner()
    case .blocks: scene.block()
    }
  }
}

/// Does something once, when a hook is called after the scene has been armed.
final class Trigger: Sendable {
  private let action = Lock<(@Sendable () -> Void)?>(nil)

  func arm(_ action: @escaping @Sendable () -> Void) { self.action.withLock { $0 = action } }

  var isArmed: Bool { action.withLock { $0 != nil } }

  func pull() {
    let action = action.withLock { $0.take() }
    action?()
  }
}

/// Pulls a trigger when the last reference to it goes.
final class Cargo: Sendable {
  private let trigger: Trigger

  init(_ trigger: Trigger) { self.trigger = trigger }

  /// Has a closure refer to it.
  func travel() {}

  deinit { trigger.pull() }
}

/// Cancels one load and begins another when the last reference to it goes.
final class Owner: Sendable {
  private let scene: Scene

  init(_ scene: Scene) { self.scene = scene }

  deinit {
    scene.bystander.cancel()
    scene.load(Scene.request("last"), as: "begun by a deinit")
  }
}

/// How something under way is cancelled and made more or less urgent.
struct Grip: Sendable {
  var cancel: @Sendable () -> Void
  var setPriority: @Sendable (Priority) -> Void = { _ in }

  init(cancel: @escaping @Sendable () -> Void, setPriority: @escaping @Sendable (Priority) -> Void = { _ in }) {
    (self.cancel, self.setPriority) = (cancel, setPriority)
  }

  init(_ load: any RunningLoad) {
    self.init(cancel: { load.cancel() }, setPriority: { load.priority = $0 })
  }
}
