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
  var objects: [ObjectIdentifier: AnyObject] = [:]

  /// Makes the default values.
  public init() {}

  /// The value of a key.
  public subscript<K>(key: K.Type) -> K.Value where K: EnvironmentKey {
    get { values[ObjectIdentifier(key)] as? K.Value ?? K.defaultValue }
    set { values[ObjectIdentifier(key)] = newValue }
  }

  /// How many pixels there are to a point.
  public var displayScale: CGFloat = 1
  /// The size of a pixel.
  public var pixelLength: CGFloat { displayScale > 0 ? 1 / displayScale : 1 }
  /// Whether the interface is light or dark.
  public var colorScheme: ColorScheme = .light
  /// Whether the scene is in the foreground.
  public var scenePhase: ScenePhase = .active
  /// The default font.
  public var font: Font?
  /// The size of symbols in relation to the text.
  public var imageScale: Image.Scale = .medium
  /// The default way to draw symbols.
  public var symbolRenderingMode: SymbolRenderingMode?
  /// How bright pictures may be.
  public var allowedDynamicRange: Image.DynamicRange?
  /// Whether the user wants less movement; set `_accessibilityReduceMotion` to change it.
  public var accessibilityReduceMotion: Bool { _accessibilityReduceMotion }
  /// What `accessibilityReduceMotion` tells.
  public var _accessibilityReduceMotion = false
}

/// Whether the interface is light or dark.
public enum ColorScheme: CaseIterable, Hashable, Sendable {
  /// The appearances.
  case light, dark
}

/// Whether a scene is in use.
public enum ScenePhase: Comparable, Hashable, Sendable {
  /// Out of sight.
  case background
  /// In sight, but not in use.
  case inactive
  /// In use.
  case active
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

extension Environment {
  /// Makes a property of an observable object, which must be there when it is read.
  public init(_ objectType: Value.Type) where Value: AnyObject, Value: Observable {
    read = { values in
      guard let object = values.objects[ObjectIdentifier(Value.self)] as? Value else {
        preconditionFailure("No Observable object of type \(Value.self) found.")
      }
      return object
    }
  }

  /// Makes a property of an observable object that may be missing.
  public init<T>(_ objectType: T.Type) where Value == T?, T: AnyObject, T: Observable {
    read = { $0.objects[ObjectIdentifier(T.self)] as? T }
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
    changing("environment") { $0.environment[keyPath: keyPath] = value }
  }

  /// Puts an observable object in the environment, or takes it away.
  nonisolated public func environment<T>(_ object: T?) -> some View where T: AnyObject, T: Observable {
    changing("environment") { $0.environment.objects[ObjectIdentifier(T.self)] = object }
  }

  /// Puts an object in the environment.
  nonisolated public func environmentObject<T>(_ object: T) -> some View where T: ObservableObject {
    changing("environmentObject") { $0.environment.objects[ObjectIdentifier(T.self)] = object }
  }

  /// Changes a value of the environment.
  nonisolated public func transformEnvironment<V>(
    _ keyPath: WritableKeyPath<EnvironmentValues, V>,
    transform: @escaping (inout V) -> Void,
  ) -> some View {
    changing("transformEnvironment") { transform(&$0.environment[keyPath: keyPath]) }
  }
}
