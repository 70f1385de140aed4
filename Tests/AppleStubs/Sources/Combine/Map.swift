extension Publishers {
  /// A publisher that changes each value.
  public struct Map<Upstream: Publisher, Output>: Publisher {
    /// The kind of errors.
    public typealias Failure = Upstream.Failure
    /// Where the values come from.
    public let upstream: Upstream
    /// What changes a value.
    public let transform: (Upstream.Output) -> Output

    /// Makes the operator.
    public init(upstream: Upstream, transform: @escaping (Upstream.Output) -> Output) {
      self.upstream = upstream
      self.transform = transform
    }

    /// Attaches a subscriber.
    public func receive<S>(subscriber: S) where Output == S.Input, S: Subscriber, Upstream.Failure == S.Failure {
      let transform = transform
      upstream.subscribe(Pipe(subscriber) { .emit(transform($0)) })
    }
  }

  /// A publisher that changes each value, or fails.
  public struct TryMap<Upstream: Publisher, Output>: Publisher {
    /// The kind of errors.
    public typealias Failure = any Error
    /// Where the values come from.
    public let upstream: Upstream
    /// What changes a value.
    public let transform: (Upstream.Output) throws -> Output

    /// Makes the operator.
    public init(upstream: Upstream, transform: @escaping (Upstream.Output) throws -> Output) {
      self.upstream = upstream
      self.transform = transform
    }

    /// Attaches a subscriber.
    public func receive<S>(subscriber: S) where Output == S.Input, S: Subscriber, S.Failure == any Error {
      let transform = transform
      upstream.subscribe(
        Pipe<Upstream.Output, Upstream.Failure, Output, any Error>(
          subscriber,
          onEnd: { $0.mapError { $0 } },
          onValue: { input in
            do { return .emit(try transform(input)) } catch { return .end(.failure(error)) }
          },
        )
      )
    }
  }

  /// A publisher that changes each value and leaves out nil.
  public struct CompactMap<Upstream: Publisher, Output>: Publisher {
    /// The kind of errors.
    public typealias Failure = Upstream.Failure
    /// Where the values come from.
    public let upstream: Upstream
    /// What changes a value.
    public let transform: (Upstream.Output) -> Output?

    /// Makes the operator.
    public init(upstream: Upstream, transform: @escaping (Upstream.Output) -> Output?) {
      self.upstream = upstream
      self.transform = transform
    }

    /// Attaches a subscriber.
    public func receive<S>(subscriber: S) where Output == S.Input, S: Subscriber, Upstream.Failure == S.Failure {
      let transform = transform
      upstream.subscribe(Pipe(subscriber) { input in transform(input).map { .emit($0) } ?? .skip })
    }
  }

  /// A publisher that leaves out the values that do not pass a test.
  public struct Filter<Upstream: Publisher>: Publisher {
    /// The kind of values.
    public typealias Output = Upstream.Output
    /// The kind of errors.
    public typealias Failure = Upstream.Failure
    /// Where the values come from.
    public let upstream: Upstream
    /// The test.
    public let isIncluded: (Upstream.Output) -> Bool

    /// Makes the operator.
    public init(upstream: Upstream, isIncluded: @escaping (Upstream.Output) -> Bool) {
      self.upstream = upstream
      self.isIncluded = isIncluded
    }

    /// Attaches a subscriber.
    public func receive<S>(subscriber: S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      let isIncluded = isIncluded
      upstream.subscribe(Pipe(subscriber) { isIncluded($0) ? .emit($0) : .skip })
    }
  }
}

extension Publisher {
  /// Changes each value.
  public func map<T>(_ transform: @escaping (Output) -> T) -> Publishers.Map<Self, T> {
    Publishers.Map(upstream: self, transform: transform)
  }

  /// Changes each value, and fails if the closure throws.
  public func tryMap<T>(_ transform: @escaping (Output) throws -> T) -> Publishers.TryMap<Self, T> {
    Publishers.TryMap(upstream: self, transform: transform)
  }

  /// Changes each value, and leaves out nil.
  public func compactMap<T>(_ transform: @escaping (Output) -> T?) -> Publishers.CompactMap<Self, T> {
    Publishers.CompactMap(upstream: self, transform: transform)
  }

  /// Leaves out the values that do not pass a test.
  public func filter(_ isIncluded: @escaping (Output) -> Bool) -> Publishers.Filter<Self> {
    Publishers.Filter(upstream: self, isIncluded: isIncluded)
  }
}
