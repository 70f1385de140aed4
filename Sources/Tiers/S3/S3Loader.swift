public import VitrineHTTP
import VitrineRuntime

/// A loader of `s3://bucket/key` URLs, which passes other URLs to another loader.
///
/// ```swift
/// let pipeline = ImagePipeline {
///   $0.loader = S3Loader(client, buckets: ["photos"])
/// }
/// let image = try await pipeline.image(for: ImageRequest(url: "s3://photos/2026/cat.jpg"))
/// ```
/// The freshness of an object follows from its `Cache-Control`, and it is revalidated by its `ETag`. A broken download
/// resumes where it ended, if the object has not changed.
///
/// **Allowed buckets.** Name the buckets to load from. Without this restriction, a chosen URL could read every object
/// that the credentials give access to.
public struct S3Loader: DataLoader {
  private let client: S3Client
  private let buckets: Set<String>
  private let others: any DataLoader

  /// Creates a loader.
  ///
  /// - Parameters:
  ///   - client: The client of the server.
  ///   - buckets: The buckets whose objects are loaded. Objects of other buckets fail with
  ///     `HTTPError.Code.addressRefused`.
  ///   - others: The loader of http and https URLs. Defaults to `nil`, a new one.
  public init(_ client: S3Client, buckets: Set<String>, others: (any DataLoader)? = nil) {
    (self.client, self.buckets, self.others) = (client, buckets, others ?? SystemLoader())
  }

  /// Starts or queues a load, and returns at once.
  @discardableResult
  public func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    guard ObjectURL.isStandIn(request.url) else { return others.load(request, into: sink) }
    guard let object = ObjectURL(standIn: request.url.string) else {
      sink.finish(HTTPError(.invalidURL, url: request.url.string, "not the URL of an object"))
      return NoLoadHandle()
    }
    guard buckets.contains(object.bucket) else {
      sink.finish(HTTPError(.addressRefused, url: object.text, "the bucket is not among those that may be loaded"))
      return NoLoadHandle()
    }
    guard request.method == .get || request.method == .head, !request.hasBody else {
      sink.finish(HTTPError(.invalidRequest, url: object.text, "objects are only read, not sent a \(request.method)"))
      return NoLoadHandle()
    }
    return client.transport.load(request, into: sink)
  }

  /// Returns the value of the loader of http and https URLs.
  ///
  /// The server of objects is configured by the operator, and may be in a private network.
  public func obeys(_ addressGuard: AddressGuard) -> Bool { others.obeys(addressGuard) }
}
