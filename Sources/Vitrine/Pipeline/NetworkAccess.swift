/// What the network is good for.
public enum NetworkAccess: Sendable, Hashable {
  /// For anything.
  case full
  /// For requests that allow it (``ImageRequest/allowsExpensiveNetworkAccess``), since it costs; the text says why, for errors.
  ///
  /// To the others it is as if there was none.
  case expensive(_ reason: String)
  /// For nothing; the text says why, for errors.
  ///
  /// No request is sent. What is stored is served however old it is, unless its server wants to be asked every time
  /// (`no-cache`, `must-revalidate`), and is stale then; the rest fails at once with ``LoadError/Code/offline``.
  case offline(_ reason: String)
}

extension ImagePipeline {
  /// Forgets what has failed lately, so that it is asked for again: for when the network has come back.
  ///
  /// See ``Configuration/remembersFailures``. Does not block.
  public func forgetFailures() { context.network.failures?.removeAll() }
}
