import CoreGraphics
import Foundation

extension UIView {
  /// A transition a view was given.
  public struct _Transition {
    /// How it runs.
    public let options: UIView.AnimationOptions
    /// How long it takes.
    public let duration: TimeInterval
    /// When it began.
    public let startTime: TimeInterval
    /// Whether it came to its end, or nothing while it is under way.
    public internal(set) var finished: Bool?
  }

  @MainActor
  private static var enabled = true

  /// Animates changes.
  ///
  /// The completion hears whether all animations came to their end.
  public class func animate(
    withDuration duration: TimeInterval,
    delay: TimeInterval,
    options: UIView.AnimationOptions = [],
    animations: @escaping () -> Void,
    completion: ((Bool) -> Void)? = nil,
  ) {
    guard enabled else {
      plainly(animations)
      completion?(true)
      return
    }
    let context = _AnimationContext(
      duration: duration,
      delay: delay,
      timingFunction: CAMediaTimingFunction(name: options.curve),
      repeatCount: options.contains(.repeat) ? .infinity : 0,
      autoreverses: options.contains(.autoreverse),
      completion: completion,
    )
    context.run(animations)
  }

  /// Makes changes to a view behind a transition.
  ///
  /// The changes are made at once. The view's `_transitions` has the record, and its layer a
  /// `CATransition`. A new transition of the same view cuts the old one off.
  public class func transition(
    with view: UIView,
    duration: TimeInterval,
    options: UIView.AnimationOptions = [],
    animations: (() -> Void)?,
    completion: ((Bool) -> Void)? = nil,
  ) {
    let clock = _Clock._current
    let number = view._transitions.count
    view._transitions.append(
      _Transition(options: options, duration: enabled ? duration : 0, startTime: clock._now, finished: nil)
    )
    let end: (Bool) -> Void = { [weak view] finished in
      view?._transitions[number].finished = finished
      completion?(finished)
    }
    guard enabled else {
      plainly { animations?() }
      end(true)
      return
    }
    let context = _AnimationContext(
      duration: duration,
      timingFunction: CAMediaTimingFunction(name: options.curve),
      completion: end,
    )
    context.run {
      if options.contains(.allowAnimatedContent) {
        animations?()
      } else {
        plainly { animations?() }
      }
      guard duration > 0, (options.rawValue >> 20) & 7 != 0 else { return }
      let transition = CATransition()
      transition.type = options._isCrossDissolve ? .fade : .push
      transition.duration = duration
      transition.timingFunction = CAMediaTimingFunction(name: options.curve)
      transition._context = context
      view.layer.add(transition, forKey: kCATransition)
    }
  }

  private static func plainly(_ changes: () -> Void) {
    let clock = _Clock._current
    let outer = clock._animationContext
    clock._animationContext = nil
    changes()
    clock._animationContext = outer
  }
}
