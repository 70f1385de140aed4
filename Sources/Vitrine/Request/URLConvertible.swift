public import VitrineRuntime

/// A URL, or its text: `URL` and `String`.
///
/// ```swift
/// let image = try await pipeline.image(for: "https://example.org/cat.jpg")
/// ```
/// Text that is not a URL fails with ``LoadError/Code/invalidURL`` when it is loaded.
public protocol URLConvertible: Sendable {
  /// The source of the image at the URL.
  var imageSource: ImageSource { get }
}

extension URL: URLConvertible {
  /// The source of the image at this URL.
  public var imageSource: ImageSource { .url(self) }
}

extension String: URLConvertible {
  /// The source of the image at the URL that is written here.
  public var imageSource: ImageSource { .url(self) }
}
