import Foundation

/// The open transactions of a clock.
final class _TransactionStack {
  final class Level {
    var disablesActions = false
    var duration: TimeInterval = 0.25
    var timingFunction: CAMediaTimingFunction?
    var group: _CompletionGroup?

    init(inside outer: Level?) {
      guard let outer else { return }
      disablesActions = outer.disablesActions
      duration = outer.duration
      timingFunction = outer.timingFunction
    }
  }

  var implicit = Level(inside: nil)
  var explicit: [Level] = []

  var top: Level { explicit.last ?? implicit }

  var groups: [_CompletionGroup] {
    ([implicit] + explicit).compactMap(\.group)
  }
}

/// A completion block with the animations it waits for.
package final class _CompletionGroup {
  package let block: () -> Void
  private var running = 0
  private var isClosed = false
  private var hasRun = false

  package init(_ block: @escaping () -> Void) {
    self.block = block
  }

  package func enter() {
    running += 1
  }

  package func leave() {
    running -= 1
    finishIfDone()
  }

  package func close() {
    isClosed = true
    finishIfDone()
  }

  private func finishIfDone() {
    guard isClosed, running == 0, !hasRun else { return }
    hasRun = true
    block()
  }
}

/// Groups changes to layers.
///
/// A completion block runs when the animations added after it was set have all ended, and at the
/// commit where there are none.
open class CATransaction: NSObject {
  private static var stack: _TransactionStack { _Clock._current.transactions }

  /// Opens a transaction inside the current one.
  open class func begin() {
    stack.explicit.append(_TransactionStack.Level(inside: stack.top))
  }

  /// Closes the innermost transaction.
  open class func commit() {
    guard let level = stack.explicit.popLast() else { return }
    level.group?.close()
  }

  /// Closes the transaction that opens by itself.
  open class func flush() {
    let level = stack.implicit
    stack.implicit = _TransactionStack.Level(inside: nil)
    level.group?.close()
  }

  /// How long an implicit animation takes, in seconds.
  open class func animationDuration() -> CFTimeInterval {
    stack.top.duration
  }

  /// Sets how long an implicit animation takes, in seconds.
  open class func setAnimationDuration(_ dur: CFTimeInterval) {
    stack.top.duration = dur
  }

  /// The pace of all animations of the transaction.
  open class func animationTimingFunction() -> CAMediaTimingFunction? {
    stack.top.timingFunction
  }

  /// Sets the pace of all animations of the transaction.
  open class func setAnimationTimingFunction(_ function: CAMediaTimingFunction?) {
    stack.top.timingFunction = function
  }

  /// Whether changes animate by themselves no longer.
  open class func disableActions() -> Bool {
    stack.top.disablesActions
  }

  /// Sets whether changes animate by themselves no longer.
  open class func setDisableActions(_ flag: Bool) {
    stack.top.disablesActions = flag
  }

  /// The block that runs when the animations have ended.
  open class func completionBlock() -> (() -> Void)? {
    stack.top.group?.block
  }

  /// Sets the block that runs when the animations added from now on have ended.
  open class func setCompletionBlock(_ block: (() -> Void)?) {
    let level = stack.top
    let former = level.group
    level.group = block.map(_CompletionGroup.init)
    former?.close()
  }
}
