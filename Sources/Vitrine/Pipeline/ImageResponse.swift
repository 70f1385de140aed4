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

  /// The pixels: at the size asked for, upright, processed.
  public let image: Bitmap
  /// What the header of the encoded image said.
  public let info: ImageInfo
  /// Where it came from.
  public let origin: Origin
  /// Whether it was served although the time for which it may be is over.
  public let isStale: Bool
  /// The HTTP status of the answer that brought the bytes; `nil` for other sources.
  public let status: Int?
  /// How many encoded bytes it was made of.
  public let byteCount: Int
  /// Tells the bytes it was made of apart from other versions of the same image.
  package let contentID: ContentID
  /// The encoded bytes, for a request that wants them.
  package var encoded: Data?

  init(_ image: Bitmap, _ info: ImageInfo, of bytes: FetchedBytes) {
    self.init(
      image: image,
      info: info,
      origin: bytes.origin,
      isStale: bytes.isStale,
      status: bytes.status,
      byteCount: bytes.data.count,
      contentID: bytes.contentID,
    )
  }

  private init(
    image: Bitmap,
    info: ImageInfo,
    origin: Origin,
    isStale: Bool,
    status: Int?,
    byteCount: Int,
    contentID: ContentID,
  ) {
    (self.image, self.info, self.origin, self.isStale) = (image, info, origin, isStale)
    (self.status, self.byteCount, self.contentID) = (status, byteCount, contentID)
  }

  /// An image that somebody made and put into a cache.
  init(_ image: Bitmap) {
    self.init(
      image: image,
      info: ImageInfo(format: .bitmap, storedWidth: image.width, storedHeight: image.height),
      origin: .local,
      isStale: false,
      status: nil,
      byteCount: 0,
      contentID: .none,
    )
  }

  func with(_ image: Bitmap) -> ImageResponse {
    var response = ImageResponse(
      image: image,
      info: info,
      origin: origin,
      isStale: isStale,
      status: status,
      byteCount: byteCount,
      contentID: contentID,
    )
    response.encoded = encoded
    return response
  }

  func from(_ origin: Origin, isStale: Bool) -> ImageResponse {
    ImageResponse(
      image: image,
      info: info,
      origin: origin,
      isStale: isStale,
      status: status,
      byteCount: byteCount,
      contentID: contentID,
    )
  }

  func confirmed(by bytes: FetchedBytes) -> ImageResponse { ImageResponse(image, info, of: bytes) }
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
