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
  private let facts: Facts
  /// The encoded bytes, for a request that wants them.
  package var encoded: Data?

  /// What is the same however the image is served: shared, so that a hit in memory touches one object and not each in it.
  private final class Facts: Sendable {
    let image: Bitmap
    let info: ImageInfo
    let status: Int?
    let byteCount: Int
    let contentID: ContentID

    init(_ image: Bitmap, _ info: ImageInfo, status: Int?, byteCount: Int, _ contentID: ContentID) {
      (self.image, self.info, self.contentID) = (image, info, contentID)
      (self.status, self.byteCount) = (status, byteCount)
    }
  }

  /// The pixels: at the size asked for, upright, processed.
  public var image: Bitmap { facts.image }
  /// What the header of the encoded image said.
  public var info: ImageInfo { facts.info }
  /// The HTTP status of the answer that brought the bytes; `nil` for other sources.
  public var status: Int? { facts.status }
  /// How many encoded bytes it was made of.
  public var byteCount: Int { facts.byteCount }
  /// Tells the bytes it was made of apart from other versions of the same image.
  package var contentID: ContentID { facts.contentID }

  init(_ image: Bitmap, _ info: ImageInfo, of bytes: FetchedBytes) {
    (origin, isStale, isRevalidationDue) = (bytes.origin, bytes.isStale, bytes.isRevalidationDue)
    facts = Facts(image, info, status: bytes.status, byteCount: bytes.data.count, bytes.contentID)
  }

  /// An image that was stored as it is shown.
  init(
    _ image: Bitmap,
    _ info: ImageInfo,
    _ origin: Origin,
    status: Int?,
    byteCount: Int,
    _ contentID: ContentID,
  ) {
    (self.origin, isStale, isRevalidationDue) = (origin, false, false)
    facts = Facts(image, info, status: status, byteCount: byteCount, contentID)
  }

  /// An image that somebody made and put into a cache.
  init(_ image: Bitmap) {
    let info = ImageInfo(format: .bitmap, storedWidth: image.width, storedHeight: image.height)
    (origin, isStale, isRevalidationDue) = (.local, false, false)
    facts = Facts(image, info, status: nil, byteCount: 0, .none)
  }

  private init(_ facts: Facts, _ origin: Origin, isStale: Bool, isRevalidationDue: Bool) {
    (self.facts, self.origin, self.isStale, self.isRevalidationDue) = (facts, origin, isStale, isRevalidationDue)
  }

  func with(_ image: Bitmap) -> ImageResponse {
    let facts = Facts(image, info, status: status, byteCount: byteCount, contentID)
    var response = ImageResponse(facts, origin, isStale: isStale, isRevalidationDue: isRevalidationDue)
    response.encoded = encoded
    return response
  }

  func from(_ origin: Origin, isStale: Bool, isRevalidationDue: Bool = false) -> ImageResponse {
    ImageResponse(facts, origin, isStale: isStale, isRevalidationDue: isRevalidationDue)
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
