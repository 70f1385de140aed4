/// A value behind a reference, for large properties that are mostly absent.
package final class Box<Value: Sendable>: Sendable {
  package let value: Value

  package init(_ value: Value) { self.value = value }
}

/// A value behind a reference that its copies share until one of them changes.
///
/// It suits large values that a waiting load holds several copies of.
package struct Shared<Value: Sendable>: Sendable {
  // @unchecked: the value is changed only through a `Shared` that holds the sole reference.
  private final class Storage: @unchecked Sendable {
    var value: Value

    init(_ value: Value) { self.value = value }
  }

  private var storage: Storage

  package init(_ value: Value) { storage = Storage(value) }

  package var value: Value {
    get { storage.value }
    set {
      if isKnownUniquelyReferenced(&storage) { storage.value = newValue } else { storage = Storage(newValue) }
    }
  }
}

extension Shared: Equatable where Value: Equatable {
  package static func == (left: Shared, right: Shared) -> Bool {
    left.storage === right.storage || left.value == right.value
  }
}

extension Shared: Hashable where Value: Hashable {
  package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
