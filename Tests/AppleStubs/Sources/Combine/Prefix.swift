import Foundation

extension Publishers {
  /// A publisher of the values whose positions are in a range.
  public struct Output<Upstream: Publisher>: Publisher {
    /// The kind of values.
    public typealias Output = Upstream.Output
    /// The kind of errors.
    public typealias Failure = Upstream.Failure
    /// Where the values come from.
    public let upstream: Upstream
    /// The positions.
    public let range: CountableRange<Int>

    /// Makes the operator.
    public init(upstream: Upstream, range: CountableRange<Int>) {
      self.upstream = upstream
      self.range = range
    }

    /// Attaches a subscriber, which ends at once if the range is empty.
    public func receive<S>(subscriber: S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      guard !range.isEmpty else {
        return Empty().receive(subscriber: subscriber)
      }
      let range = range
      let counter = Counter()
      upstream.subscribe(
        Pipe(subscriber) { value in
          let index = counter.next()
          guard range.contains(index) else { return .skip }
          return index == range.upperBound - 1 ? .emitLast(value) : .emit(value)
        }
      )
    }
  }

  /// A publisher of the first value.
  public struct First<Upstream: Publisher>: Publisher {
    /// The kind of values.
    public typealias Output = Upstream.Output
    /// The kind of errors.
    public typealias Failure = Upstream.Failure
    /// Where the values come from.
    public let upstream: Upstream

    /// Makes the operator.
    public init(upstream: Upstream) {
      self.upstream = upstream
    }

    /// Attaches a subscriber.
    public func receive<S>(subscriber: S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      upstream.subscribe(Pipe(subscriber) { .emitLast($0) })
    }
  }
}

/// Counts from zero.
final class Counter {
  private let lock = NSLock()
  private var count = 0

  func next() -> Int {
    lock.withLock {
      defer { count += 1 }
      return count
    }
  }
}

extension Publisher {
  /// Sends up to a number of values, then finishes.
  public func prefix(_ maxLength: Int) -> Publishers.Output<Self> {
    precondition(maxLength >= 0, "maxLength cannot be negative")
    return Publishers.Output(upstream: self, range: 0..<maxLength)
  }

  /// Sends the first value, then finishes.
  public func first() -> Publishers.First<Self> {
    Publishers.First(upstream: self)
  }
}
