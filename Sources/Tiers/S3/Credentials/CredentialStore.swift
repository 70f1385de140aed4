import VitrineRuntime

/// The current credentials of a client, refreshed before they expire, once for all waiting requests.
final class CredentialStore: Sendable {
  /// The time before their expiry at which they are refreshed.
  static let margin = Duration.seconds(300)
  /// The minimum time between a failed refresh and the next.
  static let pause = Duration.seconds(10)

  private struct State {
    var current: S3Credentials?
    var refresh: Task<Result<S3Credentials, S3Error>, Never>?
    /// The uptime before which no other refresh begins.
    var resting = Duration.zero
    var lastFailure: S3Error?
  }

  private let source: S3CredentialSource
  private let clock: any TimeSource
  private let state = Lock(State())

  init(_ source: S3CredentialSource, _ clock: any TimeSource) { (self.source, self.clock) = (source, clock) }

  /// A Boolean value that indicates whether a refresh is running.
  var isRefreshing: Bool { state.withLock { $0.refresh != nil } }

  /// Returns credentials that are valid now, or `nil` if requests are not signed.
  func current() async throws(S3Error) -> S3Credentials? {
    guard case .load(let load) = source.kind else { return nil }
    let (now, uptime) = (clock.now, clock.uptime)
    let (valid, refresh, failure) = state.withLock { state in
      let valid = state.current.flatMap { $0.expires.map { $0 > now } ?? true ? $0 : nil }
      let isDue = valid?.expires.map { $0 <= now.addingTimeInterval(Self.margin / .seconds(1)) } ?? (valid == nil)
      if isDue, state.refresh == nil, uptime >= state.resting { state.refresh = begin(load) }
      return (valid, state.refresh, state.lastFailure)
    }
    if let valid { return valid }
    guard let refresh else { throw failure ?? S3Error(.missingCredentials, "there are no credentials") }
    return try await refresh.value.get()
  }

  /// Drops credentials that a server has rejected as expired, unless they have been replaced by now.
  ///
  /// - Returns: `true` if other credentials may be available.
  func drop(_ expired: S3Credentials) -> Bool {
    let uptime = clock.uptime
    return state.withLock { state in
      guard state.current == expired else { return state.current != nil || state.refresh != nil }
      guard uptime >= state.resting else { return false }
      state.current = nil
      return true
    }
  }

  /// Starts the only refresh.
  ///
  /// It is called with the lock held, which a task's creation does not need.
  private func begin(
    _ load: @escaping @Sendable () async throws -> S3Credentials
  ) -> Task<Result<S3Credentials, S3Error>, Never> {
    Task { [self] in
      let result = await Self.result(of: load)
      let uptime = clock.uptime
      state.withLock { state in
        state.refresh = nil
        // The source may return the same credentials again, so they are not refreshed with every request.
        state.resting = uptime + Self.pause
        switch result {
        case .success(let credentials): (state.current, state.lastFailure) = (credentials, nil)
        case .failure(let error): state.lastFailure = error
        }
      }
      return result
    }
  }

  private static func result(
    of load: @Sendable () async throws -> S3Credentials
  ) async -> Result<S3Credentials, S3Error> {
    do {
      let credentials = try await load()
      guard credentials.isSendable else {
        return .failure(
          S3Error(.missingCredentials, "the credentials are empty, or have characters that cannot be sent")
        )
      }
      return .success(credentials)
    } catch let error as S3Error {
      return .failure(error)
    } catch {
      return .failure(S3Error(.missingCredentials, "the credentials could not be had: \(error)"))
    }
  }
}
