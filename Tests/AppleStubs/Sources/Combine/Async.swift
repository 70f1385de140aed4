import Foundation

/// The values of a publisher that cannot fail, as an asynchronous sequence.
public struct AsyncPublisher<P: Publisher>: AsyncSequence where P.Failure == Never {
  /// The kind of values.
  public typealias Element = P.Output

  /// The iterator of an asynchronous publisher.
  public struct Iterator: AsyncIteratorProtocol {
    /// The kind of values.
    public typealias Element = P.Output

    let inbox: AsyncInbox<P.Output, Never>

    /// Waits for the next value, or nil at the end.
    public mutating func next() async -> P.Output? {
      switch await inbox.next() {
      case .success(let value): value
      }
    }
  }

  private let publisher: P

  /// Makes a sequence of a publisher.
  public init(_ publisher: P) {
    self.publisher = publisher
  }

  /// Subscribes to the publisher.
  public func makeAsyncIterator() -> Iterator {
    let inbox = AsyncInbox<P.Output, Never>()
    publisher.subscribe(inbox)
    return Iterator(inbox: inbox)
  }
}

/// The values of a publisher, as an asynchronous sequence that may throw.
public struct AsyncThrowingPublisher<P: Publisher>: AsyncSequence {
  /// The kind of values.
  public typealias Element = P.Output

  /// The iterator of an asynchronous publisher.
  public struct Iterator: AsyncIteratorProtocol {
    /// The kind of values.
    public typealias Element = P.Output

    let inbox: AsyncInbox<P.Output, P.Failure>

    /// Waits for the next value, nil at the end, or an error.
    public mutating func next() async throws -> P.Output? {
      try await inbox.next().get()
    }
  }

  private let publisher: P

  /// Makes a sequence of a publisher.
  public init(_ publisher: P) {
    self.publisher = publisher
  }

  /// Subscribes to the publisher.
  public func makeAsyncIterator() -> Iterator {
    let inbox = AsyncInbox<P.Output, P.Failure>()
    publisher.subscribe(inbox)
    return Iterator(inbox: inbox)
  }
}

extension Publisher where Failure == Never {
  /// The values as an asynchronous sequence.
  public var values: AsyncPublisher<Self> {
    AsyncPublisher(self)
  }
}

extension Publisher {
  /// The values as an asynchronous sequence that may throw.
  public var values: AsyncThrowingPublisher<Self> {
    AsyncThrowingPublisher(self)
  }
}

/// Asks for one value for each `next()`, and cancels when the task is cancelled.
///
/// Unchecked: all state is behind a lock, and values are only handed over.
final class AsyncInbox<Input, Failure: Error>: Subscriber, @unchecked Sendable {
  private struct Handover: @unchecked Sendable {
    let result: Result<Input?, Failure>
  }

  private let lock = NSLock()
  private var status = SubscriptionStatus.waiting
  private var waiting: [CheckedContinuation<Handover, Never>] = []
  private var unasked = Subscribers.Demand.none
  private var failure: Failure?

  deinit {
    status.subscription?.cancel()
  }

  func receive(subscription: any Subscription) {
    let demand = lock.withLock { () -> Subscribers.Demand? in
      guard case .waiting = status else { return nil }
      status = .active(subscription)
      defer { unasked = .none }
      return unasked
    }
    guard let demand else { return subscription.cancel() }
    if demand > 0 { subscription.request(demand) }
  }

  func receive(_ input: Input) -> Subscribers.Demand {
    let next = lock.withLock { waiting.isEmpty ? nil : waiting.removeFirst() }
    next?.resume(returning: Handover(result: .success(input)))
    return .none
  }

  func receive(completion: Subscribers.Completion<Failure>) {
    end(completion)
  }

  func next() async -> Result<Input?, Failure> {
    await withTaskCancellationHandler {
      await withCheckedContinuation { ask($0) }.result
    } onCancel: {
      let subscription = lock.withLock { status.subscription }
      end(.finished)
      subscription?.cancel()
    }
  }

  private func ask(_ continuation: CheckedContinuation<Handover, Never>) {
    var now: Result<Input?, Failure>?
    let subscription = lock.withLock { () -> (any Subscription)? in
      switch status {
      case .waiting:
        waiting.append(continuation)
        unasked += 1
        return nil
      case .active(let subscription):
        waiting.append(continuation)
        return subscription
      case .ended:
        now = failure.map { .failure($0) } ?? .success(nil)
        failure = nil
        return nil
      }
    }
    if let now { continuation.resume(returning: Handover(result: now)) }
    subscription?.request(.max(1))
  }

  // The first one who waits gets the error; the others get nil.
  private func end(_ completion: Subscribers.Completion<Failure>) {
    let old = lock.withLock { () -> [CheckedContinuation<Handover, Never>] in
      if case .ended = status { return [] }
      status = .ended
      if case .failure(let error) = completion, waiting.isEmpty { failure = error }
      defer { waiting = [] }
      return waiting
    }
    for (index, continuation) in old.enumerated() {
      if case .failure(let error) = completion, index == 0 {
        continuation.resume(returning: Handover(result: .failure(error)))
      } else {
        continuation.resume(returning: Handover(result: .success(nil)))
      }
    }
  }
}
