/// The kind of a stage of a request.
///
/// Later versions may add kinds; a `switch` over them needs a default.
public struct StageKind: Hashable, Sendable, CustomStringConvertible {
  package let name: String

  package init(_ name: String) { self.name = name }

  /// The request itself, from its creation until its caller has the result.
  public static let request = StageKind("request")
  /// The interceptors, with the requests that they make.
  public static let intercept = StageKind("intercept")
  /// Several sources, tried in order.
  public static let sources = StageKind("sources")
  /// The look-up of the finished image on disk.
  public static let finished = StageKind("finished")
  /// The revalidation of a stale image.
  public static let revalidate = StageKind("revalidate")
  /// The fetch of bytes: from disk, a server or a file.
  public static let fetch = StageKind("fetch")
  /// One transfer from a server; a fetch with redirects or retries has several.
  public static let transfer = StageKind("transfer")
  /// The decoding of an image.
  public static let decode = StageKind("decode")
  /// The resampling of an image from a larger variant in memory.
  public static let resample = StageKind("resample")
  /// One processor.
  public static let process = StageKind("process")
  /// The encoding of an image, or its look-up on disk as a file.
  public static let encode = StageKind("encode")

  /// The name, as it appears in traces.
  public var description: String { name }
}
