public import CGTK
import CVitrineGTK

/// A type that an argument or the result of a signal can have in Swift.
///
/// These are integers, floating-point numbers, `Bool`, `String`, pointers, and optionals of them. Enumerations and
/// flags are integers in GObject; an empty extension adds a type of C:
///
/// ```swift
/// extension GtkDirectionType: SignalValue {}
/// ```
public protocol SignalValue {
  /// Returns `true` if values of a type of GObject can be read as this type.
  static func accepts(_ type: GType) -> Bool

  /// Reads a value of an accepted type; returns `nil` for a pointer to nothing.
  init?(signalValue: UnsafePointer<GValue>)

  /// Sets a value of an accepted type.
  func store(in value: UnsafeMutablePointer<GValue>)
}

extension SignalValue where Self: FixedWidthInteger {
  /// Returns `true` for integers, enumerations and flags.
  public static func accepts(_ type: GType) -> Bool { vitrine_gtk_kind(type) == VITRINE_VALUE_INTEGER }

  /// Reads an integer; a larger one loses its upper bits.
  public init?(signalValue: UnsafePointer<GValue>) {
    unsafe self.init(truncatingIfNeeded: vitrine_gtk_integer(signalValue))
  }

  /// Sets an integer; a larger one loses its upper bits.
  public func store(in value: UnsafeMutablePointer<GValue>) {
    unsafe vitrine_gtk_set_integer(value, gint64(truncatingIfNeeded: self))
  }
}

extension SignalValue where Self: RawRepresentable, RawValue: FixedWidthInteger {
  /// Returns `true` for integers, enumerations and flags.
  public static func accepts(_ type: GType) -> Bool { vitrine_gtk_kind(type) == VITRINE_VALUE_INTEGER }

  /// Reads an enumeration or flags.
  public init?(signalValue: UnsafePointer<GValue>) {
    unsafe self.init(rawValue: RawValue(truncatingIfNeeded: vitrine_gtk_integer(signalValue)))
  }

  /// Sets an enumeration or flags.
  public func store(in value: UnsafeMutablePointer<GValue>) {
    unsafe vitrine_gtk_set_integer(value, gint64(truncatingIfNeeded: rawValue))
  }
}

extension Int: SignalValue {}
extension Int32: SignalValue {}
extension Int64: SignalValue {}
extension UInt: SignalValue {}
extension UInt32: SignalValue {}
extension UInt64: SignalValue {}
extension GdkModifierType: SignalValue {}
extension GtkJustification: SignalValue {}
extension GtkNaturalWrapMode: SignalValue {}
extension GtkPolicyType: SignalValue {}
extension PangoEllipsizeMode: SignalValue {}
extension PangoWrapMode: SignalValue {}

extension Double: SignalValue {
  /// Returns `true` for floating-point numbers.
  public static func accepts(_ type: GType) -> Bool { vitrine_gtk_kind(type) == VITRINE_VALUE_REAL }

  /// Reads a number.
  public init?(signalValue: UnsafePointer<GValue>) { unsafe self = vitrine_gtk_real(signalValue) }

  /// Sets a number.
  public func store(in value: UnsafeMutablePointer<GValue>) { unsafe vitrine_gtk_set_real(value, self) }
}

extension Bool: SignalValue {
  /// Returns `true` for Boolean values.
  public static func accepts(_ type: GType) -> Bool { vitrine_gtk_kind(type) == VITRINE_VALUE_BOOLEAN }

  /// Reads a Boolean value.
  public init?(signalValue: UnsafePointer<GValue>) { unsafe self = g_value_get_boolean(signalValue) != 0 }

  /// Sets a Boolean value.
  public func store(in value: UnsafeMutablePointer<GValue>) { unsafe g_value_set_boolean(value, self ? 1 : 0) }
}

extension String: SignalValue {
  /// Returns `true` for strings.
  public static func accepts(_ type: GType) -> Bool { vitrine_gtk_kind(type) == VITRINE_VALUE_STRING }

  /// Copies a string; bytes that are not UTF-8 are replaced.
  public init?(signalValue: UnsafePointer<GValue>) {
    // The value owns the string, and outlives this call.
    guard let text = unsafe g_value_get_string(signalValue) else { return nil }
    unsafe self.init(cString: text)
  }

  /// Sets a copy of the string.
  public func store(in value: UnsafeMutablePointer<GValue>) { unsafe g_value_set_string(value, self) }
}

extension SignalValue where Self: ObjectPointer {
  /// Returns `true` for objects, boxed structures and other pointers.
  public static func accepts(_ type: GType) -> Bool { vitrine_gtk_kind(type) == VITRINE_VALUE_POINTER }

  /// Reads a pointer, which the sender owns.
  public init?(signalValue: UnsafePointer<GValue>) {
    guard let address = unsafe g_value_peek_pointer(signalValue) else { return nil }
    unsafe self.init(objectAddress: address)
  }

  /// Sets a pointer; the value takes a reference or a copy.
  public func store(in value: UnsafeMutablePointer<GValue>) { unsafe vitrine_gtk_set_pointer(value, objectAddress) }
}

extension OpaquePointer: @unsafe SignalValue {}
extension UnsafeMutablePointer: @unsafe SignalValue {}
extension UnsafeMutableRawPointer: @unsafe SignalValue {}

extension Optional: SignalValue where Wrapped: SignalValue {
  /// Returns `true` for the types that the wrapped type accepts.
  public static func accepts(_ type: GType) -> Bool { Wrapped.accepts(type) }

  /// Reads a value, which may be a pointer to nothing.
  public init?(signalValue: UnsafePointer<GValue>) {
    if let value = unsafe Wrapped(signalValue: signalValue) { self = .some(value) } else { self = .none }
  }

  /// Sets the value; `nil` leaves it empty.
  public func store(in value: UnsafeMutablePointer<GValue>) { unsafe self?.store(in: value) }
}
