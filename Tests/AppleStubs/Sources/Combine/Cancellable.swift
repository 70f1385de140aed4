import Foundation

/// Something that can be cancelled.
public protocol Cancellable {
  /// Cancels the activity.
  func cancel()
}

extension Cancellable {
  /// Keeps this in a collection until the collection drops it.
  public func store<C>(in collection: inout C)
  where C: RangeReplaceableCollection, C.Element == AnyCancellable {
    AnyCancellable(self).store(in: &collection)
  }

  /// Keeps this in a set until the set drops it.
  public func store(in set: inout Set<AnyCancellable>) {
    AnyCancellable(self).store(in: &set)
  }
}

/// A cancellable that runs a closure once, at `cancel()` or when it goes away.
public final class AnyCancellable: Cancellable, Hashable {
  private let lock = NSLock()
  private var action: (() -> Void)?

  /// Makes a cancellable that runs a closure.
  public init(_ cancel: @escaping () -> Void) {
    action = cancel
  }

  /// Wraps another cancellable.
  public init<C>(_ canceller: C) where C: Cancellable {
    action = { canceller.cancel() }
  }

  deinit {
    action?()
  }

  /// Runs the closure, the first time only.
  public func cancel() {
    let taken = lock.withLock {
      defer { action = nil }
      return action
    }
    taken?()
  }

  /// Whether both are the same object.
  public static func == (lhs: AnyCancellable, rhs: AnyCancellable) -> Bool {
    lhs === rhs
  }

  /// Hashes the object's identity.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }

  /// Keeps this in a collection until the collection drops it.
  public func store<C>(in collection: inout C)
  where C: RangeReplaceableCollection, C.Element == AnyCancellable {
    collection.append(self)
  }

  /// Keeps this in a set until the set drops it.
  public func store(in set: inout Set<AnyCancellable>) {
    set.insert(self)
  }
}

/// A unique name for one publisher stream.
public struct CombineIdentifier: Hashable, CustomStringConvertible, Sendable {
  private enum Value: Hashable {
    case number(UInt64)
    case object(ObjectIdentifier)
  }

  private static let lock = NSLock()
  // Unsafe: read and written under `lock` only.
  nonisolated(unsafe) private static var last: UInt64 = 0

  private let value: Value

  /// Makes a name that nothing else has.
  public init() {
    value = Self.lock.withLock {
      Self.last += 1
      return .number(Self.last)
    }
  }

  /// Makes the name of an object.
  public init(_ obj: AnyObject) {
    value = .object(ObjectIdentifier(obj))
  }

  /// The name as text.
  public var description: String {
    switch value {
    case .number(let number): "0x" + String(number, radix: 16)
    case .object(let object): "\(object)"
    }
  }
}

/// A type that has a name for tracking it in a publisher stream.
public protocol CustomCombineIdentifierConvertible {
  /// The unique name.
  var combineIdentifier: CombineIdentifier { get }
}

extension CustomCombineIdentifierConvertible where Self: AnyObject {
  /// The name made from the object's identity.
  public var combineIdentifier: CombineIdentifier {
    CombineIdentifier(self)
  }
}
