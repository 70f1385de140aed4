public import VitrineRuntime

/// Tries again what another loader failed to load, as a ``RetryPolicy`` says.
///
/// Its sink sees one response. An attempt of which nothing was delivered is simply repeated. After that, the next attempt asks for what
/// is missing (`Range`, `If-Range`) if the response had a strong entity tag, and goes on where the last one ended; bytes that the
/// server sends once more are left out. Where the file has changed meanwhile, or nothing tells whether it has, the load fails
/// with the first error.
///
/// A request that is not idempotent (``HTTPRequest/isIdempotent``) has one attempt, and the policy is not asked.
///
/// Responses with a status that the policy wants to try again are not delivered, save the last.
///
/// A policy of your own is asked on threads of the loader's, four at most: one that blocks holds back its own load, and no
/// transfer. The attempt whose response it is asked about is paused meanwhile (``LoadFlow/pause``).
public final class RetryingLoader: DataLoader {
  private let loader: any DataLoader
  private let policy: RetryPolicy
  private let clock: any TimeSource
  /// Where policies that are not Vitrine's own are asked; it has no thread until there is such a question.
  private let questions = WorkQueue(label: "vitrine-retry", width: 4)

  /// Wraps a loader.
  ///
  /// - Parameters:
  ///   - loader: Does the work; sees each attempt as a load of its own.
  ///   - policy: Says what is tried again.
  ///   - clock: Measures the waits. Defaults to the system clock.
  public init(_ loader: any DataLoader, _ policy: RetryPolicy, clock: any TimeSource = .system) {
    self.loader = loader
    self.policy = policy
    self.clock = clock
  }

  /// Starts the first attempt, and returns at once.
  @discardableResult
  public func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    let load = RetryingLoad(
      request,
      sink: sink,
      loader: loader,
      policy: policy,
      clock: clock,
      questions: questions,
    )
    load.startAttempt()
    return load
  }

  /// Returns what the loader within says.
  public func obeys(_ addressGuard: AddressGuard) -> Bool { loader.obeys(addressGuard) }
}
