public import CGTK

/// An object of GTK's, which this one retains, with its properties and signals.
///
/// ```swift
/// let adjustment = scrolled.object("vadjustment")
/// adjustment?.on("value-changed") { print("scrolled") }
/// adjustment?.set("value", 0.0)
/// ```
/// Nothing here touches memory that is not the object's. In debug builds the program stops at a property or a signal that
/// the object does not have, and at one of another type. In release builds nothing happens there.
///
/// A closure of one of its signals must not retain this object: the two would keep each other. Capture it weakly.
@MainActor
@safe
public class GTKObject {
  /// The object.
  ///
  /// - Important: It is valid as long as this one.
  public let object: UnsafeMutablePointer<GObject>

  /// Retains an object.
  ///
  /// This object takes over a floating reference, which a new widget has.
  ///
  /// - Parameters:
  ///   - pointer: The object.
  ///   - isOwned: A Boolean value that indicates whether the caller passes on a reference of its own, as it has one of
  ///     each new object that is no widget. Defaults to `false`.
  public init(_ pointer: some ObjectPointer, isOwned: Bool = false) {
    unsafe object = UnsafeMutablePointer(objectAddress: pointer.objectAddress)
    // Released in `deinit`.
    if unsafe !isOwned || g_object_is_floating(object) != 0 { unsafe g_object_ref_sink(object) }
  }

  /// Retains an object of another owner, to whom a floating reference stays.
  ///
  /// From GTK 4.12 on a list binds a cell before it takes over the widget around it: an object that took it over instead would
  /// destroy the widget when it goes itself.
  init(borrowing pointer: some ObjectPointer) {
    unsafe object = UnsafeMutablePointer(objectAddress: pointer.objectAddress)
    unsafe g_object_ref(object)
  }

  isolated deinit { unsafe g_object_unref(object) }

  // MARK: Properties

  /// Sets a property.
  ///
  /// - Parameters:
  ///   - property: The name.
  ///   - value: A number, a Boolean value, a text, or an enumeration of C's. The object copies it.
  public func set(_ property: String, _ value: some SignalValue) { unsafe setProperty(object, property, value) }

  /// Sets a property to an object, which that object retains, or to none.
  public func set(_ property: String, _ value: GTKObject?) {
    unsafe setProperty(object, property, ObjectValue(object: value?.object))
  }

  /// Returns the value of a property; `nil` for a text that there is not.
  public func get<Value: SignalValue>(_ property: String, as type: Value.Type = Value.self) -> Value? {
    unsafe getProperty(object, property)
  }

  /// Returns the object that is the value of a property; `nil` if there is none.
  public func object(_ property: String) -> GTKObject? {
    let value: ObjectValue? = unsafe getProperty(object, property)
    return unsafe value?.object.map { unsafe GTKObject(borrowing: $0) }
  }

  // MARK: Signals

  /// Calls a closure at each emission of a signal.
  ///
  /// The closure names the types of its arguments, and may take fewer than the signal has. See ``SignalValue`` for the types.
  @discardableResult
  public func on<each Argument: SignalValue>(
    _ signal: String,
    _ body: @escaping @MainActor (repeat each Argument) -> Void,
  ) -> SignalConnection {
    unsafe connect(object, signal, body)
  }

  /// Calls a closure at each emission of a signal, and returns its result to the sender.
  @discardableResult
  public func on<each Argument: SignalValue, Result: SignalValue>(
    _ signal: String,
    answering body: @escaping @MainActor (repeat each Argument) -> Result,
  ) -> SignalConnection {
    unsafe connect(object, signal, body)
  }
}

/// The value of a property for objects, unlike ``SignalValue`` of pointers not for structures.
@safe
struct ObjectValue: SignalValue {
  let object: UnsafeMutablePointer<GObject>?

  init(object: UnsafeMutablePointer<GObject>?) { unsafe self.object = object }

  static func accepts(_ type: GType) -> Bool { g_type_is_a(type, g_object_get_type()) != 0 }

  init?(signalValue: UnsafePointer<GValue>) {
    // Of an accepted type. The object that has the property retains it.
    unsafe object = g_value_get_object(signalValue).map { unsafe UnsafeMutablePointer(objectAddress: $0) }
  }

  func store(in value: UnsafeMutablePointer<GValue>) {
    // GObject compares the classes.
    unsafe g_value_set_object(value, object.map { UnsafeMutableRawPointer($0) })
  }
}
