/// A preview of an image that is still loading.
///
/// It is a type of its own so that it is never taken for the image: it is not cached and ends no request.
public struct ImagePreview: Sendable {
  /// The completeness of a preview.
  public enum Detail: Hashable, Sendable {
    /// The whole picture, possibly less sharp than the image.
    case whole
    /// The given share of the rows, above 0 and below 1. The others are transparent.
    ///
    /// The top rows arrive first, unless the file stores its picture rotated.
    case rows(share: Double)
  }

  /// The pixels, at the size of the final image.
  public let bitmap: Bitmap
  /// The facts of the header.
  public let info: ImageInfo
  /// The completeness.
  public let detail: Detail
  /// The number of bytes, from the start of the file, that the preview is made from.
  public let byteCount: Int
  /// The frames that have arrived, of which there are two or more; `nil` for other previews.
  ///
  /// It can be played at once, and grows with the bytes that follow: there is no further preview. The image has the same
  /// animation, whole by then.
  public let animation: AnimatedImage?

  package init(
    bitmap: Bitmap,
    info: ImageInfo,
    detail: Detail,
    byteCount: Int,
    animation: AnimatedImage? = nil,
  ) {
    (self.bitmap, self.info, self.detail, self.byteCount) = (bitmap, info, detail, byteCount)
    self.animation = animation
  }
}

/// The reason for which the beginning of a file is decoded.
package enum PreviewPurpose: String, Hashable, Sendable, CaseIterable {
  /// A preview, which the image replaces.
  case preview
  /// The image itself, from the thumbnail in EXIF.
  case thumbnail
  /// The image itself, from the first scans of a progressive JPEG.
  case scans
}

/// The policy for previews while an image loads: how many, and of which parts.
///
/// It measures bytes, not seconds, so that the same bytes give the same previews at any speed. With
/// ``DecodeOptions/animates``, any policy but ``none`` also lets an animation play while it arrives.
public struct PreviewPolicy: Hashable, Sendable {
  /// The maximum number of previews tried for one image.
  ///
  /// Defaults to 3.
  ///
  /// Each is made from at least twice the bytes of the previous one, or from scans of a progressive JPEG that look
  /// visibly better. So all of them together cost at most as much as decoding the image once more.
  public var limit = 3
  /// The minimum number of bytes before the first preview and between two previews.
  ///
  /// Defaults to 8 KiB.
  public var interval = 8 << 10
  /// A Boolean value that indicates whether rows are shown before the last one has arrived.
  ///
  /// Defaults to `false`.
  ///
  /// Files that arrive row by row (most PNG, WebP and baseline JPEG files) have previews only if it is set.
  public var showsRows = false

  /// Makes a policy with the default values.
  public init() {}

  /// No previews.
  public static let none: PreviewPolicy = {
    var policy = PreviewPolicy()
    policy.limit = 0
    return policy
  }()
}
