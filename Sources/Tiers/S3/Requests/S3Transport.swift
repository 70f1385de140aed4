import VitrineHTTP
import VitrineRuntime

/// A loader that signs requests and sends them, and remembers the regions and the times of servers.
///
/// It loads stand-ins: its callers, a pipeline or the client, see one response to one request. ``S3Load`` makes the
/// attempts.
final class S3Transport: DataLoader {
  /// The maximum number of buckets with a remembered region.
  private static let regionLimit = 1000

  private struct State {
    var regions: [String: String] = [:]
    /// The time of the server minus the clock's, in seconds.
    var offset = 0.0
  }

  let configuration: S3Configuration
  let loader: any DataLoader
  let clock: any TimeSource
  let credentials: CredentialStore
  private let state = Lock(State())

  init(_ configuration: S3Configuration, _ loader: any DataLoader, _ clock: any TimeSource) {
    (self.configuration, self.loader, self.clock) = (configuration, loader, clock)
    credentials = CredentialStore(configuration.credentials, clock)
  }

  @discardableResult
  func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    guard let target = S3Target(standIn: request.url) else {
      sink.finish(HTTPError(.invalidRequest, url: request.url.string, "not the URL of an object"))
      return NoLoadHandle()
    }
    let load = S3Load(request, target, sink, self)
    load.start()
    return load
  }

  // MARK: Facts from servers

  func region(of bucket: String) -> String {
    state.withLock { $0.regions[bucket] } ?? configuration.region
  }

  func setRegion(_ region: String, of bucket: String) {
    state.withLock { state in
      if state.regions.count >= Self.regionLimit { state.regions = [:] }
      state.regions[bucket] = region
    }
  }

  /// The time of the server.
  var now: Date { clock.now.addingTimeInterval(state.withLock { $0.offset }) }

  func setTime(_ date: Date) {
    let offset = date.timeIntervalSince(clock.now)
    state.withLock { $0.offset = offset }
  }

  // MARK: Signing

  /// The values with which a request was signed.
  struct Signed: Sendable {
    let credentials: S3Credentials?
    let date: Date
  }

  /// Signs a request in place.
  func sign(_ request: inout HTTPRequest, region: String) async throws(S3Error) -> Signed {
    let keys = try await credentials.current()
    let date = now
    for name in ["Authorization", "x-amz-date", "x-amz-security-token"] { request.headers[name] = nil }
    guard let keys else { return Signed(credentials: nil, date: date) }
    let isSigned = !request.url.isSecure || configuration.signsBodiesOverTLS || !request.hasBody
    let hash =
      request.headers["x-amz-content-sha256"]
      ?? (isSigned ? SignatureV4.hash(request.body ?? Data()) : SignatureV4.unsignedBody)
    request.headers["x-amz-content-sha256"] = hash
    request.headers["x-amz-date"] = SignatureV4.timestamp(date)
    request.headers["x-amz-security-token"] = keys.sessionToken
    let signature = SignatureV4(keys, region: region)
    request.headers["Authorization"] = signature.authorization(Self.parts(of: request, hash), at: date)
    return Signed(credentials: keys, date: date)
  }

  /// Returns the parts of a request that are signed: the ones that S3 requires, and the range.
  static func parts(of request: HTTPRequest, _ hash: String) -> SignatureV4.Parts {
    let rest = request.url.string.dropFirst(request.url.isSecure ? 8 : 7)
    let target = rest[(rest.firstIndex(of: "/") ?? rest.endIndex)...]
    let mark = target.firstIndex(of: "?") ?? target.endIndex
    var fields: [(name: String, value: String)] = [("host", request.url.authority)]
    for field in request.headers {
      let name = field.name.lowercased()
      guard name.hasPrefix("x-amz-") || ["content-type", "range"].contains(name) else { continue }
      fields.append((name, field.value))
    }
    return SignatureV4.Parts(
      method: request.method.name,
      path: String(target[..<mark]),
      query: String(target[mark...].dropFirst()),
      fields: fields,
      bodyHash: hash,
    )
  }
}

extension HTTPURL {
  /// The value of `Host`.
  var authority: String { port == (isSecure ? 443 : 80) ? host : "\(host):\(port)" }
}
