import VitrineHTTP

/// The bucket and the prefix of a cache, in the form `s3://bucket/prefix`.
package struct BucketPlace: Sendable, Hashable {
  package let bucket: String
  /// The prefix, with a slash at the end, so that `v1` does not match `v10`.
  package let prefix: String

  /// Parses `s3://bucket/prefix`.
  package init(_ text: String) throws(S3Error) {
    guard let object = ObjectURL(text), object.key.utf8.count < 200 else {
      throw S3Error(.invalidConfiguration, "'\(text)' is not s3://bucket/prefix, with a prefix of 1 to 199 bytes")
    }
    bucket = object.bucket
    prefix = object.key.hasSuffix("/") ? object.key : object.key + "/"
  }
}
