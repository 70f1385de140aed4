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

  let loaded: LoadedImage
  /// Where it came from.
  public let origin: Origin
  /// Whether it was served although the time for which it may be is over.
  public let isStale: Bool
  /// Whether it is stale and may be served, but its server has to be asked meanwhile.
  package let isRevalidationDue: Bool

  /// The pixels: at the size asked for, upright, processed.
  public var image: Bitmap { loaded.container.bitmap }
  /// The image with all that is known of it.
  public var container: ImageContainer { loaded.container }
  /// The facts in the header of the encoded image.
  public var info: ImageInfo { loaded.container.info }
  /// The HTTP status of the answer that brought the bytes; `nil` for other sources.
  public var status: Int? { loaded.status }
  /// The number of encoded bytes it was made of.
  public var byteCount: Int { loaded.byteCount }
  /// Tells the bytes it was made of apart from other versions of the same image.
  package var contentID: ContentID { loaded.contentID }
  /// The encoded bytes, for a request that wants them.
  package var encoded: Data? { loaded.container.encodedData }

  /// Makes a response of an image that was made elsewhere, for an ``ImageInterceptor`` or a fake to answer with.
  ///
  /// See ``init(_:from:isStale:status:byteCount:)-(ImageContainer,_,_,_,_)``.
  public init(
    _ image: Bitmap,
    from origin: Origin = .local,
    isStale: Bool = false,
    status: Int? = nil,
    byteCount: Int = 0,
  ) {
    self.init(ImageContainer(image), from: origin, isStale: isStale, status: status, byteCount: byteCount)
  }

  /// Makes a response of an image that was made elsewhere, for an ``ImageInterceptor`` or a fake to answer with.
  ///
  /// - Parameters:
  ///   - image: The image.
  ///   - origin: Where it came from. Defaults to ``Origin/local``.
  ///   - isStale: A Boolean value that indicates whether it is served past its expiry. Defaults to `false`.
  ///   - status: The HTTP status of the answer that brought the bytes. Defaults to `nil`.
  ///   - byteCount: The number of encoded bytes it was made of. Defaults to 0.
  public init(
    _ image: ImageContainer,
    from origin: Origin = .local,
    isStale: Bool = false,
    status: Int? = nil,
    byteCount: Int = 0,
  ) {
    let loaded = LoadedImage(image, .none, .unlimited, status: status, byteCount: max(0, byteCount), nil)
    self.init(loaded, from: origin, isStale: isStale)
  }

  init(_ loaded: LoadedImage, from origin: Origin, isStale: Bool = false, isRevalidationDue: Bool = false) {
    (self.loaded, self.origin, self.isStale) = (loaded, origin, isStale)
    self.isRevalidationDue = isRevalidationDue
  }

  /// Returns the same response with other pixels.
  public func replacingImage(_ image: Bitmap) -> ImageResponse {
    var container = container
    container.bitmap = image
    return replacing(container)
  }

  /// Returns the same response with another image.
  public func replacing(_ container: ImageContainer) -> ImageResponse {
    replacing(loaded.replacing(container, nil))
  }

  func replacing(_ loaded: LoadedImage) -> ImageResponse {
    ImageResponse(loaded, from: origin, isStale: isStale, isRevalidationDue: isRevalidationDue)
  }
}

/// Something that happens to an image that is being loaded.
public enum ImageEvent: Sendable {
  /// Bytes received, of how many; 0 while that is unknown.
  case progress(LoadProgress)
  /// The image as far as it is known.
  case preview(ImageContainer)
  /// The end.
  case finished(Result<ImageResponse, LoadError>)
}

extension ImageEvent: TaskEvent {
  typealias Response = ImageResponse
}

/// How much of the encoded bytes is there.
public struct LoadProgress: Sendable, Hashable {
  /// Bytes received.
  public let completed: Int
  /// Bytes expected; 0 while that is unknown.
  public let total: Int

  /// Creates a progress, for fakes; a number below 0 counts as 0.
  ///
  /// - Parameters:
  ///   - completed: Bytes received. Defaults to 0.
  ///   - total: Bytes expected; 0, the default, while that is unknown.
  public init(completed: Int = 0, total: Int = 0) {
    (self.completed, self.total) = (max(0, completed), max(0, total))
  }

  /// From 0 to 1; 0 while the total is unknown, never above 1.
  public var fraction: Double {
    guard total > 0 else { return 0 }
    return min(1, Double(completed) / Double(total))
  }
}
