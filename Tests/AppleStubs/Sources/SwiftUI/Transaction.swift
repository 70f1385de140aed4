import Foundation

/// The context of a change, such as its animation.
public struct Transaction {
  /// The animation of the change, if any.
  public var animation: Animation?
  /// Whether animations that views define are left out.
  public var disablesAnimations = false
  /// Whether the change is part of a continuous gesture.
  public var isContinuous = false
  private var values: [ObjectIdentifier: Any] = [:]

  /// Makes a transaction without animation.
  public init() {}

  /// Makes a transaction with an animation.
  public init(animation: Animation?) {
    self.animation = animation
  }

  /// The value of a key.
  public subscript<K>(key: K.Type) -> K.Value where K: TransactionKey {
    get { values[ObjectIdentifier(key)] as? K.Value ?? K.defaultValue }
    set { values[ObjectIdentifier(key)] = newValue }
  }

  var isPlain: Bool {
    animation == nil && !disablesAnimations && !isContinuous && values.isEmpty
  }
}

/// A key for a value of a transaction.
public protocol TransactionKey {
  /// The kind of value.
  associatedtype Value
  /// The value where none is set.
  static var defaultValue: Value { get }
}

// The transaction that is current on a thread, while `withTransaction` runs.
extension Transaction {
  private static let threadKey = "Stub.SwiftUI.Transaction"

  static var current: Transaction {
    Thread.current.threadDictionary[threadKey] as? Transaction ?? Transaction()
  }

  static func with<Result>(_ transaction: Transaction, _ body: () throws -> Result) rethrows -> Result {
    let dictionary = Thread.current.threadDictionary
    let outer = dictionary[threadKey]
    dictionary[threadKey] = transaction
    defer { dictionary[threadKey] = outer }
    return try body()
  }
}

/// Runs a closure, whose changes get a transaction.
public func withTransaction<Result>(
  _ transaction: Transaction,
  _ body: () throws -> Result,
) rethrows -> Result {
  try Transaction.with(transaction, body)
}

/// Runs a closure, whose changes get a transaction with one value set.
public func withTransaction<R, V>(
  _ keyPath: WritableKeyPath<Transaction, V>,
  _ value: V,
  _ body: () throws -> R,
) rethrows -> R {
  var transaction = Transaction()
  transaction[keyPath: keyPath] = value
  return try Transaction.with(transaction, body)
}

/// Runs a closure, whose changes get an animation.
public func withAnimation<Result>(
  _ animation: Animation? = .default,
  _ body: () throws -> Result,
) rethrows -> Result {
  var transaction = Transaction.current
  transaction.animation = animation
  return try Transaction.with(transaction, body)
}
