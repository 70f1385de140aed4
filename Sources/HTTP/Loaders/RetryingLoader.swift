public import VitrineRuntime

/// A loader that retries failed loads of another loader, under a ``RetryPolicy``.
///
/// Its sink sees a single response. An attempt that delivered no bytes is simply repeated. Later attempts request the
/// missing bytes (`Range`, `If-Range`) if the response had a strong validator, and continue where the last one ended.
/// Bytes that the server repeats are skipped.
///
/// If the file has changed, or might have, a sink that can start over (``LoadSink/canStartOver``) receives another
/// head: the head of this response, if its body is whole, or the head of a further attempt for the whole body. If the
/// sink cannot start over, or the server responds with an error, the load fails with the first error.
///
/// A request that is not idempotent (``HTTPRequest/isIdempotent``) has one attempt, whatever the policy.
///
/// Responses whose status the policy retries are not delivered, except for the last.
///
/// A custom policy is called on threads of this loader, at most four. If it blocks, it delays only its own load. The
/// attempt with the response in question is paused meanwhile (``LoadFlow/pause``).
public final class RetryingLoader: DataLoader {
  let loader: any DataLoader
  let policy: RetryPolicy
  let clock: any TimeSource
  /// The queue for custom policies, which has no thread until it is used.
  let questions = WorkQueue(label: "vitrine-retry", width: 4)

  /// Creates a loader that wraps another one.
  ///
  /// - Parameters:
  ///   - loader: The wrapped loader, which sees each attempt as a load of its own.
  ///   - policy: The policy.
  ///   - clock: The clock for delays. Defaults to the system clock.
  public init(_ loader: any DataLoader, _ policy: RetryPolicy, clock: any TimeSource = .system) {
    self.loader = CheckedLoader.checking(loader)
    self.policy = policy
    self.clock = clock
  }

  /// Starts the first attempt, and returns at once.
  @discardableResult
  public func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    let load = RetryingLoad(request, sink: sink, of: self)
    load.startAttempt()
    return load
  }

  /// Returns the value of the wrapped loader.
  public func obeys(_ addressGuard: AddressGuard) -> Bool { loader.obeys(addressGuard) }
}
