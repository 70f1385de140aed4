import Foundation
import QuartzCore

/// The part of an update of the screen in which something runs.
open class UIUpdateActionPhase: NSObject, @unchecked Sendable {
  // Sendable by hand: the field is a constant.
  let order: Int

  init(_ order: Int) {
    self.order = order
  }

  /// Before the display links run.
  public static let beforeCADisplayLinkDispatch = UIUpdateActionPhase(3)
  /// Before the transaction is committed.
  public static let beforeCATransactionCommit = UIUpdateActionPhase(5)
}

/// What is known of an update of the screen.
@MainActor
open class UIUpdateInfo: NSObject {
  /// The time that animations should show.
  open internal(set) var modelTime: TimeInterval = 0
  /// The time by which everything has to be done.
  open internal(set) var completionDeadlineTime: TimeInterval = 0
  /// The time at which it should be seen.
  open internal(set) var estimatedPresentationTime: TimeInterval = 0
  /// Whether it should be seen before the next refresh.
  open internal(set) var isImmediatePresentationExpected = false

  init(time: TimeInterval, interval: TimeInterval) {
    modelTime = time
    completionDeadlineTime = time + interval
    estimatedPresentationTime = time + 2 * interval
    super.init()
  }
}

/// Runs something at each update of the screen.
///
/// Here an update is a turn of `_RunLoop`. The link is silent while the view is in no window, or
/// the app in the background.
@MainActor
open class UIUpdateLink: NSObject, _FrameObserver {
  private struct Action {
    let phase: UIUpdateActionPhase
    let run: (UIUpdateLink, UIUpdateInfo) -> Void
  }

  private weak var view: UIView?
  private var actions: [Action] = []
  private var pending: UIUpdateInfo?
  private var lastTime: TimeInterval?
  /// How often it ran.
  public private(set) var _tickCount = 0

  /// Whether it runs.
  open var isEnabled = false
  /// Whether it wants updates even if nothing else changes.
  open var requiresContinuousUpdates = false
  /// Whether it should be seen before the next refresh.
  open var wantsImmediatePresentation = false
  /// How many updates a second it wants.
  open var preferredFrameRateRange = CAFrameRateRange.default

  /// Makes a link for the screen that a view is on.
  public init(view: UIView) {
    self.view = view
    super.init()
    _RunLoop._add(self)
  }

  /// Adds something to run before the display links.
  open func addAction(handler: @escaping (UIUpdateLink, UIUpdateInfo) -> Void) {
    addAction(to: .beforeCADisplayLinkDispatch, handler: handler)
  }

  /// Adds something to run in a part of the update.
  open func addAction(to phase: UIUpdateActionPhase, handler: @escaping (UIUpdateLink, UIUpdateInfo) -> Void) {
    actions.append(Action(phase: phase, run: handler))
  }

  /// Runs the part before the commit.
  public func _beforeCommit(time: TimeInterval, interval: TimeInterval, isUpdate: Bool) {
    guard isEnabled, view?.window != nil, UIApplication.shared.applicationState != .background else { return }
    guard isUpdate || requiresContinuousUpdates, isDue(at: time) else { return }
    lastTime = time
    _tickCount += 1
    let info = UIUpdateInfo(time: time, interval: 1 / Double(UIScreen.main.maximumFramesPerSecond))
    info.isImmediatePresentationExpected = wantsImmediatePresentation
    pending = info
    run(info) { $0 <= UIUpdateActionPhase.beforeCATransactionCommit.order }
  }

  /// Runs the part after the commit.
  public func _afterCommit() {
    guard let info = pending else { return }
    run(info) { $0 > UIUpdateActionPhase.beforeCATransactionCommit.order }
    pending = nil
  }

  private func isDue(at time: TimeInterval) -> Bool {
    guard let lastTime else { return true }
    let range = preferredFrameRateRange
    let wish = range.preferred ?? 0
    let rate = Double(wish > 0 ? wish : range.maximum)
    guard rate > 0 else { return time > lastTime }
    return time - lastTime >= 1 / rate - 0.000_1
  }

  private func run(_ info: UIUpdateInfo, where isIncluded: (Int) -> Bool) {
    for action in actions.sorted(by: { $0.phase.order < $1.phase.order }) where isIncluded(action.phase.order) {
      guard isEnabled else { return }
      action.run(self, info)
    }
  }
}
