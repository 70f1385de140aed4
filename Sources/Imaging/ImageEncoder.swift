public import VitrineRuntime

/// Writes images of one format.
public protocol ImageEncoder: Sendable {
  /// The format it writes.
  var format: ImageFormat { get }

  /// Writes a whole bitmap. Blocks for as long as it takes.
  ///
  /// - Throws: ``ImageError`` of code `.notEncodable`, for instance when the format cannot hold so many pixels.
  func encode(_ bitmap: Bitmap, _ options: EncodeOptions) throws(ImageError) -> Data
}

/// How an image is to be encoded.
public struct EncodeOptions: Sendable, Hashable {
  /// The quality of formats that lose something, 1 (least) to 100: 85.
  ///
  /// Values beyond are brought into that range.
  public var quality: Int

  /// Whether nothing may be lost, in formats that can do either, which WebP is of those here; `false` by default.
  ///
  /// ``quality`` counts for nothing then. Colours of pixels that are wholly transparent may be lost all the same.
  public var isLossless: Bool

  /// Options of the given quality.
  public init(quality: Int = 85, isLossless: Bool = false) {
    (self.quality, self.isLossless) = (quality, isLossless)
  }

  var clampedQuality: Int { min(max(quality, 1), 100) }
}

/// Encoders by format.
///
/// A registry is a value: an encoder that is added to a copy is in no other.
public struct EncoderRegistry: Sendable {
  /// The encoders for PNG, JPEG, WebP and QOI.
  public static let standard = EncoderRegistry([PNGEncoder(), JPEGEncoder(), WebPEncoder(), QOIEncoder()])

  private var encoders: [any ImageEncoder]

  /// Makes a registry; of several encoders of a format the first is used.
  public init(_ encoders: [any ImageEncoder]) {
    self.encoders = encoders
  }

  /// Adds an encoder that is preferred over those already there.
  public mutating func add(_ encoder: some ImageEncoder) {
    encoders.insert(encoder, at: 0)
  }

  /// The formats that can be written.
  public var formats: [ImageFormat] { encoders.map(\.format) }

  /// Writes a bitmap in a format, in sRGB, which readers take for granted.
  ///
  /// - Throws: ``ImageError`` of code `.notEncodable`.
  public func encode(
    _ bitmap: Bitmap,
    as format: ImageFormat,
    _ options: EncodeOptions = EncodeOptions(),
  ) throws(ImageError) -> Data {
    guard let encoder = encoders.first(where: { $0.format == format }) else {
      throw ImageError(.notEncodable, format: format, "\(format) cannot be written by this build")
    }
    return try encoder.encode(bitmap.converted(to: .sRGB), options)
  }
}

extension Bitmap {
  /// Encodes the bitmap with the standard encoders; see ``EncoderRegistry/encode(_:as:_:)``.
  public func encoded(
    as format: ImageFormat,
    _ options: EncodeOptions = EncodeOptions(),
  ) throws(ImageError) -> Data {
    try EncoderRegistry.standard.encode(self, as: format, options)
  }
}
