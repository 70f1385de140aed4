public import VitrineRuntime

import CoreGraphics
import ImageIO

/// Encodes with ImageIO: JPEG, PNG, HEIC, and other formats that the system writes.
///
/// It exists on Apple's platforms.
public struct ImageIOEncoder: ImageEncoder {
  /// The format it writes.
  public let format: ImageFormat
  private let type: String

  /// Makes an encoder; returns `nil` for a format that the system does not write.
  public init?(_ format: ImageFormat) {
    guard let type = format.typeIdentifier, Self.writable.contains(type) else { return nil }
    (self.format, self.type) = (format, type)
  }

  private static let writable = Set((CGImageDestinationCopyTypeIdentifiers() as [AnyObject]).map { "\($0)" })

  /// The encoders of formats other than JPEG and PNG that the system writes.
  static let others: [any ImageEncoder] = [ImageFormat.heic, .avif, .tiff].compactMap { ImageIOEncoder($0) }

  /// Encodes the bitmap.
  ///
  /// Blocks until done. Where the format has no alpha, transparent pixels are composited over white. Lossless encoding
  /// exists only for PNG and TIFF.
  public func encode(_ bitmap: Bitmap, _ options: EncodeOptions) throws(ImageError) -> Data {
    try Self.encode(bitmap, as: format, type: type, options)
  }

  static func encode(
    _ bitmap: Bitmap,
    as format: ImageFormat,
    type: String,
    _ options: EncodeOptions,
  ) throws(ImageError) -> Data {
    let isLossless = format == .png || format == .tiff
    guard !options.isLossless || isLossless else {
      throw ImageError(.notEncodable, format: format, "\(format) cannot be encoded without loss by the system")
    }
    let shown = format == .jpeg ? bitmap.flattenedOverWhite() : bitmap.withoutUnusedAlpha()
    let file = NSMutableData()
    guard let destination = CGImageDestinationCreateWithData(file, type as CFString, 1, nil),
      let image = shown.cgImage
    else { throw failure(format) }
    let quality = isLossless ? 1 : Double(options.clampedQuality) / 100
    let properties = [kCGImageDestinationLossyCompressionQuality: quality] as CFDictionary
    CGImageDestinationAddImage(destination, image, properties)
    guard CGImageDestinationFinalize(destination) else { throw failure(format) }
    return file as Data
  }

  private static func failure(_ format: ImageFormat) -> ImageError {
    ImageError(.notEncodable, format: format, "cannot be encoded as \(format): the system failed and does not say why")
  }
}

/// Encodes JPEG with ImageIO.
///
/// Transparent pixels are composited over white.
public struct JPEGEncoder: ImageEncoder {
  static let longestSide = 65_500

  /// Makes the encoder.
  public init() {}

  /// JPEG.
  public var format: ImageFormat { .jpeg }

  /// Encodes the bitmap, whose sides may have up to 65,500 pixels.
  ///
  /// Blocks until done.
  public func encode(_ bitmap: Bitmap, _ options: EncodeOptions) throws(ImageError) -> Data {
    try Self.check(bitmap, .jpeg, longestSide: Self.longestSide)
    // JPEG is always lossy, so the option has no effect.
    return try ImageIOEncoder.encode(bitmap, as: .jpeg, type: "public.jpeg", EncodeOptions(quality: options.quality))
  }
}

/// Encodes PNG with ImageIO, with 8 bits a component, without an alpha channel if nothing is transparent.
public struct PNGEncoder: ImageEncoder {
  /// The zlib compression level, from 0 (fastest) to 9 (smallest).
  ///
  /// Defaults to 3. ImageIO chooses its own, so it has no effect on Apple's platforms.
  public let level: Int

  /// Makes the encoder.
  ///
  /// A level outside 0 to 9 is clamped.
  public init(level: Int = 3) {
    self.level = min(max(level, 0), 9)
  }

  /// PNG.
  public var format: ImageFormat { .png }

  /// Encodes the bitmap.
  ///
  /// Blocks until done.
  public func encode(_ bitmap: Bitmap, _ options: EncodeOptions) throws(ImageError) -> Data {
    try ImageIOEncoder.encode(bitmap, as: .png, type: "public.png", options)
  }
}

extension Bitmap {
  /// Returns the bitmap with straight alpha, declared opaque if nothing is transparent.
  fileprivate func withoutUnusedAlpha() -> Bitmap {
    let straight = straightened()
    return straight.hasTransparency ? straight : straight.declared(.opaque)
  }
}
