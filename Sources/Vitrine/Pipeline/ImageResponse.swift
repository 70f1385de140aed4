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

  func with(_ image: Bitmap) -> ImageResponse {
    ImageResponse(
      image: image,
      info: info,
      origin: origin,
      isStale: isStale,
      status: status,
      byteCount: byteCount,
    )
  }

  func from(_ origin: Origin, isStale: Bool) -> ImageResponse {
    ImageResponse(
      image: image,
      info: info,
      origin: origin,
      isStale: isStale,
      status: status,
      byteCount: byteCount,
    )
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
