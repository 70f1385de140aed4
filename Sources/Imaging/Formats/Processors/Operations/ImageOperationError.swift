/// The reason why a text names no operation, or why an operation cannot be done.
///
/// The ``description`` names the operation, the parameter, its range, and the value that was given.
public struct ImageOperationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The name of the operation, as it was given.
  public let operation: String
  /// The name and the fault: `'blur' takes a number from 0 to 1000, not '-1'`.
  public let description: String

  package init(_ operation: String, _ description: String) {
    (self.operation, self.description) = (operation, "'\(operation.prefix(40))' \(description)")
  }
}
