package import VitrineCaching
public import VitrineImaging
import VitrineRuntime

/// An image as it was loaded, and where it came from.
public struct ImageResponse: Sendable {
  /// Where an image, or the bytes it was made of, came from.
  public enum Origin: String, Sendable, Hashable, CaseIterable {
    /// The memory cache: nothing was decoded.
    case memory
    /// The disk cache, fresh: no request was made.
    case disk
    /// The disk cache, after the server said that nothing had changed.
    case revalidated
    /// The server.
    case network
    /// A file, bytes at hand or a closure.
    case local
  }

  /// Where it came from.
  public let origin: Origin
  /// Whether it was served although the time for which it may be is over.
  public let isStale: Bool
  /// Whether it is stale and may be served, but its server has to be asked meanwhile.
  package let isRevalidationDue: Bool
  private let loaded: LoadedImage

  /// The pixels: at the size asked for, upright, processed.
  public var image: Bitmap { loaded.image }
  /// What the header of the encoded image said.
  public var info: ImageInfo { loaded.info }
  /// The HTTP status of the answer that brought the bytes; `nil` for other sources.
  public var status: Int? { loaded.status }
  /// How many encoded bytes it was made of.
  public var byteCount: Int { loaded.byteCount }
  /// Tells the bytes it was made of apart from other versions of the same image.
  package var contentID: ContentID { loaded.contentID }

  /// The encoded bytes, for a request that wants them.
  package var encoded: Data? { loaded.encoded }

  /// An image that was made elsewhere, for an ``ImageInterceptor`` or a fake to answer with.
  public init(_ image: Bitmap, from origin: Origin = .local) {
    self.init(LoadedImage(image), from: origin, isStale: false)
  }

  /// Returns the same answer with other pixels.
  public func replacingImage(_ image: Bitmap) -> ImageResponse {
    ImageResponse(
      LoadedImage(
        loaded,
        image: image,
        nil,
        from: origin,
        isStale: isStale,
        isRevalidationDue: isRevalidationDue,
      )
    )
  }

  /// In the form in which jobs hand it on.
  var cached: CachedImage {
    if (loaded.origin, loaded.isStale, loaded.isRevalidationDue) == (origin, isStale, isRevalidationDue) {
      return CachedImage(loaded)
    }
    return CachedImage(
      LoadedImage(
        loaded,
        loaded.rendition,
        from: origin,
        isStale: isStale,
        isRevalidationDue: isRevalidationDue,
      )
    )
  }

  /// As it was loaded.
  init(_ loaded: LoadedImage) {
    self.loaded = loaded
    (origin, isStale, isRevalidationDue) = (loaded.origin, loaded.isStale, loaded.isRevalidationDue)
  }

  /// As it is served by a cache.
  init(_ loaded: LoadedImage, from origin: Origin, isStale: Bool) {
    (self.loaded, self.origin, self.isStale, isRevalidationDue) = (loaded, origin, isStale, false)
  }
}

/// What is the same however an image is served, in one object.
///
/// In memory, among many, each object that a hit touches is a wait.
final class LoadedImage: Sendable {
  // First, so that it lies beside the count of references, which a hit changes.
  let validity: Validity
  let image: Bitmap
  let info: ImageInfo
  let status: Int?
  let byteCount: Int
  let contentID: ContentID
  /// How it was decoded; `nil` for what has been processed, or did not come from a decoder.
  let rendition: Rendition?
  let encoded: Data?
  /// Where it came from when it was loaded.
  let origin: ImageResponse.Origin
  let isStale: Bool
  let isRevalidationDue: Bool

  /// One that was made of bytes.
  init(_ image: Bitmap, _ info: ImageInfo, of bytes: FetchedBytes, _ rendition: Rendition?, encoded: Data? = nil) {
    (self.image, self.info, self.rendition, self.encoded) = (image, info, rendition, encoded)
    (status, byteCount, contentID) = (bytes.status, bytes.data.count, bytes.contentID)
    (validity, origin) = (bytes.validity, bytes.origin)
    (isStale, isRevalidationDue) = (bytes.isStale, bytes.isRevalidationDue)
  }

  /// One that was stored as it is shown.
  init(
    _ image: Bitmap,
    _ info: ImageInfo,
    _ origin: ImageResponse.Origin,
    status: Int?,
    byteCount: Int,
    _ contentID: ContentID,
    _ validity: Validity,
    _ rendition: Rendition?,
  ) {
    (self.image, self.info, self.origin, self.status) = (image, info, origin, status)
    (self.byteCount, self.contentID, self.validity) = (byteCount, contentID, validity)
    (self.rendition, encoded, isStale, isRevalidationDue) = (rendition, nil, false, false)
  }

  /// One that somebody made and put into a cache.
  init(_ image: Bitmap) {
    self.image = image
    info = ImageInfo(format: .bitmap, storedWidth: image.width, storedHeight: image.height)
    (status, byteCount, contentID, rendition, encoded) = (nil, 0, .none, nil, nil)
    (validity, origin, isStale, isRevalidationDue) = (.unlimited, .local, false, false)
  }

  /// The same with other pixels, or for longer.
  init(_ other: LoadedImage, image: Bitmap? = nil, _ rendition: Rendition?, validity: Validity? = nil) {
    (self.image, self.rendition, self.validity) = (image ?? other.image, rendition, validity ?? other.validity)
    (info, status, byteCount) = (other.info, other.status, other.byteCount)
    (contentID, encoded, origin) = (other.contentID, other.encoded, other.origin)
    (isStale, isRevalidationDue) = (other.isStale, other.isRevalidationDue)
  }

  /// The same, or other pixels made of these, as served from a cache.
  init(
    _ other: LoadedImage,
    image: Bitmap? = nil,
    _ rendition: Rendition?,
    from origin: ImageResponse.Origin,
    isStale: Bool = false,
    isRevalidationDue: Bool = false,
  ) {
    (self.image, self.rendition, validity) = (image ?? other.image, rendition, other.validity)
    (info, status, byteCount) = (other.info, other.status, other.byteCount)
    (contentID, encoded, self.origin) = (other.contentID, other.encoded, origin)
    (self.isStale, self.isRevalidationDue) = (isStale, isRevalidationDue)
  }
}

/// What happens on the way of an image, in order; ``finished(_:)`` is the last.
public enum ImageEvent: Sendable {
  /// Bytes received, of how many; 0 while that is unknown.
  case progress(LoadProgress)
  /// The image as far as it is known.
  case preview(Bitmap)
  /// The end.
  case finished(Result<ImageResponse, LoadError>)
}

/// How much of the encoded bytes is there.
public struct LoadProgress: Sendable, Hashable {
  /// Bytes received.
  public let completed: Int
  /// Bytes expected; 0 while that is unknown.
  public let total: Int

  /// From 0 to 1; 0 while the total is unknown, never above 1.
  public var fraction: Double {
    guard total > 0 else { return 0 }
    return min(1, Double(completed) / Double(total))
  }
}
