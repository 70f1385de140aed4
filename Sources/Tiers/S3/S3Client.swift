public import VitrineHTTP
public import VitrineRuntime

/// A client of a server with the S3 protocol, such as Amazon's, MinIO, SeaweedFS or Ceph.
///
/// ```swift
/// let configuration = try S3Configuration(environment: ProcessInfo.processInfo.environment)
/// let client = try S3Client(configuration)
/// ```
/// Create one and keep it, since it reuses connections and credentials. Load images through an ``S3Loader``, and store
/// them in an ``S3DataCache``.
public final class S3Client: Sendable {
  /// The settings.
  public let configuration: S3Configuration
  let transport: S3Transport
  let clock: any TimeSource
  private let retrying: RetryingLoader

  /// Creates a client without connections.
  ///
  /// - Parameters:
  ///   - configuration: The settings.
  ///   - loader: The loader of requests. Defaults to `nil`, a new one without an address guard, since the server is
  ///     configured by the operator, and may be in a private network.
  ///   - clock: The clock. Defaults to the system clock.
  /// - Throws: ``S3Error`` with ``S3Error/Code/invalidConfiguration``.
  public convenience init(
    _ configuration: S3Configuration,
    loader: (any DataLoader)? = nil,
    clock: any TimeSource = .system,
  ) throws(S3Error) {
    try self.init(configuration, loader, clock) { Double.random(in: 0..<1) }
  }

  package init(
    _ configuration: S3Configuration,
    _ loader: (any DataLoader)?,
    _ clock: any TimeSource,
    random: @escaping @Sendable () -> Double,
  ) throws(S3Error) {
    try configuration.check()
    (self.configuration, self.clock) = (configuration, clock)
    transport = S3Transport(configuration, loader ?? Self.ownLoader(), clock)
    let policy = RetryPolicy.exponential(
      maxAttempts: max(1, configuration.maxAttempts),
      base: configuration.retryDelay,
      limit: .seconds(5),
      random: random,
    )
    retrying = RetryingLoader(transport, policy, clock: clock)
  }

  private static func ownLoader() -> any DataLoader {
    var options = SystemLoader.Options()
    options.connectionLimitPerHost = 16
    return SystemLoader(options)
  }

  /// Returns a URL that allows reading an object for a time, without credentials.
  ///
  /// - Parameters:
  ///   - bucket: The bucket.
  ///   - key: The key.
  ///   - time: The time for which it is valid, from a second to a week. Defaults to 15 minutes.
  /// - Returns: The URL, which contains a signature and is as secret as the object.
  /// - Throws: ``S3Error`` if there are no credentials, or a name is invalid.
  public func presignedURL(
    bucket: String,
    key: String,
    validFor time: Duration = .seconds(900),
  ) async throws(S3Error) -> String {
    let target = S3Target(try object(bucket, key))
    guard let keys = try await transport.credentials.current() else {
      throw S3Error(.missingCredentials, target.text, "a URL cannot be signed without credentials")
    }
    let region = transport.region(of: bucket)
    let url = target.url(region: region, configuration)
    var parts = S3Transport.parts(of: HTTPRequest(url), SignatureV4.unsignedBody)
    parts.query = ""
    let seconds = min(max(Int(time.components.seconds), 1), 604_800)
    return "\(url.string)?"
      + SignatureV4(keys, region: region).presignedQuery(parts, at: transport.now, seconds: seconds)
  }

  func object(_ bucket: String, _ key: String) throws(S3Error) -> ObjectURL {
    guard let object = ObjectURL(bucket: bucket, key: key) else {
      throw S3Error(.invalidObject, "s3://\(bucket)/\(key)", "the bucket or the key cannot be one")
    }
    return object
  }

  // MARK: Requests

  /// Sends a request, with as many attempts as the settings allow, and returns the last response, of any status.
  func send(
    _ target: S3Target,
    _ method: HTTPMethod = .get,
    headers: HTTPFields = [:],
    body: Data? = nil,
    limit: Int = 1 << 20,
    within deadline: Duration,
  ) async throws(S3Error) -> (response: HTTPResponse, body: Data) {
    var request = HTTPRequest(target.standIn, method: method, headers: headers, body: body)
    request.maxResponseBytes = limit
    // All requests of the client have the same effect if sent twice.
    request.isIdempotent = true
    if let body, configuration.signsBodiesOverTLS || configuration.endpoint?.isSecure == false {
      // The hash is computed once, and not for each attempt.
      request.headers["x-amz-content-sha256"] = SignatureV4.hash(body)
    }
    let (text, retrying) = (target.text, retrying)
    let work = Task { [request] () -> Result<(HTTPResponse, Data), HTTPError> in
      do throws(HTTPError) {
        return .success(try await retrying.data(for: request))
      } catch {
        return .failure(error)
      }
    }
    let isLate = Lock(false)
    let alarm = clock.schedule(after: deadline) {
      isLate.withLock { $0 = true }
      work.cancel()
    }
    let result = await withTaskCancellationHandler {
      await work.value
    } onCancel: {
      work.cancel()
    }
    alarm.cancel()
    switch result {
    case .success(let (response, body)): return (response, body)
    case .failure(let error) where error.isCancellation && isLate.withLock({ $0 }):
      throw S3Error(.timedOut, text, "no answer within \(deadline)")
    case .failure(let error): throw S3Error(error, text)
    }
  }
}
