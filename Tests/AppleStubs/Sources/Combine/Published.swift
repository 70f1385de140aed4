import Foundation

/// A property of a class that has a publisher.
///
/// The publisher sends a new value before the property has it.
@propertyWrapper
public struct Published<Value> {
  /// The publisher of one property.
  public struct Publisher: Combine.Publisher {
    /// The kind of values.
    public typealias Output = Value
    /// The kind of errors: none.
    public typealias Failure = Never

    let box: PublishedBox<Value>

    /// Attaches a subscriber, which gets the present value first.
    public func receive<S>(subscriber: S) where Value == S.Input, S: Subscriber, S.Failure == Never {
      box.subject.receive(subscriber: subscriber)
    }
  }

  private var box: PublishedBox<Value>

  /// Makes a property with a first value.
  public init(initialValue: Value) {
    box = PublishedBox(initialValue)
  }

  /// Makes a property with a first value.
  public init(wrappedValue: Value) {
    box = PublishedBox(wrappedValue)
  }

  /// The publisher of the property.
  public var projectedValue: Publisher {
    mutating get { Publisher(box: box) }
    set { box = newValue.box }
  }

  /// Not for use: the wrapper works in classes only.
  @available(*, unavailable, message: "@Published is only available on properties of classes")
  public var wrappedValue: Value {
    get { box.value }
    set { box.value = newValue }
  }

  /// The value of the property in its object.
  public static subscript<EnclosingSelf: AnyObject>(
    _enclosingInstance object: EnclosingSelf,
    wrapped wrappedKeyPath: ReferenceWritableKeyPath<EnclosingSelf, Value>,
    storage storageKeyPath: ReferenceWritableKeyPath<EnclosingSelf, Published<Value>>,
  ) -> Value {
    get { object[keyPath: storageKeyPath].box.value }
    set { object[keyPath: storageKeyPath].box.value = newValue }
  }
}

extension Published: AnyPublished {
  func setWillChange(_ publisher: ObservableObjectPublisher) {
    box.setWillChange(publisher)
  }
}

/// A published property of any type, which can be told what to call before a change.
protocol AnyPublished {
  func setWillChange(_ publisher: ObservableObjectPublisher)
}

/// The value and the publisher of one published property.
final class PublishedBox<Value> {
  let subject: CurrentValueSubject<Value, Never>
  private let lock = NSLock()
  private var willChange: ObservableObjectPublisher?
  private var current: Value
  private var links: [PublishedLink<Value>] = []

  init(_ value: Value) {
    current = value
    subject = CurrentValueSubject(value)
  }

  deinit {
    for link in links { link.cancel() }
  }

  // The publisher tells of the new value while the property still has the old one.
  var value: Value {
    get {
      lock.withLock { current }
    }
    set {
      lock.withLock { willChange }?.send()
      subject.send(newValue)
      let old = lock.withLock {
        defer { current = newValue }
        return current
      }
      withExtendedLifetime(old) {}
    }
  }

  func setWillChange(_ publisher: ObservableObjectPublisher) {
    lock.withLock { willChange = publisher }
  }

  func keep(_ link: PublishedLink<Value>) {
    lock.withLock { links.append(link) }
  }
}

/// Writes what a publisher sends to a published property.
final class PublishedLink<Value>: Subscriber, Cancellable {
  private let lock = NSLock()
  private weak var box: PublishedBox<Value>?
  private var status = SubscriptionStatus.waiting

  init(_ box: PublishedBox<Value>) {
    self.box = box
  }

  func receive(subscription: any Subscription) {
    lock.withLock { status = .active(subscription) }
    subscription.request(.unlimited)
  }

  func receive(_ input: Value) -> Subscribers.Demand {
    box?.value = input
    return .none
  }

  func receive(completion: Subscribers.Completion<Never>) {
    lock.withLock { status = .ended }
  }

  func cancel() {
    let subscription = lock.withLock {
      defer { status = .ended }
      return status.subscription
    }
    subscription?.cancel()
  }
}

extension Publisher where Failure == Never {
  /// Publishes each value again as the values of a property.
  ///
  /// It goes on until this publisher ends or the property goes away.
  public func assign(to published: inout Published<Output>.Publisher) {
    let link = PublishedLink(published.box)
    published.box.keep(link)
    subscribe(link)
  }
}
