public import VitrineImaging

/// Decodes TIFF and BigTIFF with libtiff, strip by strip, or one row of tiles after another.
///
/// ```swift
/// import Vitrine
/// import VitrineTIFF
///
/// let pipeline = try ImagePipeline { $0.decoders.add(.tiff) }
/// ```
/// Pages are frames, each with its own size, orientation and profile. These samples are supported:
/// - Up to 16 bits: grey, RGB, palettes, CMYK, YCbCr and Lab (to sRGB), in all compressions that libtiff was built with.
/// - Floating point of 32 bits: grey and RGB. Values from 0 to 1 are taken as encoded values, others are
///   clamped; a profile defines their meaning.
///
/// All others are `.unsupported`. A file whose picture is one large strip is held as a whole.
public struct TIFFDecoder: ImageDecoder, VitrineDecoder {
  /// Makes the decoder.
  public init() {}

  /// TIFF.
  public var formats: [ImageFormat] { [.tiff] }

  /// Reads the first page's directory, and locates the other directories.
  public func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    let directories = try unsafe TIFFDirectories(ByteReader(bytes), limit: limits.frameCount)
    return try unsafe TIFFReader(bytes, directories.pages[0], limits).info(frameCount: directories.pages.count, limits)
  }

  /// Reads the directory of one page.
  public func info(
    ofFrame frame: Int,
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo {
    guard frame > 0 else { return info }
    guard frame < info.frameCount else { throw .noSuchFrame(frame, of: info) }
    let directories = try unsafe TIFFDirectories(ByteReader(bytes), limit: limits.frameCount)
    return try unsafe TIFFReader(bytes, directories.pages[frame], limits).info(frameCount: info.frameCount, limits)
  }

  /// Reads EXIF without the notes of makers, XMP, IPTC and the profile of the first page; of BigTIFF the profile only.
  public func metadata(
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageMetadata {
    var metadata = ImageMetadata()
    metadata.colorProfile = info.colorProfile
    unsafe metadata.read(tiff: ByteReader(bytes), limit: limits.metadataByteCount)
    return metadata
  }

  /// The largest copy of a page that is decoded in its place, in pixels; it is decoded as a whole, to know that it can be.
  private static let largestCopy = 1 << 22

  /// Opens one page for reading rows, or the smallest of its copies that satisfies the request.
  public func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    let directories = try unsafe TIFFDirectories(ByteReader(bytes), limit: request.limits.frameCount)
    guard request.frame < directories.pages.count else { throw .noSuchFrame(request.frame, of: request.info) }
    let page = directories.pages[request.frame]
    let reader = try unsafe TIFFReader(bytes, page, request.limits)
    guard reader.width == request.info.storedWidth, reader.height == request.info.storedHeight else {
      throw ImageError(.corrupt, format: .tiff, "corrupt: two headers disagree")
    }
    let copies = (request.minimumScale < 1 ? page.copies : []).compactMap { offset in
      try? unsafe TIFFReader(bytes, TIFFDirectories.Page(offset: offset, isCut: false), request.limits)
    }
    for copy in copies.filter({ reader.isSame($0, atScale: request.minimumScale) }).sorted(by: { $0.width < $1.width })
    where copy.height <= Self.largestCopy / copy.width {
      // A copy that is damaged says nothing about the page.
      if let rows = try TIFFRows(whole: copy, request) { return rows }
    }
    try reader.start()
    return TIFFRows(reader, request)
  }
}

extension ImageDecoder where Self == TIFFDecoder {
  /// A decoder of TIFF.
  public static var tiff: TIFFDecoder { TIFFDecoder() }
}

private final class TIFFRows: RowSource {
  let width: Int
  let height: Int
  let hasAlpha: Bool
  private let reader: TIFFReader
  private let control: DecodeControl
  var damage: ImageError? { reader.damage }
  /// The rows that are decoded together.
  private var band: [UInt32]
  private var bandRows = 0..<0
  private var row = 0

  init(_ reader: TIFFReader, _ request: RowRequest) {
    (self.reader, control) = (reader, request.control)
    (width, height, hasAlpha) = (reader.width, reader.height, request.info.hasAlpha)
    band = []
  }

  /// Decodes all rows at once; returns `nil` if that fails.
  convenience init?(whole reader: TIFFReader, _ request: RowRequest) throws(ImageError) {
    try request.control.check()
    self.init(reader, request)
    bandRows = 0..<height
    band = [UInt32](repeating: 0, count: width * height)
    do {
      try reader.start()
      try reader.read(bandRows, into: &band)
    } catch { return nil }
  }

  func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
    guard row < height else { return 0 }
    if !bandRows.contains(row) {
      try control.check()
      if band.isEmpty { band = [UInt32](repeating: 0, count: width * reader.bandHeight) }
      let next = row..<min(height, row + reader.bandHeight)
      try reader.read(next, into: &band)
      bandRows = next
    }
    let count = min(count, bandRows.upperBound - row)
    // Only read and written while the closure runs.
    unsafe band.withUnsafeBytes { band in
      let source = unsafe Elements(band).rows(from: row - bandRows.lowerBound, count: count, width: width)
      unsafe MutableElements(rows).update(rows: count, of: source, bytesPerRow: bytesPerRow)
    }
    row += count
    return count
  }
}
