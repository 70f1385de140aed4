import VitrineCaching
public import VitrineImaging
public import VitrineRuntime

/// An image in the memory cache, with its freshness.
///
/// It carries the content ID and the expiry of the bytes it was made from, so it is never served as fresh for longer.
public struct CachedImage: Sendable, ObjectValue {
  // This is the only stored property, so that the cache holds the object itself.
  let loaded: LoadedImage

  init(_ loaded: LoadedImage) { self.loaded = loaded }

  /// Creates a cached image from an image that did not come through a pipeline.
  ///
  /// - Parameters:
  ///   - image: The image.
  ///   - expires: The time from which the image is stale and loaded anew when it is requested. Defaults to `nil`, for
  ///     never.
  ///   - status: The HTTP status of the response with the bytes. Defaults to `nil`.
  public init(_ image: ImageContainer, expires: Date? = nil, status: Int? = nil) {
    self.init(LoadedImage(image, .none, .until(expires), status: status, byteCount: 0, nil))
  }

  /// The image and its metadata.
  package var container: ImageContainer { loaded.container }

  /// The pixels.
  public var image: Bitmap { loaded.container.bitmap }

  /// The time from which the image is stale; `nil` for never.
  public var expires: Date? { loaded.validity.expires }

  /// The HTTP status of the response with the bytes; `nil` for other sources.
  package var status: Int? { loaded.status }

  var validity: Validity { loaded.validity }
  var contentID: ContentID { loaded.contentID }
}

/// An image and its origin, in one object that caches, loads and responses share.
///
/// In a large memory cache, each object that a hit touches costs a cache miss of the CPU.
final class LoadedImage: Sendable {
  // This property comes first, so that it lies beside the reference count, which a hit changes.
  let validity: Validity
  let container: ImageContainer
  /// The identity of the bytes, which distinguishes versions of the image.
  let contentID: ContentID
  /// The HTTP status of the response with the bytes; `nil` for other sources.
  let status: Int?
  /// The number of encoded bytes.
  let byteCount: Int
  /// The parameters of the decode; `nil` for processed images and images that no decoder made.
  let parameters: DecodeParameters?
  /// A Boolean value that indicates whether the bytes may give other pixels, since the image has been stored with
  /// losses or resampled from a larger variant.
  let isLossy: Bool
  /// A Boolean value that indicates whether the image was made from a small picture of the source, which may have more
  /// pixels than ``info`` says.
  let isThumbnail: Bool

  var info: ImageInfo { container.info }
  /// The cost in the memory cache, in bytes.
  var cost: Int {
    container.bitmap.byteCount + (container.highRange?.byteCount ?? 0) + (container.gainMap?.bitmap.byteCount ?? 0)
      + (container.animation?.data.count ?? 0) + (validity.response?.value.count ?? 0)
  }

  init(
    _ container: ImageContainer,
    _ contentID: ContentID,
    _ validity: Validity,
    status: Int?,
    byteCount: Int,
    _ parameters: DecodeParameters?,
    isLossy: Bool = false,
    isThumbnail: Bool = false,
  ) {
    (self.container, self.contentID, self.validity) = (container, contentID, validity)
    (self.status, self.byteCount, self.parameters) = (status, byteCount, parameters)
    (self.isLossy, self.isThumbnail) = (isLossy, isThumbnail)
  }

  /// Returns the same source with other pixels, made from these.
  func replacing(
    _ container: ImageContainer,
    _ parameters: DecodeParameters?,
    isLossy: Bool = false,
  ) -> LoadedImage {
    LoadedImage(
      container,
      contentID,
      validity,
      status: status,
      byteCount: byteCount,
      parameters,
      isLossy: self.isLossy || isLossy,
      isThumbnail: isThumbnail,
    )
  }

  /// Returns the same image with another validity.
  func with(_ validity: Validity, status: Int?) -> LoadedImage {
    LoadedImage(
      container,
      contentID,
      validity,
      status: status,
      byteCount: byteCount,
      parameters,
      isLossy: isLossy,
      isThumbnail: isThumbnail,
    )
  }
}

extension ContentID {
  /// A Boolean value that indicates whether only the beginning of the body is known, so that there is no checksum.
  var isOfPartialBody: Bool { high == Self.beginningMark }

  /// Creates the identity of a body whose beginning alone was read.
  init(ofBodyTagged tag: String) { self.init(low: Self(of: Data(tag.utf8)).low, high: Self.beginningMark) }

  /// The mark of such an identity; only one checksum in 2^64 ends like this.
  private static let beginningMark = UInt64.max

  /// The identity of sources whose versions are not distinguished.
  static let none = ContentID(low: 0, high: 0)
}
