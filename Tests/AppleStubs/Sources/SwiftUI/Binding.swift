/// A way to read and write a value that is kept elsewhere.
@propertyWrapper
@dynamicMemberLookup
public struct Binding<Value> {
  private let getter: () -> Value
  private let setter: (Value, Transaction) -> Void

  /// The transaction of the changes that are made through the binding.
  public var transaction = Transaction()

  init(getter: @escaping () -> Value, setter: @escaping (Value, Transaction) -> Void) {
    self.getter = getter
    self.setter = setter
  }

  /// Makes a binding of closures.
  @preconcurrency
  public init(
    @_inheritActorContext get: @escaping @isolated(any) @Sendable () -> Value,
    @_inheritActorContext set: @escaping @isolated(any) @Sendable (Value) -> Void,
  ) {
    // A binding is read and written where the view is; the types differ only
    // in what the closure says about its actor.
    getter = unsafeBitCast(get, to: (() -> Value).self)
    let write = unsafeBitCast(set, to: ((Value) -> Void).self)
    setter = { value, _ in write(value) }
  }

  /// Makes a binding of closures, one of which takes the transaction.
  @preconcurrency
  public init(
    @_inheritActorContext get: @escaping @isolated(any) @Sendable () -> Value,
    @_inheritActorContext set: @escaping @isolated(any) @Sendable (Value, Transaction) -> Void,
  ) {
    getter = unsafeBitCast(get, to: (() -> Value).self)
    setter = unsafeBitCast(set, to: ((Value, Transaction) -> Void).self)
  }

  /// Makes a binding of a binding to an optional, or nil if there is no value now.
  public init?(_ base: Binding<Value?>) {
    guard let first = base.wrappedValue else { return nil }
    self.init(getter: { base.wrappedValue ?? first }, setter: { base.write($0, $1) })
  }

  /// Makes a binding of the projected value of another one.
  public init(projectedValue: Binding<Value>) {
    self = projectedValue
  }

  /// Makes a binding that always has the same value.
  public static func constant(_ value: Value) -> Binding<Value> {
    Binding(getter: { value }, setter: { _, _ in })
  }

  /// The value.
  public var wrappedValue: Value {
    get { getter() }
    nonmutating set { write(newValue, transaction) }
  }

  /// The binding itself.
  public var projectedValue: Binding<Value> {
    self
  }

  /// A binding to a part of the value.
  public subscript<Subject>(dynamicMember keyPath: WritableKeyPath<Value, Subject>) -> Binding<Subject> {
    var part = Binding<Subject>(
      getter: { getter()[keyPath: keyPath] },
      setter: { value, transaction in
        var whole = getter()
        whole[keyPath: keyPath] = value
        write(whole, transaction)
      },
    )
    part.transaction = transaction
    return part
  }

  /// The same binding with another transaction.
  public func transaction(_ transaction: Transaction) -> Binding<Value> {
    var copy = self
    copy.transaction = transaction
    return copy
  }

  /// The same binding with an animation.
  public func animation(_ animation: Animation? = .default) -> Binding<Value> {
    var copy = self
    copy.transaction.animation = animation
    return copy
  }

  private func write(_ value: Value, _ transaction: Transaction) {
    if transaction.isPlain {
      setter(value, transaction)
    } else {
      withTransaction(transaction) { setter(value, transaction) }
    }
  }
}

// Unchecked: the closures of the public initializers are Sendable, and those
// made here go to a store that is behind a lock.
extension Binding: @unchecked Sendable where Value: Sendable {}

extension Binding: DynamicProperty {}

/// A wrapper that makes bindings to the properties of an observable object.
@propertyWrapper
@dynamicMemberLookup
public struct Bindable<Value> {
  /// The object.
  public var wrappedValue: Value

  private init(object: Value) {
    wrappedValue = object
  }

  /// Not for use: the value must be an observable object.
  @available(*, unavailable, message: "The wrapped value must be an object that conforms to Observable")
  public init(wrappedValue: Value) {
    self.init(object: wrappedValue)
  }

  /// The wrapper itself.
  public var projectedValue: Bindable<Value> {
    self
  }
}

extension Bindable where Value: AnyObject {
  /// A binding to a property of the object.
  public subscript<Subject>(dynamicMember keyPath: ReferenceWritableKeyPath<Value, Subject>) -> Binding<Subject> {
    let object = wrappedValue
    return Binding(getter: { object[keyPath: keyPath] }, setter: { value, _ in object[keyPath: keyPath] = value })
  }
}

extension Bindable where Value: AnyObject, Value: Observable {
  /// Makes a wrapper of an object.
  public init(wrappedValue: Value) {
    self.init(object: wrappedValue)
  }

  /// Makes a wrapper of an object.
  public init(_ wrappedValue: Value) {
    self.init(object: wrappedValue)
  }
}
