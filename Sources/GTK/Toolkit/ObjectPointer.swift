public import CGTK
import CVitrineGTK

/// A pointer to a GObject, in any of the forms that Swift gives to C's pointers.
///
/// GTK's functions take some objects as pointers to structures, such as `UnsafeMutablePointer<GtkBox>`, and others as
/// `OpaquePointer`. Constructors return `UnsafeMutablePointer<GtkWidget>`, whatever they make. ``cast(_:)`` converts
/// between them.
public protocol ObjectPointer {
  /// Makes a pointer of an address.
  init(objectAddress: UnsafeMutableRawPointer)

  /// The address of the object.
  var objectAddress: UnsafeMutableRawPointer { get }

  /// The name of the class that the pointer is for; `nil` if several classes have its form.
  static var className: String? { get }
}

extension OpaquePointer: @unsafe ObjectPointer {
  /// Makes a pointer of an address.
  public init(objectAddress: UnsafeMutableRawPointer) { self.init(objectAddress) }

  /// The address of the object.
  public var objectAddress: UnsafeMutableRawPointer { unsafe UnsafeMutableRawPointer(self) }

  /// The value `nil`: many classes have this form.
  public static var className: String? { nil }
}

extension UnsafeMutableRawPointer: @unsafe ObjectPointer {
  /// Makes a pointer of an address.
  public init(objectAddress: UnsafeMutableRawPointer) { unsafe self = objectAddress }

  /// The address of the object.
  public var objectAddress: UnsafeMutableRawPointer { unsafe self }

  /// The value `nil`: many classes have this form.
  public static var className: String? { nil }
}

extension UnsafeMutablePointer: @unsafe ObjectPointer {
  /// Makes a pointer of an address.
  public init(objectAddress: UnsafeMutableRawPointer) {
    // Every GObject begins with the structures of the classes that it inherits from.
    unsafe self = objectAddress.assumingMemoryBound(to: Pointee.self)
  }

  /// The address of the object.
  public var objectAddress: UnsafeMutableRawPointer { UnsafeMutableRawPointer(self) }

  /// The name of the structure, which the class shares.
  public static var className: String? {
    // C's `typedef struct _GtkBox GtkBox`.
    let name = String(describing: Pointee.self)
    return name.hasPrefix("_") ? String(name.dropFirst()) : name
  }
}

/// Converts an object to the form that a function of GTK takes.
///
/// ```swift
/// let box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6)
/// let label = gtk_label_new("Hello")
/// gtk_label_set_xalign(cast(label), 0)
/// gtk_box_append(cast(box), label)
/// ```
/// The result has the type that is expected of it. In debug builds the program stops if the object is not of the
/// class that the type names; `OpaquePointer` names none. `nil` stays `nil`.
///
/// - Complexity: O(1).
public func cast<Source: ObjectPointer, Target: ObjectPointer>(_ object: Source?) -> Target! {
  guard let object else { return nil }
  assert(mistake(object, Target.self) == nil, mistake(object, Target.self) ?? "")
  return unsafe Target(objectAddress: object.objectAddress)
}

/// Converts an object if it is of a class, or implements an interface; returns `nil` otherwise.
///
/// ```swift
/// if let label: OpaquePointer = cast(child, as: gtk_label_get_type()) {
///   gtk_label_set_text(label, "Hello")
/// }
/// ```
/// The type is the class's or the interface's own, by its `…_get_type()`.
public func cast<Source: ObjectPointer, Target: ObjectPointer>(_ object: Source?, as type: GType) -> Target? {
  guard let object, unsafe isInstance(object.objectAddress, of: type) else { return nil }
  return unsafe Target(objectAddress: object.objectAddress)
}

/// Returns `true` if the object is of a class, or implements an interface.
func isInstance(_ object: UnsafeMutableRawPointer, of type: GType) -> Bool {
  // Every object of GObject's type system begins with this structure.
  unsafe g_type_check_instance_is_a(object.assumingMemoryBound(to: GTypeInstance.self), type) != 0
}

/// Returns the name of an object's class.
func className(of object: UnsafeMutableRawPointer) -> String {
  // GLib keeps the names of types for the life of the process.
  unsafe String(cString: g_type_name(vitrine_gtk_type(object)))
}

/// Returns what is wrong with a conversion; `nil` if nothing is known to be.
func mistake<Target: ObjectPointer>(_ object: some ObjectPointer, _: Target.Type) -> String? {
  // An instance of any type.
  guard let name = Target.className, name != "GTypeInstance" else { return nil }
  // A class without a type has no instances yet.
  let type = unsafe g_type_from_name(name)
  if type != 0, unsafe isInstance(object.objectAddress, of: type) { return nil }
  return unsafe "a \(className(of: object.objectAddress)) is not a \(name)"
}
