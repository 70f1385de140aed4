import Foundation

/// An object that tells before it changes.
public protocol ObservableObject: AnyObject {
  /// The kind of publisher.
  associatedtype ObjectWillChangePublisher: Publisher = ObservableObjectPublisher
  where ObjectWillChangePublisher.Failure == Never

  /// Sends before the object changes.
  var objectWillChange: ObjectWillChangePublisher { get }
}

extension ObservableObject where ObjectWillChangePublisher == ObservableObjectPublisher {
  /// Sends before a `@Published` property of the object changes.
  public var objectWillChange: ObservableObjectPublisher {
    ObjectPublishers.shared.publisher(of: self)
  }
}

/// A publisher that tells that an object will change.
public final class ObservableObjectPublisher: Publisher {
  /// The kind of values.
  public typealias Output = Void
  /// The kind of errors: none.
  public typealias Failure = Never

  private let list = ConduitList<Void, Never>(current: nil)

  /// Makes a publisher.
  public init() {}

  /// Attaches a subscriber.
  public func receive<S>(subscriber: S) where S: Subscriber, S.Failure == Never, S.Input == Void {
    list.attach(AnySubscriber(subscriber))
  }

  /// Tells the subscribers.
  public func send() {
    list.send(())
  }
}

/// The publisher of each object that uses the default one.
///
/// Unchecked: all state is behind a lock.
final class ObjectPublishers: @unchecked Sendable {
  static let shared = ObjectPublishers()

  private struct Entry {
    weak var object: AnyObject?
    let publisher: ObservableObjectPublisher
  }

  private let lock = NSLock()
  private var entries: [ObjectIdentifier: Entry] = [:]
  private var limit = 64

  /// The publisher of an object, which is made when first asked for.
  ///
  /// The object's published properties are then told to call it.
  func publisher(of object: AnyObject) -> ObservableObjectPublisher {
    let (publisher, isNew) = find(object)
    if isNew {
      var mirror: Mirror? = Mirror(reflecting: object)
      while let level = mirror {
        for case let property as any AnyPublished in level.children.map(\.value) {
          property.setWillChange(publisher)
        }
        mirror = level.superclassMirror
      }
    }
    return publisher
  }

  private func find(_ object: AnyObject) -> (ObservableObjectPublisher, isNew: Bool) {
    lock.withLock {
      if let known = entries[ObjectIdentifier(object)], known.object === object {
        return (known.publisher, false)
      }
      if entries.count >= limit {
        entries = entries.filter { $0.value.object != nil }
        limit = Swift.max(64, entries.count * 2)
      }
      let publisher = ObservableObjectPublisher()
      entries[ObjectIdentifier(object)] = Entry(object: object, publisher: publisher)
      return (publisher, true)
    }
  }
}
