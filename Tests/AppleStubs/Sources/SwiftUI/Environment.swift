/// A key for a value of the environment.
public protocol EnvironmentKey {
  /// The kind of value.
  associatedtype Value
  /// The value where none is set.
  static var defaultValue: Value { get }
}

/// The values that views inherit.
public struct EnvironmentValues {
  private var values: [ObjectIdentifier: Any] = [:]

  /// Makes the default values.
  public init() {}

  /// The value of a key.
  public subscript<K>(key: K.Type) -> K.Value where K: EnvironmentKey {
    get { values[ObjectIdentifier(key)] as? K.Value ?? K.defaultValue }
    set { values[ObjectIdentifier(key)] = newValue }
  }

  /// How bright pictures may be.
  public var allowedDynamicRange: Image.DynamicRange?
  /// Whether the user wants less movement; set `_accessibilityReduceMotion` to change it.
  public var accessibilityReduceMotion: Bool { _accessibilityReduceMotion }
  /// What `accessibilityReduceMotion` tells.
  public var _accessibilityReduceMotion = false
}

/// A value of the environment.
@propertyWrapper
public struct Environment<Value>: DynamicProperty {
  private let read: (EnvironmentValues) -> Value
  private var values = EnvironmentValues()

  /// Makes a property of a key path.
  public init(_ keyPath: KeyPath<EnvironmentValues, Value>) {
    read = { $0[keyPath: keyPath] }
  }

  /// The value.
  public var wrappedValue: Value {
    read(values)
  }
}

// Unchecked: what is stored is a closure over a constant key path or type, and
// values that the host writes before the body is evaluated.
extension Environment: @unchecked Sendable where Value: Sendable {}

extension Environment: Installable {
  mutating func install(_ installer: Installer) {
    values = installer.environment
  }
}

extension View {
  /// Sets a value of the environment for the view and what is in it.
  nonisolated public func environment<V>(
    _ keyPath: WritableKeyPath<EnvironmentValues, V>,
    _ value: V,
  ) -> some View {
    changing { $0.environment[keyPath: keyPath] = value }
  }

  /// Changes a value of the environment.
  nonisolated public func transformEnvironment<V>(
    _ keyPath: WritableKeyPath<EnvironmentValues, V>,
    transform: @escaping (inout V) -> Void,
  ) -> some View {
    changing { transform(&$0.environment[keyPath: keyPath]) }
  }
}
