public import VitrineCaching
public import VitrineImaging
import VitrineRuntime

/// An image as the bytes of a file, made by ``ImagePipeline/encoded(for:as:)-(ImageRequest,_)``.
public struct EncodedImage: Sendable {
  /// The bytes of the file.
  public let data: Data
  /// The format of the file.
  public let format: ImageFormat
  /// The width in pixels, upright.
  public let width: Int
  /// The height in pixels, upright.
  public let height: Int
  /// A Boolean value that indicates whether these are the original bytes as they came.
  package let isOriginal: Bool
  /// The origin: ``ImageResponse/Origin/disk`` if the encoded image was on disk, otherwise the origin of the image that
  /// was encoded.
  public let origin: ImageResponse.Origin
  /// A Boolean value that indicates whether the image was served stale.
  public let isStale: Bool
  /// The HTTP status of the original's response; `nil` for other sources.
  public let status: Int?
  /// The identity of the original's bytes, the same in every encoding and size; `nil` for sources whose versions are
  /// not distinguished.
  ///
  /// Together with the request and the encoding, it makes a validator for a server's own responses.
  public var contentID: ContentID? { source == .none ? nil : source }
  /// The time until which the image may be served without a request to the original's server; `nil` for ever.
  public var expires: Date? { validity.expires }

  /// The time until which the image may be served while it is revalidated; `nil` if it may not.
  package var usableWhileRevalidatingUntil: Date? { validity.usableWhileRevalidatingUntil }
  /// The time until which the image may be served if the server cannot be reached; `nil` if it may not.
  package var usableOnErrorUntil: Date? { validity.usableOnErrorUntil }
  /// A Boolean value that indicates whether the original's server allows storing the image.
  package var isStorable: Bool { validity.isKept }
  /// A Boolean value that indicates whether shared caches must not store the image (`Cache-Control: private`).
  package var isPrivate: Bool { validity.isPrivate }
  /// The time of the original's last change, according to its server; `nil` if unknown.
  package var modified: Date? { validity.modified }

  /// The reason why a part of the image is missing, if ``ImageRequest/acceptsPartial`` allowed that; `nil` for a whole image.
  ///
  /// JPEG shows the missing part white. A damaged image is not stored on disk.
  public let damage: ImageError?

  let source: ContentID
  let validity: Validity
  /// A Boolean value that indicates whether the image was served stale and must be revalidated meanwhile.
  let isRevalidationDue: Bool

  /// Creates an encoded image, for fakes.
  ///
  /// - Parameters:
  ///   - data: The bytes of the file.
  ///   - format: The format of the file.
  ///   - width: The width in pixels.
  ///   - height: The height in pixels.
  ///   - origin: The origin. Defaults to ``ImageResponse/Origin/local``.
  ///   - isStale: A Boolean value that indicates whether the image was served stale. Defaults to `false`.
  ///   - status: The HTTP status of the original's response. Defaults to `nil`.
  ///   - contentID: The identity of the original's bytes. Defaults to `nil`.
  ///   - expires: The time until which the image may be served. Defaults to `nil`, for ever.
  package init(
    _ data: Data,
    format: ImageFormat,
    width: Int,
    height: Int,
    from origin: ImageResponse.Origin = .local,
    isStale: Bool = false,
    status: Int? = nil,
    contentID: ContentID? = nil,
    expires: Date? = nil,
  ) {
    (self.data, self.format, self.width, self.height) = (data, format, width, height)
    (self.origin, self.isStale, self.status) = (origin, isStale, status)
    (source, validity, isOriginal, isRevalidationDue) = (contentID ?? .none, .until(expires), false, false)
    damage = nil
  }

  /// Creates an encoded image from the bytes and the image that was encoded.
  init(_ data: Data, _ format: ImageFormat, of image: ImageResponse) {
    (self.data, self.format) = (data, format)
    (width, height) = (image.image.width, image.image.height)
    (origin, isStale, status, isOriginal) = (image.origin, image.isStale, image.status, false)
    (source, validity, isRevalidationDue) = (image.contentID, image.loaded.validity, image.isRevalidationDue)
    // The frames of an animation are decoded while it is encoded.
    damage = image.container.damage ?? image.animation?.damage
  }

  /// Creates an encoded image from the entry of a cache.
  init(
    _ data: Data,
    _ header: Header,
    _ source: ContentID,
    _ validity: Validity,
    from origin: ImageResponse.Origin,
    isStale: Bool = false,
    isRevalidationDue: Bool = false,
  ) {
    (self.data, format, width, height) = (data, header.format, header.width, header.height)
    (self.origin, self.isStale, status, isOriginal) = (origin, isStale, header.status, false)
    (self.source, self.validity, self.isRevalidationDue) = (source, validity, isRevalidationDue)
    damage = nil
  }
}

extension EncodedImage: LoadedValue {
  var byteCount: Int { data.count }
}
