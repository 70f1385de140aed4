package import VitrineRuntime

import CoreGraphics
import ImageIO

/// Encodes with ImageIO: JPEG, PNG, HEIC, and other formats that the system writes.
///
/// It exists on Apple's platforms.
package struct ImageIOEncoder: ImageEncoder {
  /// The format it writes.
  package let format: ImageFormat
  private let type: String

  /// Makes an encoder; returns `nil` for a format that the system does not write.
  package init?(_ format: ImageFormat) {
    guard let type = format.row.uniformType, Self.writable.contains(type) else { return nil }
    (self.format, self.type) = (format, type)
  }

  /// Display P3 and transparency.
  package var features: EncoderFeatures { [.displayP3, .alpha] }

  private static let writable = Set((CGImageDestinationCopyTypeIdentifiers() as [AnyObject]).map { "\($0)" })

  /// The encoders of formats without one of Vitrine's own that the system writes.
  static let others: [any ImageEncoder] = ImageFormat.external.compactMap { ImageIOEncoder($0) }

  /// Encodes the bitmap.
  ///
  /// Blocks until done. Where the format has no alpha, transparent pixels are composited over white. Lossless encoding
  /// exists only for PNG and TIFF.
  package func encode(_ input: EncoderInput, _ options: ImageIOOptions) throws(ImageError) -> Data {
    try Self.encode(input, as: format, type: type, options)
  }

  static func encode(
    _ input: EncoderInput,
    as format: ImageFormat,
    type: String,
    _ options: ImageIOOptions,
    isProgressive: Bool = false,
  ) throws(ImageError) -> Data {
    try input.checkCancellation()
    let isLossless = format.row.loss == .never
    guard !options.isLossless || isLossless else {
      throw ImageError(.notEncodable, format: format, "\(format) cannot be encoded without loss by the system")
    }
    let shown = format.row.hasAlpha ? input.bitmap : input.bitmap.flattenedOverWhite()
    let file = NSMutableData()
    guard let destination = CGImageDestinationCreateWithData(file, type as CFString, 1, nil),
      let image = shown.cgImage
    else { throw failure(format) }
    let quality = isLossless ? 1 : Double(options.quality) / 100
    var properties: [CFString: Any] = [kCGImageDestinationLossyCompressionQuality: quality]
    if isProgressive { properties[kCGImagePropertyJFIFDictionary] = [kCGImagePropertyJFIFIsProgressive: true] }
    CGImageDestinationAddImage(destination, image, properties as CFDictionary)
    guard CGImageDestinationFinalize(destination) else { throw failure(format) }
    // The system cannot be interrupted.
    try input.checkCancellation()
    return file as Data
  }

  private static func failure(_ format: ImageFormat) -> ImageError {
    ImageError(.notEncodable, format: format, "cannot be encoded as \(format): the system failed and does not say why")
  }
}

/// Encodes JPEG with ImageIO.
///
/// Transparent pixels are composited over white.
package struct JPEGEncoder: ImageEncoder {
  static let longestSide = 65_500

  /// Makes the encoder.
  package init() {}

  /// JPEG.
  package var format: ImageFormat { .jpeg }

  /// Display P3, EXIF, XMP and gain maps.
  ///
  /// Of EXIF of more than 64 KB, which has no place in a segment, only the common fields are written; such XMP is left
  /// out.
  package var features: EncoderFeatures { [.displayP3, .exif, .xmp, .gainMap] }

  /// Encodes the bitmap, whose sides may have up to 65,500 pixels.
  ///
  /// Blocks until done. The system chooses the resolution of colour by the quality.
  package func encode(_ input: EncoderInput, _ options: JPEGOptions) throws(ImageError) -> Data {
    try JPEGGainMap.encode(input) { (input, isMap) throws(ImageError) in
      try file(input, isMap ? options.ofGainMap(input.bitmap) : options)
    }
  }

  private func file(_ input: EncoderInput, _ options: JPEGOptions) throws(ImageError) -> Data {
    try Self.check(input.bitmap, .jpeg, longestSide: Self.longestSide)
    let plain = ImageIOOptions(quality: options.quality)
    let isProgressive = options.isProgressive
    let file = try ImageIOEncoder.encode(input, as: .jpeg, type: "public.jpeg", plain, isProgressive: isProgressive)
    return JPEGMetadata.adding(JPEGMetadata.segments(of: input).map { (1, $0) }, to: file)
  }
}

/// Encodes PNG with ImageIO, with 8 bits a component, without an alpha channel if nothing is transparent.
package struct PNGEncoder: ImageEncoder {
  /// Makes the encoder.
  package init() {}

  /// PNG.
  package var format: ImageFormat { .png }

  /// Display P3, transparency, EXIF and XMP.
  package var features: EncoderFeatures { [.displayP3, .alpha, .exif, .xmp] }

  /// Encodes the bitmap.
  ///
  /// Blocks until done.
  package func encode(_ input: EncoderInput, _ options: PNGOptions) throws(ImageError) -> Data {
    let file = try ImageIOEncoder.encode(input, as: .png, type: "public.png", ImageIOOptions())
    return PNGHeader.adding(input, to: file)
  }
}

/// The options for encoding with ImageIO.
package struct ImageIOOptions: EncodingOptions {
  /// The quality of lossy formats, from 1 to 100.
  ///
  /// Defaults to 85.
  package let quality: Int
  /// A Boolean value that indicates whether every pixel is kept.
  ///
  /// Defaults to `false`. Only PNG and TIFF can.
  package let isLossless: Bool

  /// Makes options; a quality outside 1 to 100 is clamped.
  package init(quality: Int? = nil, isLossless: Bool = false) {
    (self.quality, self.isLossless) = (min(max(quality ?? 85, 1), 100), isLossless)
  }

  /// The quality.
  package var commonQuality: Int? { quality }

  /// A Boolean value that indicates whether every pixel is kept.
  package var commonIsLossless: Bool { isLossless }

  /// The options as text.
  package var identifier: String { "\(isLossless ? "lossless" : "\(quality)")" }
}
