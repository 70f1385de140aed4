/// A value behind a reference, for what is mostly absent and would take much room within its owner.
package final class Box<Value: Sendable>: Sendable {
  package let value: Value

  package init(_ value: Value) { self.value = value }
}
