public import VitrineRuntime

/// An encoder of one format.
public protocol ImageEncoder: Sendable {
  /// The format it writes.
  var format: ImageFormat { get }

  /// Encodes a whole bitmap. Blocks until done.
  ///
  /// - Throws: ``ImageError`` of code `.notEncodable`, for example if the format does not allow so many pixels.
  func encode(_ bitmap: Bitmap, _ options: EncodeOptions) throws(ImageError) -> Data
}

extension ImageEncoder {
  /// Checks the sides of a bitmap against a format's limit.
  static func check(_ bitmap: Bitmap, _ format: ImageFormat, longestSide: Int) throws(ImageError) {
    guard max(bitmap.width, bitmap.height) > longestSide else { return }
    throw ImageError(
      .notEncodable,
      format: format,
      "\(bitmap.width)x\(bitmap.height) pixels are too many for \(format), whose sides end at \(longestSide)",
    )
  }
}

/// The options for encoding an image.
public struct EncodeOptions: Sendable, Hashable {
  /// The quality of lossy formats, from 1 (lowest) to 100.
  ///
  /// Defaults to 85.
  ///
  /// Values outside that range are clamped.
  public var quality: Int

  /// A Boolean value that indicates whether encoding is lossless, in formats that allow both, such as WebP.
  ///
  /// Defaults to `false`.
  ///
  /// Lossless encoding ignores ``quality``. Even so, colours of fully transparent pixels may be lost.
  public var isLossless: Bool

  /// Makes options with the given quality.
  public init(quality: Int = 85, isLossless: Bool = false) {
    (self.quality, self.isLossless) = (quality, isLossless)
  }

  var clampedQuality: Int { min(max(quality, 1), 100) }
}

/// The available encoders, by format.
///
/// A registry is a value: adding an encoder to a copy changes no other copy.
public struct EncoderRegistry: Sendable {
  /// The standard encoders: PNG, JPEG, WebP and QOI; on Apple's platforms PNG, JPEG, QOI and what ImageIO writes, such
  /// as HEIC.
  public static let standard = EncoderRegistry(
    [PNGEncoder(), JPEGEncoder()] + PlatformCodecs.encoders + [QOIEncoder()]
  )

  private var encoders: [any ImageEncoder]

  /// Makes a registry.
  ///
  /// The first of several encoders of a format is used.
  public init(_ encoders: [any ImageEncoder]) {
    self.encoders = encoders
  }

  /// Adds an encoder that takes precedence over the existing ones.
  public mutating func add(_ encoder: some ImageEncoder) {
    encoders.insert(encoder, at: 0)
  }

  /// The formats that can be encoded.
  public var formats: [ImageFormat] { encoders.map(\.format) }

  /// Encodes a bitmap in a format.
  ///
  /// Blocks until done.
  ///
  /// The bitmap is converted to sRGB first, the colour space that readers assume.
  ///
  /// - Throws: ``ImageError`` of code `.notEncodable`.
  public func encode(
    _ bitmap: Bitmap,
    as format: ImageFormat,
    _ options: EncodeOptions = EncodeOptions(),
  ) throws(ImageError) -> Data {
    guard let encoder = encoders.first(where: { $0.format == format }) else {
      throw ImageError(.notEncodable, format: format, "\(format) cannot be encoded by this build")
    }
    return try encoder.encode(bitmap.converted(to: .sRGB), options)
  }
}

extension Bitmap {
  /// Encodes the bitmap with the standard encoders; see ``EncoderRegistry/encode(_:as:_:)``.
  ///
  /// Blocks until done.
  public func encoded(
    as format: ImageFormat,
    _ options: EncodeOptions = EncodeOptions(),
  ) throws(ImageError) -> Data {
    try EncoderRegistry.standard.encode(self, as: format, options)
  }
}
