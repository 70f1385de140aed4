package import VitrineCaching
public import VitrineImaging
import VitrineRuntime

/// A loaded image and its origin.
public struct ImageResponse: Sendable {
  /// The origin of an image or of the bytes it was made from.
  public enum Origin: String, Sendable, Hashable, CaseIterable {
    /// The memory cache: nothing was decoded.
    case memory
    /// The disk cache, fresh: no request was sent.
    case disk
    /// The disk cache, after the server confirmed that nothing had changed.
    case revalidated
    /// The server.
    case network
    /// A file, data or a closure.
    case local
  }

  let loaded: LoadedImage
  /// The origin of the image.
  public let origin: Origin
  /// A Boolean value that indicates whether the image was served stale.
  public let isStale: Bool
  /// True if the image was served stale and must be revalidated meanwhile.
  package let isRevalidationDue: Bool
  /// The place that the image has until it is encoded.
  var place: MakingPlace?

  /// The pixels: at the requested size, upright, processed.
  public var image: Bitmap { loaded.container.bitmap }
  /// The animation that begins with ``image``; `nil` for a still image, and unless the request has
  /// ``ImageRequest/animates``.
  public var animation: AnimatedImage? { loaded.container.animation }
  /// The image with its metadata.
  public var container: ImageContainer { loaded.container }
  /// The facts in the header of the encoded image.
  public var info: ImageInfo { loaded.container.info }
  /// The HTTP status of the response that brought the bytes; `nil` for other sources.
  public var status: Int? { loaded.status }
  /// The number of encoded bytes.
  public var byteCount: Int { loaded.byteCount }
  /// The identity of the bytes, which tells versions of the image apart.
  package var contentID: ContentID { loaded.contentID }
  /// The end of freshness; `nil` for never.
  package var expires: Date? { loaded.validity.expires }
  /// The time of the server's last confirmation; `nil` if there is no server.
  package var confirmed: Date? { loaded.validity.confirmed }
  /// The encoded bytes, if the request wants them.
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
    var response = ImageResponse(loaded, from: origin, isStale: isStale, isRevalidationDue: isRevalidationDue)
    response.place = place
    return response
  }
}

/// An event of a loading image.
public enum ImageEvent: Sendable {
  /// The bytes received so far.
  case progress(LoadProgress)
  /// An early version of the image.
  case preview(ImageContainer)
  /// The end.
  case finished(Result<ImageResponse, LoadError>)
}

extension ImageEvent: TaskEvent {
  typealias Response = ImageResponse
}

/// The progress of a download.
public struct LoadProgress: Sendable, Hashable {
  /// The number of bytes received.
  public let completed: Int
  /// The number of bytes expected; 0 if unknown.
  public let total: Int

  /// Creates a progress, for fakes; a number below 0 counts as 0.
  ///
  /// - Parameters:
  ///   - completed: Bytes received. Defaults to 0.
  ///   - total: Bytes expected; 0, the default, while that is unknown.
  public init(completed: Int = 0, total: Int = 0) {
    (self.completed, self.total) = (max(0, completed), max(0, total))
  }

  /// The fraction received, from 0 to 1; 0 while the total is unknown.
  public var fraction: Double {
    guard total > 0 else { return 0 }
    return min(1, Double(completed) / Double(total))
  }
}
