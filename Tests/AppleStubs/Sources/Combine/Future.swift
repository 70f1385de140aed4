import Foundation

/// A publisher that sends one value, or fails, when its promise is called.
///
/// The closure runs at once, when the future is made, whether or not somebody
/// subscribes. The first result counts, and each subscriber gets it.
public final class Future<Output, Failure: Error>: Publisher {
  /// A closure to call with the result.
  public typealias Promise = (Result<Output, Failure>) -> Void

  private let lock = NSLock()
  private var result: Result<Output, Failure>?
  private var waiting: [Seat] = []

  /// Makes a future, and runs the closure.
  public init(_ attemptToFulfill: @escaping (@escaping Promise) -> Void) {
    attemptToFulfill { self.fulfil($0) }
  }

  /// Attaches a subscriber.
  public func receive<S>(subscriber: S) where Output == S.Input, Failure == S.Failure, S: Subscriber {
    let seat = Seat(AnySubscriber(subscriber)) { [weak self] seat in self?.remove(seat) }
    let known = lock.withLock {
      if result == nil { waiting.append(seat) }
      return result
    }
    subscriber.receive(subscription: seat)
    if let known { seat.fulfil(known) }
  }

  private func fulfil(_ new: Result<Output, Failure>) {
    let seats = lock.withLock { () -> [Seat] in
      guard result == nil else { return [] }
      result = new
      defer { waiting = [] }
      return waiting
    }
    for seat in seats { seat.fulfil(new) }
  }

  private func remove(_ seat: Seat) {
    lock.withLock { waiting.removeAll { $0 === seat } }
  }

  /// One subscriber of a future.
  private final class Seat: Subscription {
    private let lock = NSLock()
    private var downstream: AnySubscriber<Output, Failure>?
    private var result: Result<Output, Failure>?
    private var isAsked = false
    private let onCancel: (Seat) -> Void

    init(_ downstream: AnySubscriber<Output, Failure>, onCancel: @escaping (Seat) -> Void) {
      self.downstream = downstream
      self.onCancel = onCancel
    }

    func fulfil(_ new: Result<Output, Failure>) {
      lock.withLock { result = new }
      deliver()
    }

    func request(_ demand: Subscribers.Demand) {
      precondition(demand > 0, "a request must be for at least one item")
      lock.withLock { isAsked = true }
      deliver()
    }

    func cancel() {
      _ = take(always: true)
      onCancel(self)
    }

    // A failure needs no demand.
    private func deliver() {
      guard let (target, result) = take(always: false), let target, let result else { return }
      switch result {
      case .success(let value):
        _ = target.receive(value)
        target.receive(completion: .finished)
      case .failure(let error):
        target.receive(completion: .failure(error))
      }
    }

    private func take(always: Bool) -> (AnySubscriber<Output, Failure>?, Result<Output, Failure>?)? {
      lock.withLock {
        if !always {
          guard let result else { return nil }
          if case .success = result, !isAsked { return nil }
        }
        defer { downstream = nil }
        return (downstream, result)
      }
    }
  }
}
