import VitrineCaching
public import VitrineImaging
public import VitrineRuntime

/// An image in the memory cache, with what its freshness depends on.
///
/// It carries the content id and the expiry of the bytes that it was made of, so it is never served as fresh for longer
/// than they may be.
public struct CachedImage: Sendable, ObjectValue {
  // Alone, so that the cache keeps the object itself.
  let loaded: LoadedImage

  init(_ loaded: LoadedImage) { self.loaded = loaded }

  /// Makes one of an image that did not come through a pipeline.
  ///
  /// - Parameters:
  ///   - image: The image.
  ///   - expires: The time from which on it is stale, and loaded anew by whoever awaits it. Defaults to `nil`, for never.
  ///   - status: The HTTP status of the answer that brought its bytes. Defaults to `nil`.
  public init(_ image: ImageContainer, expires: Date? = nil, status: Int? = nil) {
    self.init(LoadedImage(image, .none, .until(expires), status: status, byteCount: 0, nil))
  }

  /// The image and what is known of it.
  public var container: ImageContainer { loaded.container }

  /// The pixels.
  public var image: Bitmap { loaded.container.bitmap }

  /// The time from which on it is stale; `nil` for never.
  public var expires: Date? { loaded.validity.expires }

  /// The HTTP status of the answer that brought its bytes; `nil` for other sources.
  public var status: Int? { loaded.status }

  var validity: Validity { loaded.validity }
  var contentID: ContentID { loaded.contentID }
}

/// An image and where it comes from, in one object that caches, jobs and responses share.
///
/// In memory, among many, each object that a hit touches is a wait.
final class LoadedImage: Sendable {
  // First, so that it lies beside the count of references, which a hit changes.
  let validity: Validity
  let container: ImageContainer
  /// Tells the bytes it was made of apart from other versions of the same image.
  let contentID: ContentID
  /// The HTTP status of the answer that brought the bytes; `nil` for other sources.
  let status: Int?
  /// The number of encoded bytes it was made of.
  let byteCount: Int
  /// How it was decoded; `nil` for what has been processed, or did not come from a decoder.
  let rendition: Rendition?

  var info: ImageInfo { container.info }
  /// What it costs the memory cache.
  var cost: Int { container.bitmap.byteCount }

  init(
    _ container: ImageContainer,
    _ contentID: ContentID,
    _ validity: Validity,
    status: Int?,
    byteCount: Int,
    _ rendition: Rendition?,
  ) {
    (self.container, self.contentID, self.validity) = (container, contentID, validity)
    (self.status, self.byteCount, self.rendition) = (status, byteCount, rendition)
  }

  /// One that was made of bytes.
  convenience init(_ container: ImageContainer, of bytes: FetchedBytes, _ rendition: Rendition?) {
    let count = bytes.data.count
    self.init(container, bytes.contentID, bytes.validity, status: bytes.status, byteCount: count, rendition)
  }

  /// The same source with other pixels, made of these.
  func replacing(_ container: ImageContainer, _ rendition: Rendition?) -> LoadedImage {
    LoadedImage(container, contentID, validity, status: status, byteCount: byteCount, rendition)
  }

  /// The same image, good for another time.
  func with(_ validity: Validity, status: Int?) -> LoadedImage {
    LoadedImage(container, contentID, validity, status: status, byteCount: byteCount, rendition)
  }
}
