public import VitrineRuntime

/// An encoder of one format.
///
/// ```swift
/// struct PGMEncoder: ImageEncoder {
///   struct Options: EncodingOptions {
///     init(quality: Int?, isLossless: Bool) {}
///     var identifier: String { "" }
///   }
///   var format: ImageFormat { ImageFormat(name: "pgm", mediaType: "image/x-portable-graymap", fileExtension: "pgm") }
///   func encode(_ input: EncoderInput, _ options: Options) throws(ImageError) -> Data { … }
/// }
/// ```
/// An encoder is reached through an ``EncoderRegistry``, which prepares its input.
public protocol ImageEncoder<Options>: Sendable {
  /// What a caller may choose.
  associatedtype Options: EncodingOptions

  /// The format it writes.
  var format: ImageFormat { get }

  /// What the encoder has a place for.
  ///
  /// Defaults to ``EncoderFeatures/none``. The registry leaves out of the input what is not in it: colours outside sRGB
  /// are brought into it, an animation becomes its first frame, metadata is dropped.
  var features: EncoderFeatures { get }

  /// Encodes a picture. Blocks until done.
  ///
  /// - Parameters:
  ///   - input: The picture, and the metadata that is written with it.
  ///   - options: The caller's choice.
  /// - Returns: The file.
  /// - Throws: ``ImageError`` of code `.notEncodable`, for example if the format does not allow so many pixels; of code
  ///   `.cancelled`; of any other code if a frame of an animation cannot be decoded.
  func encode(_ input: EncoderInput, _ options: Options) throws(ImageError) -> Data
}

extension ImageEncoder {
  /// Returns ``EncoderFeatures/none``.
  public var features: EncoderFeatures { .none }

  /// Checks the sides of a bitmap against a format's limit.
  package static func check(_ bitmap: Bitmap, _ format: ImageFormat, longestSide: Int) throws(ImageError) {
    guard max(bitmap.width, bitmap.height) > longestSide else { return }
    throw ImageError(
      .notEncodable,
      format: format,
      "\(bitmap.width)x\(bitmap.height) pixels are too many for \(format), whose sides end at \(longestSide)",
    )
  }
}

/// An encoder that says how much memory it needs.
package protocol MeasuredEncoder: ImageEncoder {
  /// The bytes that it holds for each pixel, besides the picture: planes, coefficients, the file.
  var byteCountPerPixel: Int { get }
}

/// The options of one format's encoder.
public protocol EncodingOptions: Sendable, Hashable {
  /// Makes options of the parameters that the formats have in common.
  ///
  /// - Parameters:
  ///   - quality: The quality of lossy encoding, from 1 to 100, on the format's own scale; `nil` for its default. A
  ///     format without loss ignores it.
  ///   - isLossless: A Boolean value that indicates whether every pixel is kept. Formats that cannot do so ignore it.
  init(quality: Int?, isLossless: Bool)

  /// A text that differs if the encoded bytes may, for keys of caches; short, in ASCII.
  var identifier: String { get }

  /// The quality, from 1 to 100, for an encoder of the same format with other options.
  ///
  /// Such an encoder gets this and ``commonIsLossless``, and its own defaults for all else. Defaults to `nil`, its
  /// default.
  var commonQuality: Int? { get }

  /// A Boolean value that indicates whether every pixel is kept, for an encoder of the same format with other options.
  ///
  /// Defaults to `false`.
  var commonIsLossless: Bool { get }
}

extension EncodingOptions {
  /// Returns `nil`.
  public var commonQuality: Int? { nil }

  /// Returns `false`.
  public var commonIsLossless: Bool { false }
}

/// What a format, or its encoder, has a place for.
public struct EncoderFeatures: OptionSet, Sendable, Hashable {
  /// The bits of the set.
  public let rawValue: UInt8

  /// Makes a set from its bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Pixels in Display P3, marked as such.
  public static let displayP3 = EncoderFeatures(rawValue: 1)
  /// Several frames with durations.
  public static let animation = EncoderFeatures(rawValue: 2)
  /// EXIF.
  public static let exif = EncoderFeatures(rawValue: 4)
  /// XMP.
  public static let xmp = EncoderFeatures(rawValue: 8)
  /// Coverage of a pixel between none and all.
  public static let alpha = EncoderFeatures(rawValue: 16)
  /// A gain map.
  public static let gainMap = EncoderFeatures(rawValue: 32)

  /// Nothing but opaque pixels in sRGB.
  public static let none: EncoderFeatures = []
}

/// The input of an encoder: a picture, and the metadata that is written with it.
public struct EncoderInput: Sendable {
  /// The pixels, or the first frame's; opaque if nothing is transparent, otherwise with straight alpha.
  ///
  /// An encoder without ``EncoderFeatures/alpha`` gets them, too, and chooses what is behind them.
  public internal(set) var bitmap: Bitmap
  /// The animation that begins with ``bitmap``; `nil` for a still picture.
  public internal(set) var animation: AnimatedImage?
  /// EXIF to be written: a TIFF block; `nil` for none.
  public internal(set) var exif: Data?
  /// XMP to be written: a packet in UTF-8; `nil` for none.
  public internal(set) var xmp: Data?
  /// The gain map of the picture; `nil` for none.
  public internal(set) var gainMap: GainMap?
  /// The ICC profile of the pixels; `nil` for sRGB, which readers assume.
  public var colorProfile: ColorProfile? { bitmap.colorSpace.profile }

  /// A closure that is called now and then; `true` stops encoding with `.cancelled`.
  ///
  /// `nil` if the work cannot be cancelled.
  public let isCancelled: (@Sendable () -> Bool)?

  /// The number of frames that are written; the others are left out.
  private let frameLimit: Int
  /// The share of memory that frames are decoded within; `nil` for none.
  package let memoryShare: MemoryShare?

  /// Throws an error of code `.cancelled` if the caller has cancelled.
  public func checkCancellation() throws(ImageError) {
    if let isCancelled, isCancelled() { throw ImageError(.cancelled, "cancelled") }
  }

  /// Opens the frames of ``animation`` that are written, within the encoder's share of memory.
  package func frames(of animation: AnimatedImage) throws(ImageError) -> AnimatedImageFrames {
    try animation.frames(isCancelled, memoryShare, limit: frameLimit)
  }

  package init(
    _ bitmap: Bitmap,
    animation: AnimatedImage? = nil,
    frameLimit: Int = .max,
    metadata: WrittenMetadata = WrittenMetadata(),
    gainMap: GainMap? = nil,
    memoryShare: MemoryShare? = nil,
    isCancelled: (@Sendable () -> Bool)? = nil,
  ) {
    let straight = bitmap.straightened()
    self.bitmap = straight.hasTransparency ? straight : straight.declared(.opaque)
    (self.animation, self.frameLimit, self.memoryShare) = (animation, frameLimit, memoryShare)
    self.isCancelled = isCancelled
    (exif, xmp, self.gainMap) = (metadata.exif, metadata.xmp, gainMap)
  }
}
