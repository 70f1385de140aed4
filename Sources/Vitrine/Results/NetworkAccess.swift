/// The state of the network, as far as it limits requests.
public enum NetworkAccess: Sendable, Hashable {
  /// Every request may be sent.
  case full
  /// The network is expensive; the reason appears in errors.
  ///
  /// Requests without ``ImageRequest/allowsExpensiveNetworkAccess`` behave as with ``offline(_:)``.
  case expensive(_ reason: String)
  /// There is no network; the reason appears in errors.
  ///
  /// No request is sent. Stored images of any age are served, marked stale, unless their server demands revalidation
  /// (`no-cache`, `must-revalidate`). All other loads fail at once with ``LoadError/Code/offline``.
  case offline(_ reason: String)
}
