/// An object that keeps what is associated with it; on Apple's platforms every object does.
@MainActor
public protocol _AssociationOwner: AnyObject {
  /// What is associated with it, by key.
  var _associations: [UnsafeRawPointer: Any] { get set }
}

/// How an associated object is kept.
public enum objc_AssociationPolicy: UInt, Sendable {
  /// Strongly.
  case OBJC_ASSOCIATION_RETAIN_NONATOMIC = 1
}

/// Associates a value with an object, which releases it when it goes itself.
public func objc_setAssociatedObject(
  _ object: Any,
  _ key: UnsafeRawPointer,
  _ value: Any?,
  _ policy: objc_AssociationPolicy,
) {
  nonisolated(unsafe) let (object, key, value) = (object, key, value)
  MainActor.assumeIsolated { (object as? any _AssociationOwner)?._associations[key] = value }
}

/// Returns the value that is associated with an object.
public func objc_getAssociatedObject(_ object: Any, _ key: UnsafeRawPointer) -> Any? {
  nonisolated(unsafe) let (object, key) = (object, key)
  nonisolated(unsafe) var value: Any?
  MainActor.assumeIsolated { value = (object as? any _AssociationOwner)?._associations[key] }
  return value
}
