public import VitrineHTTP
public import VitrineImaging
import VitrineRuntime

/// A type that takes part in a pipeline's work: rewrites requests, chooses decoders, decides about storage.
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
/// Every method has a default that changes nothing, and a pipeline without a delegate spends nothing on it. Methods are
/// called on any thread, also concurrently. To sign a request just before it is sent, use
/// ``PipelineConfiguration/willSend``.
public protocol PipelineDelegate: Sendable {
  /// Returns the request to load in place of another; by default the same.
  ///
  /// The result replaces the request everywhere: in loads, prefetches and cancellations, in look-ups in memory, and in
  /// the pipeline's ``PipelineCache``. It must be the same for the same request for as long as the loaded images are to
  /// be found. The method is called within each of these calls, also on the main thread, so it must be quick; a changed
  /// request costs about a microsecond for new keys. A rewritten request is not rewritten again. Each of several
  /// sources is rewritten as a request of its own.
  func willLoad(_ request: ImageRequest) -> ImageRequest

  /// Returns the decoders for an image; `nil`, the default, selects the pipeline's own.
  ///
  /// Called on a thread that may block, before an image or a preview is decoded, once for all requests that share it.
  ///
  /// - Parameters:
  ///   - request: The request after ``willLoad(_:)``.
  ///   - firstBytes: The first 4,096 bytes of the encoded image, or all of a shorter one.
  /// - Returns: The decoders. They must be the same for the same arguments, since the image is cached under the
  ///   request's key.
  func decoders(for request: ImageRequest, firstBytes: Data) -> DecoderRegistry?

  /// Returns the part of fetched bytes to store in the data cache; by default all of them.
  ///
  /// Called on a thread that may block, for bytes that may be stored, once they have proved to be an image or were
  /// requested as data; the caller does not wait. From the next start on, the returned bytes replace the originals, for
  /// data requests, too. They keep the content ID, so they must show the same picture, for instance without metadata or
  /// compressed again. Bytes that differ in size (after orientation) or frame count are not stored, nor is an image in
  /// place of other data. Since this method needs whole bodies, a pipeline with a delegate keeps no partial downloads.
  /// To encrypt stored data, use a `SealedDataCache`.
  ///
  /// - Parameters:
  ///   - data: The bytes from the server.
  ///   - request: The request after ``willLoad(_:)``; if several requests share the transfer, the first.
  ///   - response: The server's response.
  /// - Returns: The bytes to store; `nil` to store nothing and to remove the bytes of an earlier response.
  func willStore(_ data: Data, for request: ImageRequest, response: HTTPResponse) -> Data?

  /// Returns `true`, the default, to store a finished image that the ``StoragePolicy`` selects.
  ///
  /// It is independent of ``willStore(_:for:response:)``: to keep an image off the disk entirely, refuse it in both.
  /// Called on a thread that may block, before the caller is answered.
  func storesFinished(_ image: ImageResponse, for request: ImageRequest) -> Bool

  /// Returns `true`, the default, to store an encoded image.
  ///
  /// It is independent of the other two methods. Called on a thread that may block, before the caller is answered.
  func storesEncoded(_ image: EncodedImage, for request: ImageRequest) -> Bool
}

extension PipelineDelegate {
  /// Returns the request unchanged.
  public func willLoad(_ request: ImageRequest) -> ImageRequest { request }

  /// Returns `nil`, for the pipeline's own decoders.
  public func decoders(for request: ImageRequest, firstBytes: Data) -> DecoderRegistry? { nil }

  /// Returns all bytes unchanged.
  public func willStore(_ data: Data, for request: ImageRequest, response: HTTPResponse) -> Data? { data }

  /// Returns `true`.
  public func storesFinished(_ image: ImageResponse, for request: ImageRequest) -> Bool { true }

  /// Returns `true`.
  public func storesEncoded(_ image: EncodedImage, for request: ImageRequest) -> Bool { true }
}
