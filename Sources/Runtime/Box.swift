/// A value behind a reference, for large properties that are mostly absent.
@usableFromInline
package final class Box<Value: Sendable>: Sendable {
  @usableFromInline
  package let value: Value

  @inlinable
  package init(_ value: Value) { self.value = value }
}

/// A value behind a reference that its copies share until one of them changes.
///
/// It suits large values that a waiting load holds several copies of.
@usableFromInline
package struct Shared<Value: Sendable>: Sendable {
  // @unchecked: the value is changed only through a `Shared` that holds the sole reference.
  @usableFromInline
  final class Storage: @unchecked Sendable {
    @usableFromInline
    var value: Value

    @inlinable
    init(_ value: Value) { self.value = value }
  }

  @usableFromInline
  var storage: Storage

  @inlinable
  package init(_ value: Value) { storage = Storage(value) }

  @inlinable
  package var value: Value {
    get { storage.value }
    _modify {
      if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
      yield &storage.value
    }
  }
}

extension Shared: Equatable where Value: Equatable {
  @inlinable
  package static func == (left: Shared, right: Shared) -> Bool {
    left.storage === right.storage || left.value == right.value
  }
}

extension Shared: Hashable where Value: Hashable {
  @inlinable
  package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
