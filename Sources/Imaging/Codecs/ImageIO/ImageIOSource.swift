import CoreGraphics
import ImageIO
import VitrineRuntime

/// A file that ImageIO reads.
///
/// The options are those that keep it from decoding more than is shown, and from caching it: pixels are decoded at
/// once, on the thread that asks, at no more than the requested size.
struct ImageIOSource {
  private let source: CGImageSource

  /// Opens a whole file; returns `nil` if ImageIO does not know it.
  ///
  /// The bytes are copied, because ImageIO may keep a source for longer than the caller keeps its memory.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard let source = unsafe CGImageSourceCreateWithData(Data(bytes) as CFData, Self.options) else { return nil }
    self.source = source
  }

  /// Opens the first bytes of a file.
  init(prefix bytes: UnsafeRawBufferPointer) {
    source = CGImageSourceCreateIncremental(Self.options)
    unsafe CGImageSourceUpdateData(source, Data(bytes) as CFData, false)
  }

  /// The number of images in the file.
  var count: Int { CGImageSourceGetCount(source) }

  /// The index of the main image of a container, such as HEIF.
  var primaryIndex: Int { CGImageSourceGetPrimaryImageIndex(source) }

  /// The properties of the file.
  var properties: [String: Any] { Self.values(CGImageSourceCopyProperties(source, nil)) }

  /// Returns the properties of one image.
  func properties(at index: Int) -> [String: Any]? {
    CGImageSourceCopyPropertiesAtIndex(source, index, nil).map { Self.values($0) }
  }

  /// Returns the orientation that ImageIO reads in the file, and applies to thumbnails.
  func orientation(at index: Int) -> Orientation {
    let number = properties(at: index)?[kCGImagePropertyOrientation as String] as? Int
    return number.flatMap { Orientation(rawValue: $0) } ?? .up
  }

  /// Returns the XMP packet of one image; `nil` for one above the limit.
  func xmp(at index: Int, byteLimit: Int) -> Data? {
    guard let metadata = CGImageSourceCopyMetadataAtIndex(source, index, nil),
      let packet = CGImageMetadataCreateXMPData(metadata, nil) as Data?, packet.count <= byteLimit
    else { return nil }
    return packet
  }

  /// Returns the profile of one image, without decoding it; `nil` for one above the limit.
  func profile(at index: Int, byteLimit: Int) -> ColorProfile? {
    let image = CGImageSourceCreateImageAtIndex(source, index, Self.options)
    guard let data = image?.colorSpace?.copyICCData() as Data?, data.count <= byteLimit else { return nil }
    return ColorProfile(data: data)
  }

  /// Decodes one image at its own size, in stored orientation; `range` as in ``thumbnail(at:longestSide:range:)``.
  func image(at index: Int, range: DynamicRange? = nil) -> CGImage? {
    let options: [CFString: Any] = [kCGImageSourceShouldCache: false, kCGImageSourceShouldCacheImmediately: true]
    return CGImageSourceCreateImageAtIndex(source, index, Self.adding(range, to: options))
  }

  /// Decodes one image at a half, a quarter or an eighth of its size, in stored orientation.
  ///
  /// ImageIO may deliver a larger one.
  func image(at index: Int, dividedBy factor: Int) -> CGImage? {
    CGImageSourceCreateImageAtIndex(
      source,
      index,
      [
        kCGImageSourceShouldCache: false, kCGImageSourceShouldCacheImmediately: true,
        kCGImageSourceSubsampleFactor: factor,
      ] as CFDictionary,
    )
  }

  /// Decodes one image upright, with at most `longestSide` pixels along its longer side.
  ///
  /// `range` is the dynamic range; `nil` leaves it to ImageIO, for formats that have none but the standard.
  func thumbnail(at index: Int, longestSide: Int, range: DynamicRange? = nil) -> CGImage? {
    let options: [CFString: Any] = [
      // Not the thumbnail of a camera, which may be small and old.
      kCGImageSourceCreateThumbnailFromImageAlways: true,
      kCGImageSourceCreateThumbnailWithTransform: true,
      // Now, and not when it is drawn, which may be on the main thread.
      kCGImageSourceShouldCacheImmediately: true,
      kCGImageSourceThumbnailMaxPixelSize: longestSide,
    ]
    return CGImageSourceCreateThumbnailAtIndex(source, index, Self.adding(range, to: options))
  }

  /// The value of ImageIO's request for a dynamic range.
  private static func adding(_ range: DynamicRange?, to options: [CFString: Any]) -> CFDictionary {
    var options = options
    switch range {
    case .high: options[kCGImageSourceDecodeRequest] = kCGImageSourceDecodeToHDR
    case .standard: options[kCGImageSourceDecodeRequest] = kCGImageSourceDecodeToSDR
    case nil: break
    }
    return options as CFDictionary
  }

  /// The file's bytes and the images are needed once.
  private static var options: CFDictionary { [kCGImageSourceShouldCache: false] as CFDictionary }

  private static func values(_ dictionary: CFDictionary?) -> [String: Any] {
    guard let dictionary else { return [:] }
    var values: [String: Any] = [:]
    for (key, value) in dictionary as NSDictionary { values["\(key)"] = value }
    return values
  }
}
