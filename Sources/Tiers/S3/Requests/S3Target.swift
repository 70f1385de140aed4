import VitrineHTTP
import VitrineRuntime

/// The object, or the bucket with a query, of a request.
struct S3Target: Sendable, Hashable {
  /// The host of stand-in URLs for buckets, which the client alone creates.
  private static let bucketHost = "bucket.s3.vitrine.invalid"

  let bucket: String
  /// The key; `nil` for the bucket itself.
  let key: String?
  /// The query in the form that is signed and sent.
  let query: String

  init(_ object: ObjectURL) { self.init(object.bucket, object.key, "") }

  private init(_ bucket: String, _ key: String?, _ query: String) {
    (self.bucket, self.key, self.query) = (bucket, key, query)
  }

  /// - Parameters:
  ///   - bucket: The bucket.
  ///   - query: The names and values of the query.
  init(bucket: String, query: [(name: String, value: String)]) {
    self.init(bucket, nil, SignatureV4.query(query))
  }

  /// Returns the target of a stand-in, or `nil` for any other URL.
  init?(standIn url: HTTPURL) {
    if let object = ObjectURL(standIn: url.string) {
      self.init(object)
      return
    }
    guard url.host == Self.bucketHost, let mark = url.string.firstIndex(of: "?") else { return nil }
    let bucket = url.string[..<mark].dropFirst("https://\(Self.bucketHost)/".count)
    self.init(String(bucket), nil, String(url.string[mark...].dropFirst()))
  }

  /// The URL of the target within the client.
  var standIn: HTTPURL {
    if let object = key.flatMap({ ObjectURL(bucket: bucket, key: $0) }) { return object.standIn }
    return HTTPURL(
      string: "https://\(Self.bucketHost)/\(bucket)?\(query)",
      host: Self.bucketHost,
      port: 443,
      isSecure: true,
    )
  }

  /// The target in the form `s3://bucket/key`.
  var text: String { "s3://\(bucket)\(key.map { "/\($0)" } ?? "")" }

  /// Returns the URL at a server.
  ///
  /// - Parameters:
  ///   - region: The region of the bucket.
  ///   - authority: The host and port of a redirect, or `nil` for the usual ones.
  ///   - configuration: The settings.
  /// - Returns: The URL that is signed and sent.
  func url(region: String, at authority: HTTPURL? = nil, _ configuration: S3Configuration) -> HTTPURL {
    let server = configuration.endpoint ?? Self.amazon(region)
    let isInHost =
      if let authority {
        authority.host.hasPrefix("\(bucket).")
      } else {
        isInHost(configuration)
      }
    let host = authority?.host ?? (isInHost ? "\(bucket).\(server.host)" : server.host)
    let (port, isSecure) = ((authority ?? server).port, (authority ?? server).isSecure)
    let hasPort = port != (isSecure ? 443 : 80)
    var path = Self.path(of: server)
    if !isInHost { path += "/\(PercentEncoding.encode(bucket))" }
    // Each segment of a key is encoded once, and all of its slashes are kept, since `a//b/../c` is a valid name.
    if let key { path += "/\(PercentEncoding.encode(key, keeping: "/"))" }
    if path.isEmpty { path = "/" }
    return HTTPURL(
      string:
        "\(isSecure ? "https" : "http")://\(host)\(hasPort ? ":\(port)" : "")\(path)\(query.isEmpty ? "" : "?\(query)")",
      host: host,
      port: port,
      isSecure: isSecure,
    )
  }

  private func isInHost(_ configuration: S3Configuration) -> Bool {
    switch configuration.addressing.value {
    case .path: false
    case .virtualHosted: true
    case .automatic: configuration.endpoint == nil && Self.isLabel(bucket)
    }
  }

  /// Returns the path of a server's URL, without a slash at its end.
  private static func path(of server: HTTPURL) -> String {
    let rest = server.string.dropFirst(server.isSecure ? 8 : 7)
    var path = rest[(rest.firstIndex(of: "/") ?? rest.endIndex)...]
    while path.hasSuffix("/") { path = path.dropLast() }
    return String(path)
  }

  private static func amazon(_ region: String) -> HTTPURL {
    let host = "s3.\(region).amazonaws.com\(region.hasPrefix("cn-") ? ".cn" : "")"
    return HTTPURL(string: "https://\(host)/", host: host, port: 443, isSecure: true)
  }

  /// Returns a Boolean value that indicates whether a bucket fits one label of a host, since certificates do not cover
  /// two.
  private static func isLabel(_ bucket: String) -> Bool {
    (3...63).contains(bucket.utf8.count)
      && bucket.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0) || $0 == 45 }
  }
}
