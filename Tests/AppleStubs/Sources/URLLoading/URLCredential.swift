public import Foundation

/// The method of a challenge for a name and password that are sent in clear.
public let NSURLAuthenticationMethodHTTPBasic = "NSURLAuthenticationMethodHTTPBasic"
/// The method of a challenge for a digest of a password.
public let NSURLAuthenticationMethodHTTPDigest = "NSURLAuthenticationMethodHTTPDigest"
/// The method of a challenge to check a server's certificate, which never comes here.
public let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"
/// The protocol of a space that is reached over HTTP.
public let NSURLProtectionSpaceHTTP = "http"

// Sendable, since nothing in it changes after its creation.
/// A name with its password.
open class URLCredential: NSObject, @unchecked Sendable {
  /// How long a credential is kept.
  public enum Persistence: UInt, Sendable {
    /// It is not kept.
    case none = 0
    /// It is kept while the program runs.
    case forSession = 1
    /// It is kept in the keychain.
    case permanent = 2
    /// It is kept in the keychain of all devices.
    case synchronizable = 3
  }

  private let name: String
  private let secret: String
  private let kept: Persistence

  /// Creates a credential.
  public init(user: String, password: String, persistence: URLCredential.Persistence) {
    name = user
    secret = password
    kept = persistence
  }

  /// The name.
  open var user: String? { name }
  /// The password.
  open var password: String? { secret }
  /// Whether there is a password.
  open var hasPassword: Bool { true }
  /// How long it is kept.
  open var persistence: URLCredential.Persistence { kept }
}

// Sendable, since nothing in it changes after its creation.
/// A part of a server that asks for one credential.
open class URLProtectionSpace: NSObject, @unchecked Sendable {
  struct Key: Hashable {
    var host: String
    var port: Int
    var scheme: String?
    var realm: String?
    var method: String
  }

  let key: Key

  /// Creates a space.
  public init(
    host: String,
    port: Int,
    protocol: String?,
    realm: String?,
    authenticationMethod: String?,
  ) {
    key = Key(
      host: host,
      port: port,
      scheme: `protocol`,
      realm: realm,
      method: authenticationMethod ?? NSURLAuthenticationMethodHTTPBasic,
    )
  }

  /// The host.
  open var host: String { key.host }
  /// The port.
  open var port: Int { key.port }
  /// The protocol.
  open var `protocol`: String? { key.scheme }
  /// The realm.
  open var realm: String? { key.realm }
  /// The method of authentication.
  open var authenticationMethod: String { key.method }
  /// Whether the password is not sent in clear.
  open var receivesCredentialSecurely: Bool { key.method != NSURLAuthenticationMethodHTTPBasic }

  /// Returns `true` for a space with the same values.
  override open func isEqual(_ object: Any?) -> Bool { (object as? URLProtectionSpace)?.key == key }
  /// The hash of the values.
  override open var hash: Int { key.hashValue }
}

// Sendable, since nothing in it changes after its creation.
/// A server's question for a credential.
open class URLAuthenticationChallenge: NSObject, @unchecked Sendable {
  private let space: URLProtectionSpace
  private let proposal: URLCredential?
  private let failures: Int
  private let failed: URLResponse?

  init(space: URLProtectionSpace, proposal: URLCredential?, failures: Int, response: URLResponse?) {
    self.space = space
    self.proposal = proposal
    self.failures = failures
    failed = response
  }

  /// The part of the server that asks.
  open var protectionSpace: URLProtectionSpace { space }
  /// The credential that the default handling would send.
  open var proposedCredential: URLCredential? { proposal }
  /// The number of refused answers before.
  open var previousFailureCount: Int { failures }
  /// The response that asked.
  open var failureResponse: URLResponse? { failed }
  /// The error of the last attempt, which is always `nil` here.
  open var error: (any Error)? { nil }
}
