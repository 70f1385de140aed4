public import VitrineHTTP
public import VitrineImaging
public import VitrineRuntime

/// Takes part in what a pipeline does: rewrites requests, chooses decoders, says what is stored.
///
/// ```swift
/// struct Mirror: PipelineDelegate {
///   func willLoad(_ request: ImageRequest) -> ImageRequest {
///     guard let url = request.url?.absoluteString else { return request }
///     var request = request
///     request.source = .url(url.replacing("https://example.org/", with: "https://mirror.example.org/"))
///     return request
///   }
/// }
/// ```
/// Everything has a default that changes nothing, and a pipeline without a delegate spends nothing on it. Methods may be
/// called on any threads, several at once. What is to be done to a request just before it is sent (signing it, say) is not for
/// here.
public protocol PipelineDelegate: Sendable {
  /// Rewrites a request before anything is known of it, its keys included; returns it as it is by default.
  ///
  /// What comes back takes the request's place everywhere: when an image is loaded, prefetched or cancelled, looked for in
  /// memory, and in the pipeline's ``PipelineCache``. So it has to be the same for the same request, for as long as what was
  /// loaded is to be found. It is called for each of these, within the call and thus on the main thread too: it must be quick,
  /// and one that changes a request costs the making of its keys, about a microsecond. A request that it returned is not
  /// rewritten again. Of several sources each is rewritten, as a request of its own.
  func willLoad(_ request: ImageRequest) -> ImageRequest

  /// Chooses what decodes an image; `nil`, the default, is for what the pipeline decodes with.
  ///
  /// Called on a thread that may take its time, before an image is decoded or a preview of it, once for all who wait for it.
  ///
  /// - Parameters:
  ///   - request: What was asked for, as it was rewritten.
  ///   - firstBytes: What the encoded image begins with: 4,096 bytes of it, or all where there are fewer.
  /// - Returns: The decoders; always the same for the same arguments, since the image is kept under the request's key.
  func decoders(for request: ImageRequest, firstBytes: Data) -> DecoderRegistry?

  /// Says what of bytes fetched from an address is kept in the cache of bytes; returns all of them by default.
  ///
  /// Called on a thread that may take its time, when they have proved to be what was asked for and may be kept, after whoever
  /// waits was answered. What is returned takes their place from the next start on, also where somebody asks for the bytes
  /// themselves, and goes by the same content id: images that were made of the bytes before are shown beside those made of
  /// what is kept. It must therefore be the same picture, without its metadata perhaps or compressed again. Bytes whose header
  /// says another size, turning included, or another number of frames are not kept, and neither is what makes an image of what
  /// was none. As it is asked about whole bodies, a pipeline with a delegate keeps nothing of a download that breaks off. To
  /// encrypt what is stored is the task of a cache (`SealedDataCache`).
  ///
  /// - Parameters:
  ///   - data: The bytes as they came.
  ///   - request: What was asked for, as it was rewritten; the first of several requests that share the transfer.
  ///   - response: What the server said.
  /// - Returns: What to keep; `nil` for nothing, and then what was kept of an earlier answer goes, too.
  func willStore(_ data: Data, for request: ImageRequest, response: HTTPResponse) -> Data?

  /// Says whether an image is kept on disk as it is shown, where the ``StoragePolicy`` would have it kept; it is by default.
  ///
  /// Asked apart from ``willStore(_:for:response:)``: what must not reach the disk at all is refused in both. Called on a
  /// thread that may take its time, before whoever waits is answered.
  func keepsFinished(_ image: ImageResponse, for request: ImageRequest) -> Bool
}

extension PipelineDelegate {
  /// Returns it as it is.
  public func willLoad(_ request: ImageRequest) -> ImageRequest { request }

  /// Returns nothing, so that the pipeline's own are asked.
  public func decoders(for request: ImageRequest, firstBytes: Data) -> DecoderRegistry? { nil }

  /// Returns all bytes, as they are.
  public func willStore(_ data: Data, for request: ImageRequest, response: HTTPResponse) -> Data? { data }

  /// Returns that it is.
  public func keepsFinished(_ image: ImageResponse, for request: ImageRequest) -> Bool { true }
}
