import Foundation

/// Groups changes to views.
@MainActor
open class NSAnimationContext: NSObject {
  private static var stack: [NSAnimationContext] = [NSAnimationContext()]

  /// How long each change takes.
  open var duration: TimeInterval = 0.25 { didSet { apply() } }
  /// The pace.
  open var timingFunction: CAMediaTimingFunction? { didSet { apply() } }
  /// Whether changes animate without the animator.
  open var allowsImplicitAnimation = false { didSet { apply() } }
  /// What runs when the animations have ended.
  open var completionHandler: (() -> Void)?
  private var isOpen = false
  private var group: _CompletionGroup?

  /// The innermost group.
  open class var current: NSAnimationContext { stack.last ?? NSAnimationContext() }

  /// Makes changes in a group.
  ///
  /// Here all changes to layers animate, whether they are made through the animator or not. The
  /// completion follows when the last of them has ended, or on the next turn where there is none.
  open class func runAnimationGroup(
    _ changes: (NSAnimationContext) -> Void,
    completionHandler: (() -> Void)? = nil,
  ) {
    let context = NSAnimationContext()
    context.duration = current.duration
    context.completionHandler = completionHandler
    stack.append(context)
    let clock = _Clock._current
    let outer = clock._animationContext
    let group = _CompletionGroup { context.completionHandler?() }
    context.isOpen = true
    context.group = group
    context.apply()
    changes(context)
    context.isOpen = false
    stack.removeLast()
    clock._animationContext = outer
    group.close()
  }

  /// Makes changes in a group.
  open class func runAnimationGroup(_ changes: (NSAnimationContext) -> Void) {
    runAnimationGroup(changes, completionHandler: nil)
  }

  private func apply() {
    guard isOpen else { return }
    let part = _AnimationContext(duration: duration, timingFunction: timingFunction) { [group] _ in group?.leave() }
    group?.enter()
    part.run {}
    _Clock._current._animationContext = part
  }
}
