public import VitrineHTTP
import VitrineRuntime

/// The settings of an ``S3Client``: endpoint, credentials and limits.
///
/// ```swift
/// var configuration = try S3Configuration(environment: ProcessInfo.processInfo.environment)
/// configuration.maxObjectBytes = 20_000_000
/// ```
public struct S3Configuration: Sendable {
  /// The way in which a bucket is named in a URL.
  public struct Addressing: Sendable, Hashable {
    enum Value: Hashable { case automatic, path, virtualHosted }

    let value: Value

    /// ``virtualHosted`` for Amazon and buckets whose names fit one label of a host, and ``path`` for others.
    public static let automatic = Addressing(value: .automatic)
    /// The bucket in the path, which every server supports: `https://s3.example.org/bucket/key`.
    public static let path = Addressing(value: .path)
    /// The bucket in the host: `https://bucket.s3.example.org/key`.
    public static let virtualHosted = Addressing(value: .virtualHosted)
  }

  /// The region.
  ///
  /// Defaults to `us-east-1`. If a server names another region for a bucket, the client uses that one from then on.
  public var region: String
  /// The URL of the server.
  ///
  /// Defaults to `nil`, Amazon's server of the region.
  public var endpoint: HTTPURL?
  /// The way in which buckets are named in URLs.
  ///
  /// Defaults to ``Addressing/automatic``.
  public var addressing = Addressing.automatic
  /// The credentials.
  public var credentials: S3CredentialSource
  /// The maximum size of an object that is read or written, in bytes.
  ///
  /// Defaults to 100 MB.
  public var maxObjectBytes = 100_000_000
  /// The maximum number of attempts for one request, including the first.
  ///
  /// Defaults to 3. An attempt that breaks, or is answered with 500 or 503 (`SlowDown`), is followed by another after a
  /// random delay whose maximum doubles each time. It applies to an ``S3DataCache``; a pipeline has a policy of its
  /// own.
  public var maxAttempts = 3
  /// The maximum delay after the first attempt.
  ///
  /// Defaults to 100 milliseconds.
  public var retryDelay = Duration.milliseconds(100)
  /// A Boolean value that indicates whether bodies sent over TLS are signed.
  ///
  /// Defaults to `false`, since TLS protects them and the hash takes 4 ms a megabyte. Bodies sent without TLS are
  /// always signed.
  public var signsBodiesOverTLS = false

  /// Creates settings.
  ///
  /// - Parameters:
  ///   - region: The region. Defaults to `us-east-1`.
  ///   - endpoint: The URL of the server, without a bucket. Defaults to `nil`, Amazon's server of the region.
  ///   - credentials: The credentials.
  public init(region: String = "us-east-1", endpoint: HTTPURL? = nil, credentials: S3CredentialSource) {
    (self.region, self.endpoint, self.credentials) = (region, endpoint, credentials)
  }

  /// Creates settings from environment variables, as Amazon's tools do.
  ///
  /// Blocks while it reads a file.
  ///
  /// The region is `AWS_REGION` or `AWS_DEFAULT_REGION`, the endpoint `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`.
  /// Missing values come from the profile in `AWS_CONFIG_FILE` (`~/.aws/config`), if there is one. For credentials see
  /// ``S3CredentialSource/environment(_:)``.
  ///
  /// - Parameter environment: The variables.
  /// - Throws: ``S3Error`` with ``S3Error/Code/invalidConfiguration``.
  public init(environment: [String: String]) throws(S3Error) {
    func value(_ names: String...) -> String? { names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty } }
    let path = ProfileFile.settingsPath(environment)
    let settings = path.flatMap { try? ProfileFile.readNow($0) }?.profiles[value("AWS_PROFILE") ?? "default"]
    self.init(credentials: .environment(environment))
    region = value("AWS_REGION", "AWS_DEFAULT_REGION") ?? settings?["region"] ?? "us-east-1"
    let variable = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"].first { value($0) != nil }
    if let text = variable.flatMap({ value($0) }) ?? settings?["endpoint_url"] {
      do throws(HTTPError) {
        endpoint = try HTTPURL(text)
      } catch {
        let place = variable ?? "endpoint_url in \(path ?? "")"
        throw S3Error(.invalidConfiguration, "\(place): '\(text)' is not a URL: \(error.detail)")
      }
    }
    try check()
  }

  /// Throws an error if a setting is invalid.
  func check() throws(S3Error) {
    guard Self.isRegion(region) else {
      throw S3Error(.invalidConfiguration, "'\(region)' is not the name of a region")
    }
    if let endpoint, endpoint.string.contains("?") {
      throw S3Error(.invalidConfiguration, "the endpoint \(endpoint.string) has a query")
    }
  }

  /// Returns a Boolean value that indicates whether a text is a valid region, which is a part of a host.
  static func isRegion(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0) || $0 == 45 }
  }
}
