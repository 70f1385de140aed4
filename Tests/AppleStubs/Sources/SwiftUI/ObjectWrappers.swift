/// An object that the host keeps for a view and watches.
///
/// It is made when the view first appears, and dropped with the view's identity.
@MainActor
@preconcurrency
@propertyWrapper
public struct StateObject<ObjectType: ObservableObject>: DynamicProperty {
  // Unsafe: set once, in the initializer, which may run anywhere; used on the main actor.
  nonisolated(unsafe) private let make: () -> ObjectType
  private var watch: ObjectWatch<ObjectType>?

  /// Makes a property of a closure that makes the object.
  nonisolated public init(wrappedValue thunk: @autoclosure @escaping () -> ObjectType) {
    make = thunk
  }

  /// The object.
  public var wrappedValue: ObjectType {
    watch?.object ?? make()
  }

  /// Makes bindings to the properties of the object.
  public var projectedValue: ObservedObject<ObjectType>.Wrapper {
    ObservedObject<ObjectType>.Wrapper(object: wrappedValue)
  }
}

extension StateObject: Installable {
  mutating func install(_ installer: Installer) {
    let make = make
    let watch = installer.slot { ObjectWatch<ObjectType>() }
    if watch.object == nil { watch.follow(make(), installer.invalidation) }
    self.watch = watch
  }
}

/// An object that the view watches and somebody else keeps.
@MainActor
@preconcurrency
@propertyWrapper
public struct ObservedObject<ObjectType: ObservableObject>: DynamicProperty {
  /// Makes bindings to the properties of an object.
  @MainActor
  @preconcurrency
  @dynamicMemberLookup
  public struct Wrapper {
    let object: ObjectType

    /// A binding to a property.
    public subscript<Subject>(
      dynamicMember keyPath: ReferenceWritableKeyPath<ObjectType, Subject>
    ) -> Binding<Subject> {
      let object = object
      return Binding(getter: { object[keyPath: keyPath] }, setter: { value, _ in object[keyPath: keyPath] = value })
    }
  }

  // Unsafe: set in the initializer, which may run anywhere; otherwise used on the main actor.
  nonisolated(unsafe) private var object: ObjectType

  /// The object.
  public var wrappedValue: ObjectType {
    get { object }
    set { object = newValue }
  }

  /// Makes bindings to the properties of the object.
  public var projectedValue: Wrapper {
    Wrapper(object: wrappedValue)
  }

  /// Makes a property of an object.
  nonisolated public init(initialValue: ObjectType) {
    object = initialValue
  }

  /// Makes a property of an object.
  nonisolated public init(wrappedValue: ObjectType) {
    object = wrappedValue
  }
}

extension ObservedObject: Installable {
  mutating func install(_ installer: Installer) {
    installer.slot { ObjectWatch<ObjectType>() }.follow(wrappedValue, installer.invalidation)
  }
}

/// An object of the environment that the view watches.
@MainActor
@preconcurrency
@propertyWrapper
public struct EnvironmentObject<ObjectType: ObservableObject>: DynamicProperty {
  private var found: ObjectType?

  /// Makes a property of the object's type.
  nonisolated public init() {}

  /// The object, which must be there.
  public var wrappedValue: ObjectType {
    guard let found else {
      preconditionFailure("No ObservableObject of type \(ObjectType.self) found.")
    }
    return found
  }

  /// Makes bindings to the properties of the object.
  public var projectedValue: ObservedObject<ObjectType>.Wrapper {
    ObservedObject<ObjectType>.Wrapper(object: wrappedValue)
  }
}

extension EnvironmentObject: Installable {
  mutating func install(_ installer: Installer) {
    found = installer.environment.objects[ObjectIdentifier(ObjectType.self)] as? ObjectType
    let watch = installer.slot { ObjectWatch<ObjectType>() }
    if let found { watch.follow(found, installer.invalidation) }
  }
}

/// Follows one object, and another one when the view gets another one.
final class ObjectWatch<ObjectType: ObservableObject>: Disconnectable {
  private(set) var object: ObjectType?
  private var link: AnyCancellable?

  func follow(_ new: ObjectType, _ invalidation: Invalidation) {
    if object === new { return }
    object = new
    link = new.objectWillChange.sink { _ in invalidation.mark() }
  }

  func disconnect() {
    link = nil
  }
}
