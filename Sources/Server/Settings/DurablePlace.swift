import VitrineHTTP

/// The bucket and the beginning of the names in which a server's cache is durable.
struct DurablePlace: Sendable, Hashable {
  let bucket: String
  /// With a slash at the end, so that `v1` is not the beginning of `v10`, too.
  let prefix: String

  /// Parses `s3://bucket/prefix`.
  init(_ text: String) throws(ConfigurationError) {
    guard let object = ObjectURL(text), object.key.utf8.count < 200 else {
      throw ConfigurationError("'\(text)' is not s3://bucket/prefix, with a prefix of 1 to 199 bytes")
    }
    bucket = object.bucket
    prefix = object.key.hasSuffix("/") ? object.key : object.key + "/"
  }
}
