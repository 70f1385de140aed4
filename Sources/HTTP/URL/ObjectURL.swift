import VitrineRuntime

/// The URL of an object in a bucket: `s3://bucket/key`.
///
/// Loaders and caches accept only http and https URLs. Within a program, an object is therefore named by a *stand-in*:
/// an https URL of a host that cannot exist. Its query is the key, since a path would lose `..` and empty segments. A
/// loader of objects accepts stand-ins; every other loader refuses them.
package struct ObjectURL: Sendable, Hashable, CustomStringConvertible {
  private static let scheme = "s3://"
  private static let host = "s3.vitrine.invalid"
  private static let origin = "https://\(host)/"

  /// The name of the bucket.
  package let bucket: String
  /// The key of the object: any text of 1 to 1,024 bytes, taken as it is.
  package let key: String

  /// Creates the URL of an object, or returns `nil` if a name is invalid.
  package init?(bucket: String, key: String) {
    guard Self.isBucket(bucket), (1...1024).contains(key.utf8.count), !key.utf8.contains(0) else { return nil }
    (self.bucket, self.key) = (bucket, key)
  }

  /// Parses `s3://bucket/key`, in which the key is not percent-encoded, or returns `nil`.
  package init?(_ text: String) {
    guard text.prefix(Self.scheme.count).equalsIgnoringCase(Self.scheme) else { return nil }
    let rest = text.utf8.dropFirst(Self.scheme.utf8.count)
    guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else { return nil }
    self.init(
      bucket: String(decoding: rest[..<slash], as: UTF8.self),
      key: String(decoding: rest[slash...].dropFirst(), as: UTF8.self),
    )
  }

  /// Returns the object that the canonical text of a stand-in names, or `nil` for any other text.
  package init?(standIn text: String) {
    guard text.utf8.starts(with: Self.origin.utf8) else { return nil }
    let rest = text.utf8.dropFirst(Self.origin.utf8.count)
    guard let mark = rest.firstIndex(of: UInt8(ascii: "?")),
      let key = PercentEncoding.decode(String(decoding: rest[mark...].dropFirst(), as: UTF8.self))
    else { return nil }
    self.init(bucket: String(decoding: rest[..<mark], as: UTF8.self), key: key)
  }

  /// The URL of the object within a program.
  package var standIn: HTTPURL {
    HTTPURL(
      string: "\(Self.origin)\(bucket)?\(PercentEncoding.encode(key, keeping: "/"))",
      host: Self.host,
      port: 443,
      isSecure: true,
    )
  }

  /// The URL in the form `s3://bucket/key`.
  package var text: String { "\(Self.scheme)\(bucket)/\(key)" }

  /// The URL in the form `s3://bucket/key`.
  package var description: String { text }

  /// Returns a Boolean value that indicates whether a URL is a stand-in, valid or not.
  package static func isStandIn(_ url: HTTPURL) -> Bool { url.host == host || url.host == "\(host)." }

  /// Returns a Boolean value that indicates whether a text is a valid name of a bucket.
  ///
  /// Amazon allows fewer names than other servers do, and has some older ones with capitals and underscores.
  package static func isBucket(_ text: String) -> Bool {
    guard (1...255).contains(text.utf8.count), let first = text.utf8.first, first.isDigit || first.isLetter else {
      return false
    }
    return text.utf8.allSatisfy { $0.isDigit || $0.isLetter || "._-".utf8.contains($0) } && !text.contains("..")
  }
}
