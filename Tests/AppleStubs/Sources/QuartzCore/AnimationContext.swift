import Foundation

/// What a surrounding animation block asks of the changes made inside it.
///
/// View layers take their animations from here. `UIView.animate` and `NSAnimationContext` set it.
public final class _AnimationContext {
  /// How long each change takes.
  public let duration: TimeInterval
  /// How long each change waits.
  public let delay: TimeInterval
  /// The pace.
  public let timingFunction: CAMediaTimingFunction?
  /// How often each change repeats, where zero means once.
  public let repeatCount: Float
  /// Whether each change runs back again.
  public let autoreverses: Bool

  private var running = 0
  private var wasCut = false
  private var isClosed = false
  private var completion: ((Bool) -> Void)?

  /// Makes a context.
  public init(
    duration: TimeInterval,
    delay: TimeInterval = 0,
    timingFunction: CAMediaTimingFunction? = CAMediaTimingFunction(name: .easeInEaseOut),
    repeatCount: Float = 0,
    autoreverses: Bool = false,
    completion: ((Bool) -> Void)? = nil,
  ) {
    self.duration = duration
    self.delay = delay
    self.timingFunction = timingFunction
    self.repeatCount = repeatCount
    self.autoreverses = autoreverses
    self.completion = completion
  }

  /// Runs changes inside this context.
  ///
  /// The completion follows when the last animation made here has ended, or on the next turn of
  /// the run loop where there was none.
  public func run(_ changes: () -> Void) {
    let clock = _Clock._current
    let outer = clock._animationContext
    clock._animationContext = self
    changes()
    clock._animationContext = outer
    clock._schedule(after: 0) { [self] in
      isClosed = true
      finishIfDone()
    }
  }

  /// The animation of a change to a property of a view's layer.
  func makeAnimation(forKey key: String) -> CABasicAnimation? {
    guard duration > 0 else { return nil }
    let animation = CABasicAnimation(keyPath: key)
    animation._context = self
    animation.duration = duration
    animation.timingFunction = timingFunction
    animation.repeatCount = repeatCount
    animation.autoreverses = autoreverses
    if delay > 0 {
      animation.beginTime = CACurrentMediaTime() + delay
      animation.fillMode = .backwards
    }
    return animation
  }

  /// Counts an animation in.
  public func enter() {
    running += 1
  }

  /// Counts an animation out.
  public func leave(finished: Bool) {
    running -= 1
    wasCut = wasCut || !finished
    finishIfDone()
  }

  private func finishIfDone() {
    guard isClosed, running == 0, let block = completion else { return }
    completion = nil
    block(!wasCut)
  }
}
