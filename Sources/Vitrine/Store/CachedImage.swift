import VitrineCaching
public import VitrineImaging
import VitrineRuntime

/// An image in the memory cache, with its freshness.
///
/// It carries the content ID and the expiry of the bytes it was made from, so it is never served as fresh for longer.
public struct CachedImage: Sendable, ObjectValue {
  // The only stored property, so that the cache holds the object itself.
  let loaded: LoadedImage

  init(_ loaded: LoadedImage) { self.loaded = loaded }

  /// Creates a cached image that did not come through a pipeline; it never expires.
  public init(_ image: ImageContainer) { self.init(LoadedImage(image)) }

  /// The image and its metadata.
  public var container: ImageContainer { loaded.container }

  /// The pixels.
  public var image: Bitmap { loaded.container.bitmap }

  var validity: Validity { loaded.validity }
  var contentID: ContentID { loaded.contentID }
}

/// An image and its origin, in one object that caches, jobs and responses share.
///
/// In a large memory cache, each object that a hit touches costs a cache miss of the CPU.
final class LoadedImage: Sendable {
  // First, so that it lies beside the reference count, which a hit changes.
  let validity: Validity
  let container: ImageContainer
  /// The identity of the bytes, which tells versions of the image apart.
  let contentID: ContentID
  /// The HTTP status of the response that brought the bytes; `nil` for other sources.
  let status: Int?
  /// The number of encoded bytes.
  let byteCount: Int
  /// The parameters of the decode; `nil` for processed images and those that did not come from a decoder.
  let rendition: Rendition?

  var info: ImageInfo { container.info }
  /// The cost in the memory cache, in bytes.
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

  /// Creates an image made from bytes.
  convenience init(_ container: ImageContainer, of bytes: FetchedBytes, _ rendition: Rendition?) {
    let count = bytes.data.count
    self.init(container, bytes.contentID, bytes.validity, status: bytes.status, byteCount: count, rendition)
  }

  /// Creates an image that did not come through a pipeline.
  convenience init(_ container: ImageContainer) {
    self.init(container, .none, .unlimited, status: nil, byteCount: 0, nil)
  }

  /// Returns the same source with other pixels, made from these.
  func replacing(_ container: ImageContainer, _ rendition: Rendition?) -> LoadedImage {
    LoadedImage(container, contentID, validity, status: status, byteCount: byteCount, rendition)
  }

  /// Returns the same image with another validity.
  func with(_ validity: Validity, status: Int?) -> LoadedImage {
    LoadedImage(container, contentID, validity, status: status, byteCount: byteCount, rendition)
  }
}
