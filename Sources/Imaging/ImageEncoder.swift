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
/// Encoders may be added and used on any threads at once.
public final class EncoderRegistry: Sendable {
  /// The standard encoders: PNG, JPEG, WebP and QOI.
  ///
  /// An encoder added here is available to the whole program.
  public static let standard = EncoderRegistry([PNGEncoder(), JPEGEncoder(), WebPEncoder(), QOIEncoder()])

  private let encoders: Lock<[any ImageEncoder]>

  /// Makes a registry.
  ///
  /// The first of several encoders of a format is used.
  public init(_ encoders: [any ImageEncoder]) {
    self.encoders = Lock(encoders)
  }

  /// Adds an encoder that takes precedence over the existing ones.
  public func add(_ encoder: some ImageEncoder) {
    encoders.withLock { $0.insert(encoder, at: 0) }
  }

  /// The formats that can be encoded.
  public var formats: [ImageFormat] { encoders.withLock { $0 }.map(\.format) }

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
    // Called outside the lock: a user's encoder may do anything in its `format`.
    guard let encoder = encoders.withLock({ $0 }).first(where: { $0.format == format }) else {
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
