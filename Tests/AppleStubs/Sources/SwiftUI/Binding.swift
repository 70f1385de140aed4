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

  private func write(_ value: Value, _ transaction: Transaction) {
    if transaction.isPlain {
      setter(value, transaction)
    } else {
      withTransaction(transaction) { setter(value, transaction) }
    }
  }
}
