public import CGTK
import CVitrineGTK

/// Sets a property of an object.
///
/// ```swift
/// setProperty(label, "label", "Hello")
/// setProperty(label, "xalign", 0.0)
/// ```
/// In debug builds the program stops if the object has no such property, or one of another type. In release builds
/// nothing is set. See ``GTKObject`` for the same without pointers.
///
/// - Parameters:
///   - object: The object.
///   - property: The name.
///   - value: A value of a type of ``SignalValue``, which the object copies or retains.
@MainActor
public func setProperty(_ object: (some ObjectPointer)?, _ property: String, _ value: some SignalValue) {
  guard let object else { return assertionFailure("there is no object") }
  if let mistake = unsafe set(object.objectAddress, property, value) { assertionFailure(mistake) }
}

/// Returns the value of a property; `nil` if there is none, or after a mistake.
@MainActor
func getProperty<Value: SignalValue>(_ object: some ObjectPointer, _ property: String) -> Value? {
  var result: Value?
  let mistake = unsafe access(object.objectAddress, property, Value.self) { store in
    unsafe g_object_get_property(cast(object), property, store)
    unsafe result = Value(signalValue: store)
  }
  if let mistake { assertionFailure(mistake) }
  return result
}

/// Sets a property, and returns what is wrong with it, if anything is.
@MainActor
func set<Value: SignalValue>(_ object: UnsafeMutableRawPointer, _ property: String, _ value: Value) -> String? {
  unsafe access(object, property, Value.self) { store in
    unsafe value.store(in: store)
    unsafe g_object_set_property(cast(object), property, store)
  }
}

/// Calls a closure with a value of a property's type, and returns what is wrong with the property, if anything is.
@MainActor
private func access<Value: SignalValue>(
  _ object: UnsafeMutableRawPointer,
  _ property: String,
  _: Value.Type,
  _ body: (UnsafeMutablePointer<GValue>) -> Void,
) -> String? {
  let title = unsafe "\"\(property)\" of \(className(of: object))"
  // The class outlives its object, and the specification the class.
  guard let specification = unsafe vitrine_gtk_property(object, property) else {
    return "there is no property \(title)"
  }
  let type = unsafe specification.pointee.value_type
  guard Value.accepts(type) else {
    return unsafe "\(title) is a \(String(cString: g_type_name(type))), not a \(Value.self)"
  }
  var store = GValue()
  // Set up for exactly the type that was accepted, and freed after its value has been copied.
  unsafe g_value_init(&store, type)
  unsafe body(&store)
  unsafe g_value_unset(&store)
  return nil
}

extension UnsafeMutablePointer where Pointee == GObject {
  /// The text of an item of a `GtkStringList`; `nil` for an item of another model.
  @MainActor
  public var text: String? {
    let item: OpaquePointer? = unsafe cast(self, as: gtk_string_object_get_type())
    // The object owns the text, and is alive during the call.
    return unsafe item.flatMap { unsafe gtk_string_object_get_string($0) }.map { unsafe String(cString: $0) }
  }
}
