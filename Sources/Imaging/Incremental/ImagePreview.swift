/// What can be seen of an image before all of it has come.
///
/// It is a type of its own so that nothing takes it for the image: it goes into no cache and ends no request.
public struct ImagePreview: Sendable {
  /// What is missing.
  public enum Detail: Hashable, Sendable {
    /// All of the picture is there, perhaps less sharp than it is going to be.
    case whole
    /// This share of the rows is there, above 0 and below 1; the others are transparent.
    ///
    /// The rows that come first are those at the top, unless the file has its picture turned.
    case rows(share: Double)
  }

  /// The pixels, in the size that the image will have.
  public let bitmap: Bitmap
  /// What the header says.
  public let info: ImageInfo
  /// What is missing.
  public let detail: Detail
  /// How many of the file's first bytes it was made of.
  public let byteCount: Int
}

/// How often, and of what, previews are made while an image arrives.
///
/// Nothing here is measured in seconds: previews follow what has come, so that the same bytes give the same ones however
/// fast they are.
public struct PreviewPolicy: Hashable, Sendable {
  /// The most attempts at a preview of one image: 3.
  ///
  /// Each is made of at least twice the bytes of the one before, or of scans of a progressive JPEG that make it visibly
  /// better, so all of them together cost no more than decoding the image once again.
  public var limit = 3
  /// The least number of bytes that come before the first one, and between one and the next: 8 KiB.
  public var interval = 8 << 10
  /// Whether rows are shown before the last one is there; `false` unless told.
  ///
  /// Files that come row by row (most PNG, WebP and baseline JPEG files) have no previews without it.
  public var showsRows = false

  /// The defaults named at each property.
  public init() {}

  /// No previews.
  public static let none: PreviewPolicy = {
    var policy = PreviewPolicy()
    policy.limit = 0
    return policy
  }()
}
