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
  /// A Boolean value that indicates whether the image was served stale and must be revalidated meanwhile.
  package let isRevalidationDue: Bool
  /// The place of an image that is made for encoding, held until it is encoded.
  var place: MakingPlace?

  /// The pixels: at the requested size, upright, processed.
  public var image: Bitmap { loaded.container.bitmap }
  /// The animation that begins with ``image``; `nil` for a still image, or if ``ImageRequest/animates`` is `false`.
  public var animation: AnimatedImage? { loaded.container.animation }
  /// The image with its metadata.
  public var container: ImageContainer { loaded.container }
  /// The properties in the header of the encoded image.
  public var info: ImageInfo { loaded.container.info }
  /// The HTTP status of the response with the bytes; `nil` for other sources.
  public var status: Int? { loaded.status }
  /// The number of encoded bytes.
  public var byteCount: Int { loaded.byteCount }
  /// The identity of the bytes, which distinguishes versions of the image.
  package var contentID: ContentID { loaded.contentID }
  /// The end of freshness; `nil` for never.
  package var expires: Date? { loaded.validity.expires }
  /// The time of the server's last confirmation; `nil` if there is no server.
  package var confirmed: Date? { loaded.validity.confirmed }
  /// The encoded bytes, if the request asks for them.
  package var encoded: Data? { loaded.container.encodedData }

  /// Creates a response from an image that was made elsewhere, for an ``ImageInterceptor`` or a fake.
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

  /// Creates a response from an image that was made elsewhere, for an ``ImageInterceptor`` or a fake.
  ///
  /// - Parameters:
  ///   - image: The image.
  ///   - origin: The origin of the image. Defaults to ``Origin/local``.
  ///   - isStale: A Boolean value that indicates whether the image is served past its expiry. Defaults to `false`.
  ///   - status: The HTTP status of the response with the bytes. Defaults to `nil`.
  ///   - byteCount: The number of encoded bytes. Defaults to 0.
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
  package func replacingImage(_ image: Bitmap) -> ImageResponse {
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

extension ImageResponse: LoadedValue {}
