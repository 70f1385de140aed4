import ImageIO
import VitrineRuntime

/// Decodes with ImageIO what Vitrine has no header of its own for, such as HEIC and TIFF, as far as the system reads it.
///
/// It exists on Apple's platforms and is one of ``DecoderRegistry/standard`` there. JPEG, PNG, WebP and GIF have
/// decoders of the same names on all platforms; theirs use ImageIO for pixels, and their own headers and checks.
public struct ImageIODecoder: ImageDecoder, VitrineDecoder {
  /// Makes the decoder.
  public init() {}

  /// The formats without a decoder of Vitrine's own that the system reads.
  public var formats: [ImageFormat] { Self.readable }

  private static let readable: [ImageFormat] = {
    let types = (CGImageSourceCopyTypeIdentifiers() as [AnyObject]).map { "\($0)" }
    return ImageFormat.all.filter { $0.row.reader != .builtIn && $0.row.uniformType.map(types.contains) ?? false }
  }()

  /// Reads the facts of the image from the properties that ImageIO finds, without decoding a pixel.
  public func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    if format == .heic || format == .avif, unsafe ISOMediaFile.isTruncated(ByteReader(bytes)) {
      throw ImageError(.truncated, format: format, "truncated: a box ends after the end of the file")
    }
    guard let source = unsafe ImageIOSource(bytes) else { throw ImageIORows.undecodable(format) }
    let layout = FrameLayout(source, format)
    var info = try info(source, at: layout.first, format)
    info.colorProfile = source.profile(at: layout.first, byteLimit: limits.metadataByteCount)
    info.frameCount = layout.count
    info.duration = layout.delays.reduce(0, +)
    info.loopCount = layout.loopCount
    return info
  }

  /// Reads the facts of one page of a TIFF, or one frame of a sequence.
  public func info(
    ofFrame frame: Int,
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo {
    guard (0..<info.frameCount).contains(frame) else { throw .noSuchFrame(frame, of: info) }
    guard frame > 0, let source = unsafe ImageIOSource(bytes) else { return info }
    let index = firstIndex(source, info.format) + frame
    var own = try self.info(source, at: index, info.format)
    own.colorProfile = source.profile(at: index, byteLimit: limits.metadataByteCount)
    (own.frameCount, own.duration, own.loopCount) = (info.frameCount, info.duration, info.loopCount)
    return own
  }

  private func info(_ source: ImageIOSource, at index: Int, _ format: ImageFormat) throws(ImageError) -> ImageInfo {
    guard let values = source.properties(at: index), let width = values.integer(kCGImagePropertyPixelWidth),
      let height = values.integer(kCGImagePropertyPixelHeight), width > 0, height > 0
    else { throw ImageIORows.undecodable(format) }
    let orientation = values.integer(kCGImagePropertyOrientation).flatMap { Orientation(rawValue: $0) } ?? .up
    var info = ImageInfo(format: format, storedWidth: width, storedHeight: height, orientation: orientation)
    info.hasAlpha = values[kCGImagePropertyHasAlpha as String] as? Bool ?? false
    info.bitsPerComponent = values.integer(kCGImagePropertyDepth) ?? 8
    let model = values[kCGImagePropertyColorModel as String].map { "\($0)" }
    if model == kCGImagePropertyColorModelGray as String { info.colorModel = .gray }
    if model == kCGImagePropertyColorModelCMYK as String { info.colorModel = .cmyk }
    return info
  }

  /// Reads the duration of each frame, in seconds, from the properties that ImageIO finds.
  public func frameDelays(of bytes: UnsafeRawBufferPointer, _ info: ImageInfo) throws(ImageError) -> [Double] {
    guard let source = unsafe ImageIOSource(bytes) else { throw ImageIORows.undecodable(info.format) }
    return FrameLayout(source, info.format).delays
  }

  /// Reads the common fields of EXIF, XMP and the colour profile.
  ///
  /// ImageIO does not give EXIF as a block, so ``ImageMetadata/exif`` is `nil`.
  public func metadata(
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageMetadata {
    guard let source = unsafe ImageIOSource(bytes) else { throw ImageIORows.undecodable(info.format) }
    let index = firstIndex(source, info.format)
    var metadata = ImageMetadata(fields: EXIFFields(source.properties(at: index) ?? [:]))
    metadata.colorProfile = info.colorProfile
    metadata.xmp = source.xmp(at: index, byteLimit: limits.metadataByteCount)
    return metadata
  }

  /// Returns the index of the first frame.
  func firstIndex(_ source: ImageIOSource, _ format: ImageFormat) -> Int { FrameLayout(source, format).first }

  package func memory(for bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> DecodeMemory {
    let (width, height) = (request.info.storedWidth, request.info.storedHeight)
    var memory = PlatformCodecs.memory(width: width, height: height, scale: request.minimumScale)
    memory.codec = memory.codec.addingSaturating(bytes.count)
    return memory
  }

  /// Opens one image at the requested scale.
  public func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    let info = request.info
    guard request.frame < info.frameCount else { throw .noSuchFrame(request.frame, of: info) }
    guard let source = unsafe ImageIOSource(bytes) else { throw ImageIORows.undecodable(info.format) }
    return try ImageIORows.open(
      source,
      request,
      at: firstIndex(source, info.format) + request.frame,
      width: info.storedWidth,
      height: info.storedHeight,
    )
  }
}

/// The images of a file that are its frames.
private struct FrameLayout {
  /// The index of the first frame.
  let first: Int
  let count: Int
  /// The duration of each frame, in seconds; 0 for pages.
  let delays: [Double]
  /// The number of times that a sequence plays; 0 for endless.
  let loopCount: Int

  init(_ source: ImageIOSource, _ format: ImageFormat) {
    let all = max(1, source.count)
    // Both kinds of sequence have the same keys.
    let names = [kCGImagePropertyHEICSDictionary as String, kCGImagePropertyAVISDictionary as String]
    func values(_ properties: [String: Any]) -> [AnyHashable: Any]? {
      names.lazy.compactMap { properties[$0] as? [AnyHashable: Any] }.first
    }
    let sequence = values(source.properties)
    guard format == .tiff || sequence != nil else {
      // The other images of HEIF are bursts, or parts of one picture; its main image is what is shown.
      (first, count, delays, loopCount) = (max(0, source.primaryIndex), 1, [0], 1)
      return
    }
    let unclamped = kCGImagePropertyHEICSUnclampedDelayTime as String
    delays = (0..<all).map { index in
      guard sequence != nil else { return 0 }
      let own = source.properties(at: index).flatMap(values)
      return FrameDelay.shown(own?[unclamped] as? Double ?? 0)
    }
    (first, count) = (0, all)
    loopCount = sequence.map { $0[kCGImagePropertyHEICSLoopCount as String] as? Int ?? 0 } ?? 1
  }
}

extension [String: Any] {
  fileprivate func integer(_ key: CFString) -> Int? { self[key as String] as? Int }
}

extension EXIFFields {
  /// Reads the fields from the properties that ImageIO finds.
  init(_ properties: [String: Any]) {
    self.init()
    func values(_ key: CFString) -> [AnyHashable: Any] { properties[key as String] as? [AnyHashable: Any] ?? [:] }
    let (tiff, exif) = (values(kCGImagePropertyTIFFDictionary), values(kCGImagePropertyExifDictionary))
    orientation = (properties[kCGImagePropertyOrientation as String] as? Int).flatMap { Orientation(rawValue: $0) }
    make = tiff[kCGImagePropertyTIFFMake as String] as? String
    model = tiff[kCGImagePropertyTIFFModel as String] as? String
    software = tiff[kCGImagePropertyTIFFSoftware as String] as? String
    artist = tiff[kCGImagePropertyTIFFArtist as String] as? String
    copyright = tiff[kCGImagePropertyTIFFCopyright as String] as? String
    modified = EXIFDate(tiff[kCGImagePropertyTIFFDateTime as String] as? String, nil, nil)
    original = EXIFDate(
      exif[kCGImagePropertyExifDateTimeOriginal as String] as? String,
      exif[kCGImagePropertyExifSubsecTimeOriginal as String] as? String,
      exif[kCGImagePropertyExifOffsetTimeOriginal as String] as? String,
    )
    lensModel = exif[kCGImagePropertyExifLensModel as String] as? String
    exposureTime = exif[kCGImagePropertyExifExposureTime as String] as? Double
    fNumber = exif[kCGImagePropertyExifFNumber as String] as? Double
    iso = (exif[kCGImagePropertyExifISOSpeedRatings as String] as? [Int])?.first
    focalLength = exif[kCGImagePropertyExifFocalLength as String] as? Double
    flashFired = (exif[kCGImagePropertyExifFlash as String] as? Int).map { $0 & 1 == 1 }
    readPlace(values(kCGImagePropertyGPSDictionary))
  }

  private mutating func readPlace(_ gps: [AnyHashable: Any]) {
    func signed(_ key: CFString, _ sign: CFString, negative: String, most: Double) -> Double? {
      guard let value = gps[key as String] as? Double, value >= 0, value <= most else { return nil }
      return gps[sign as String].map { "\($0)" } == negative ? -value : value
    }
    latitude = signed(kCGImagePropertyGPSLatitude, kCGImagePropertyGPSLatitudeRef, negative: "S", most: 90)
    longitude = signed(kCGImagePropertyGPSLongitude, kCGImagePropertyGPSLongitudeRef, negative: "W", most: 180)
    altitude = signed(kCGImagePropertyGPSAltitude, kCGImagePropertyGPSAltitudeRef, negative: "1", most: 100_000)
  }
}
