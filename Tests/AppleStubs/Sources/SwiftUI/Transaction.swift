import Foundation

/// The context of a change, such as its animation.
public struct Transaction {
  /// The animation of the change, if any.
  public var animation: Animation?

  /// Makes a transaction without animation.
  public init() {}

  /// Makes a transaction with an animation.
  public init(animation: Animation?) {
    self.animation = animation
  }

  var isPlain: Bool {
    animation == nil
  }
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
