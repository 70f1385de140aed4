import Foundation

/// Something that can be cancelled.
public protocol Cancellable {
  /// Cancels the activity.
  func cancel()
}

/// A cancellable that runs a closure once, at `cancel()` or when it goes away.
public final class AnyCancellable: Cancellable, Hashable {
  private let lock = NSLock()
  private var action: (() -> Void)?

  /// Wraps another cancellable.
  public init<C>(_ canceller: C) where C: Cancellable {
    action = { canceller.cancel() }
  }

  deinit { action?() }

  /// Runs the closure, the first time only.
  public func cancel() {
    let taken = lock.withLock {
      defer { action = nil }
      return action
    }
    taken?()
  }

  /// Whether both are the same object.
  public static func == (lhs: AnyCancellable, rhs: AnyCancellable) -> Bool { lhs === rhs }

  /// Hashes the object's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// Keeps this in a set until the set drops it.
  public func store(in set: inout Set<AnyCancellable>) { set.insert(self) }
}
