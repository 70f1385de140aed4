public import VitrineRuntime

/// The keys with which requests are signed.
///
/// Descriptions and dumps show only the id of the access key.
public struct S3Credentials: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// The id of the access key, which is sent with every request.
  public var accessKeyID: String
  /// The secret access key, which never leaves the process.
  public var secretAccessKey: String
  /// The token of temporary keys, which is sent with every request.
  public var sessionToken: String?
  /// The time at which the keys expire, or `nil` for never.
  public var expires: Date?

  /// Creates credentials.
  ///
  /// - Parameters:
  ///   - accessKeyID: The id of the access key.
  ///   - secretAccessKey: The secret.
  ///   - sessionToken: The token of temporary keys. Defaults to `nil`.
  ///   - expires: The time at which they expire. Defaults to `nil`, never.
  public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil, expires: Date? = nil) {
    (self.accessKeyID, self.secretAccessKey) = (accessKeyID, secretAccessKey)
    (self.sessionToken, self.expires) = (sessionToken, expires)
  }

  /// A text without the secrets.
  public var description: String { "credentials \(accessKeyID)" }

  /// A mirror without the secrets, since dumps end up in logs.
  public var customMirror: Mirror { Mirror(self, children: ["accessKeyID": accessKeyID]) }

  /// A Boolean value that indicates whether the keys can be sent: a line end in one would split the header field.
  var isSendable: Bool {
    !accessKeyID.isEmpty && !secretAccessKey.isEmpty
      && [accessKeyID, sessionToken ?? ""].allSatisfy { $0.utf8.allSatisfy { (33...126).contains($0) } }
  }
}

/// A source of ``S3Credentials``.
public struct S3CredentialSource: Sendable {
  enum Kind: Sendable {
    case anonymous
    case load(@Sendable () async throws -> S3Credentials)
  }

  let kind: Kind

  /// The absence of credentials: requests are not signed, which public buckets allow.
  public static let anonymous = S3CredentialSource(kind: .anonymous)

  /// Credentials that do not change.
  public static func fixed(_ credentials: S3Credentials) -> S3CredentialSource {
    S3CredentialSource(kind: .load { credentials })
  }

  /// Credentials that a closure provides, such as the credentials of a role.
  ///
  /// The closure is called when credentials are first needed, five minutes before they expire, and when a server
  /// rejects them as expired. All waiting requests share one call. While the old credentials are valid, no request
  /// waits. If the closure throws, the old ones remain in use until they expire, and it is called again after ten
  /// seconds at the earliest.
  ///
  /// ```swift
  /// configuration.credentials = .refreshed {
  ///   let answer = try await metadata.credentials()
  ///   return S3Credentials(
  ///     accessKeyID: answer.id, secretAccessKey: answer.secret, sessionToken: answer.token, expires: answer.expiration)
  /// }
  /// ```
  public static func refreshed(
    by load: @escaping @Sendable () async throws -> S3Credentials
  ) -> S3CredentialSource {
    S3CredentialSource(kind: .load(load))
  }

  /// Credentials from environment variables, or from the file that they name.
  ///
  /// `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN` come first. Without them, the profile
  /// `AWS_PROFILE` (`default`) of `AWS_SHARED_CREDENTIALS_FILE` (`~/.aws/credentials`) is read when it is needed, and
  /// again when a server rejects its keys as expired.
  public static func environment(_ environment: [String: String]) -> S3CredentialSource {
    S3CredentialSource(kind: .load { try await Self.load(environment) })
  }

  /// The credentials of a profile in a file of Amazon's tools.
  public static func file(_ path: String, profile: String = "default") -> S3CredentialSource {
    S3CredentialSource(kind: .load { try await Self.read(path, profile) })
  }

  private static func load(_ environment: [String: String]) async throws -> S3Credentials {
    func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    if let id = value("AWS_ACCESS_KEY_ID"), let secret = value("AWS_SECRET_ACCESS_KEY") {
      return S3Credentials(accessKeyID: id, secretAccessKey: secret, sessionToken: value("AWS_SESSION_TOKEN"))
    }
    guard let path = ProfileFile.credentialsPath(environment) else {
      throw S3Error(.missingCredentials, "neither the environment nor a file has credentials")
    }
    return try await read(path, value("AWS_PROFILE") ?? "default")
  }

  private static func read(_ path: String, _ profile: String) async throws -> S3Credentials {
    let file: ProfileFile
    do {
      file = try await ProfileFile.read(path)
    } catch {
      throw S3Error(.missingCredentials, "the file of credentials, \(path), cannot be read: \(error)")
    }
    guard let values = file.profiles[profile] else {
      throw S3Error(.missingCredentials, "\(path) has no profile '\(profile)'")
    }
    guard let id = values["aws_access_key_id"], let secret = values["aws_secret_access_key"] else {
      throw S3Error(.missingCredentials, "the profile '\(profile)' of \(path) has no access key")
    }
    return S3Credentials(accessKeyID: id, secretAccessKey: secret, sessionToken: values["aws_session_token"])
  }
}
