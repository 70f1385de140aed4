import Foundation

/// Whether something has changed since the last walk, and how.
///
/// Unchecked: all state is behind a lock; a transaction is only handed over.
nonisolated final class Invalidation: @unchecked Sendable {
  private let lock = NSLock()
  private var transaction: Transaction?
  private var evaluating: Thread?
  private var recorded: [String] = []

  /// Whether a walk is needed.
  var isPending: Bool {
    lock.withLock { transaction != nil }
  }

  /// Whether a body is being evaluated on this thread.
  ///
  /// The main actor is not always on the main thread here.
  var isEvaluating: Bool {
    get { lock.withLock { evaluating != nil && evaluating === Thread.current } }
    set { lock.withLock { evaluating = newValue ? Thread.current : nil } }
  }

  /// Misuses, as the real framework logs them.
  var faults: [String] {
    lock.withLock { recorded }
  }

  /// Asks for a walk with the transaction that is current on this thread.
  func mark() {
    let current = Transaction.current
    lock.withLock {
      // A later change without an animation does not undo an earlier animation.
      if transaction == nil || current.animation != nil { transaction = current }
    }
  }

  /// The transaction of the changes so far, or nil if there is no change.
  func take() -> Transaction? {
    lock.withLock {
      defer { transaction = nil }
      return transaction
    }
  }

  func record(_ fault: String) {
    lock.withLock { recorded.append(fault) }
  }

  /// Notes a write to state, which is a misuse while a body is evaluated.
  func noteWrite(_ what: String) {
    if isEvaluating { record("Modifying \(what) during view update.") }
  }
}

/// The link of one evaluation of a body to the host, cut when the body is evaluated again.
///
/// Unchecked: the link is behind a lock.
nonisolated final class Token: @unchecked Sendable {
  private let lock = NSLock()
  private var target: Invalidation?

  init(_ target: Invalidation?) {
    self.target = target
  }

  func fire() {
    lock.withLock { target }?.mark()
  }

  func cut() {
    lock.withLock { target = nil }
  }
}

/// The link of the last evaluation of a body.
@MainActor
final class TokenHolder {
  private var token: Token?

  @discardableResult
  func renew(_ target: Invalidation?) -> Token {
    token?.cut()
    let new = Token(target)
    token = new
    return new
  }
}
