public import VitrineImaging
public import VitrineRuntime

extension URL {
  /// The image at this URL, loaded by ``ImagePipeline/shared``.
  ///
  /// ```swift
  /// let image = try await url.vitrine.image()
  /// ```
  public var vitrine: URLImage { URLImage(url: self) }
}

/// The image at a URL; see `URL.vitrine`.
public struct URLImage: Sendable {
  /// The URL.
  public let url: URL

  /// The image at its own size if it is in memory, else `nil`; does not wait.
  public var cachedImage: Bitmap? { cachedImage(size: nil) }

  /// Returns the image, if it is in memory at this size; does not wait.
  public func cachedImage(size: TargetSize?) -> Bitmap? {
    ImagePipeline.shared.cachedImage(for: ImageRequest(url: url, size: size))?.image
  }

  /// Loads the image, by default at its own size.
  ///
  /// - Throws: ``LoadError``; with code `.cancelled`, at once, if the awaiting task is cancelled.
  public func image(size: TargetSize? = nil) async throws(LoadError) -> Bitmap {
    try await ImagePipeline.shared.image(for: ImageRequest(url: url, size: size))
  }

  /// Loads the encoded bytes, through the same caches.
  ///
  /// - Throws: ``LoadError``; with code `.cancelled`, at once, if the awaiting task is cancelled.
  public func data() async throws(LoadError) -> Data { try await ImagePipeline.shared.data(for: url) }
}
