import Foundation

/// A value that the host keeps for a view.
///
/// It lives as long as the view's identity.
@propertyWrapper
public struct State<Value>: DynamicProperty {
  private let seed: Value
  private var store: StateStore<Value>?

  /// Makes state with a first value.
  public init(wrappedValue value: Value) {
    seed = value
  }

  /// The value.
  ///
  /// Outside a view that is shown it is the first value, and a write has no effect.
  public var wrappedValue: Value {
    get { store?.value ?? seed }
    nonmutating set { store?.set(newValue) }
  }

  /// A binding to the value.
  public var projectedValue: Binding<Value> {
    guard let store else { return Binding(getter: { [seed] in seed }, setter: { _, _ in }) }
    return Binding(getter: { store.value }, setter: { value, _ in store.set(value) })
  }
}

extension State: Installable {
  mutating func install(_ installer: Installer) {
    let seed = seed
    store = installer.slot { StateStore(seed, installer.invalidation) }
  }
}

/// The place of a value that is kept for a view.
///
/// Unchecked: all state is behind a lock; values are Sendable wherever the
/// wrapper crosses a boundary.
nonisolated final class StateStore<Value>: @unchecked Sendable, Disconnectable {
  private let lock = NSLock()
  private var current: Value
  private var invalidation: Invalidation?

  init(_ value: Value, _ invalidation: Invalidation) {
    current = value
    self.invalidation = invalidation
  }

  var value: Value {
    lock.withLock { current }
  }

  func set(_ new: Value) {
    let (old, target) = lock.withLock {
      defer { current = new }
      return (current, invalidation)
    }
    target?.noteWrite("state")
    if !areEqual(old, new) { target?.mark() }
  }

  func disconnect() {
    lock.withLock { invalidation = nil }
  }
}

/// Whether two values are known to be equal.
nonisolated func areEqual<T>(_ lhs: T, _ rhs: T) -> Bool {
  func compare<E: Equatable>(_ lhs: E) -> Bool {
    (rhs as? E) == lhs
  }
  if let lhs = lhs as? any Equatable { return compare(lhs) }
  if T.self is AnyClass { return (lhs as AnyObject) === (rhs as AnyObject) }
  return false
}
