import CLibHEIF
public import VitrineImaging
import VitrineRuntime

/// Decodes HEIC and other HEIF with libheif: the primary image, or its embedded thumbnail if that is large enough.
///
/// ```swift
/// import Vitrine
/// import VitrineHEIF
///
/// let pipeline = try ImagePipeline { $0.decoders.add(.heif) }
/// ```
/// The picture is held as a whole, coded and as RGB: about 60 MB at 12 MP. Its tiles are decoded on as many threads as
/// there are idle cores. It is decoded in one step, so cancellation takes effect only before that step and between rows
/// after it. libheif itself rotates and mirrors pictures with alpha or a crop, so their header describes them as stored
/// upright. EXIF's orientation, which repeats these transforms, is ignored. Image sequences without a primary image are
/// `.unsupported`.
public struct HEIFDecoder: ImageDecoder, VitrineDecoder {
  /// Makes the decoder.
  public init() {}

  /// HEIC.
  public var formats: [ImageFormat] { [.heic] }

  /// Reads the facts of the image from the file's boxes.
  ///
  /// A size that the codec's own header contradicts is an error.
  public func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    let file = try unsafe HEIFFile(bytes)
    let image = try file.primaryImage()
    let coded = unsafe CodedSize(ByteReader(bytes))
    guard !coded.isExceeded(by: image.width, image.height) else {
      let size = "\(image.width)x\(image.height)"
      throw ImageError(.corrupt, format: .heic, "corrupt: the header says \(size) pixels, and the picture has fewer")
    }
    var info = ImageInfo(
      format: .heic,
      storedWidth: image.width,
      storedHeight: image.height,
      orientation: image.orientation ?? .up,
    )
    info.hasAlpha = image.hasAlpha
    info.bitsPerComponent = image.bitsPerComponent
    info.colorModel = coded.hasColors ? .rgb : .gray
    info.colorProfile = image.profile(byteLimit: limits.metadataByteCount)
    info.highRangeColors = unsafe image.highRange(info.colorProfile, peak: ISOMediaFile.peak(ByteReader(bytes)))
    info.workingByteCount = Self.pictureBytes(info)
    return info
  }

  package func memory(for bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> DecodeMemory {
    let info = request.info
    let pixels = info.storedWidth.multipliedSaturating(by: info.storedHeight)
    // The planes are 4:4:4 at worst, and their file does not say before it is decoded.
    let planes = (info.bitsPerComponent > 8 ? 6 : 3) + (info.hasAlpha ? 1 : 0)
    return DecodeMemory(
      codec: Self.pictureBytes(info),
      transient: pixels.multipliedSaturating(by: planes),
    )
  }

  /// The bytes of the decoded picture, interleaved.
  private static func pictureBytes(_ info: ImageInfo) -> Int {
    let components = info.hasAlpha ? 4 : 3
    return info.storedWidth.multipliedSaturating(by: info.storedHeight)
      .multipliedSaturating(by: info.highRangeColors == nil ? components : 2 * components)
  }

  /// Opens the primary image, or its thumbnail if that satisfies the request.
  public func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    guard request.frame == 0 else { throw .noSuchFrame(request.frame, of: request.info) }
    let file = try unsafe HEIFFile(bytes, threadCount: request.threadCount)
    let image = try file.primaryImage()
    guard image.width == request.info.storedWidth, image.height == request.info.storedHeight else {
      throw ImageError(.corrupt, format: .heic, "corrupt: two headers disagree")
    }
    file.limitSize(to: image)
    if let colors = request.info.highRangeColors {
      let rows = HEIFRows(file, image, hasAlpha: request.info.hasAlpha, isWide: true, request.control)
      return HighRangeRows(rows, colors, to: request.colorSpace)
    }
    let thumbnails = image.thumbnails.filter { image.isSame($0, atScale: request.minimumScale) }
      .sorted { $0.width < $1.width }
    for thumbnail in thumbnails {
      try request.control.check()
      // A thumbnail that is damaged, or has another size than it declares, says nothing about the image.
      guard let pixels = try? HEIFPixels(thumbnail, of: file) else { continue }
      return HEIFRows(file, thumbnail, pixels, hasAlpha: request.info.hasAlpha, request.control)
    }
    return HEIFRows(file, image, hasAlpha: request.info.hasAlpha, request.control)
  }
}

extension ImageDecoder where Self == HEIFDecoder {
  /// A decoder of HEIC and other HEIF.
  public static var heif: HEIFDecoder { HEIFDecoder() }
}

/// The rows of one image, decoded at the first read if they are not yet.
private final class HEIFRows: RowSource {
  let width: Int
  let height: Int
  let hasAlpha: Bool
  private let file: HEIFFile
  private let image: HEIFImage
  private let control: DecodeControl
  /// True for rows of 16 bits a component.
  private let isWide: Bool
  private var pixels: HEIFPixels?
  private var row = 0

  init(
    _ file: HEIFFile,
    _ image: HEIFImage,
    _ pixels: HEIFPixels? = nil,
    hasAlpha: Bool,
    isWide: Bool = false,
    _ control: DecodeControl,
  ) {
    (self.file, self.image, self.control, self.isWide) = (file, image, control, isWide)
    self.pixels = pixels
    (width, height, self.hasAlpha) = (image.width, image.height, hasAlpha)
  }

  func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
    let pixels = try decoded()
    let count = min(count, height - row)
    guard count > 0 else { return 0 }
    // Only written before this returns.
    let target = unsafe MutableElements(rows)
    for index in 0..<count {
      let start = index * bytesPerRow
      pixels.copy(row: row + index, to: target.extracting(start..<start + width * (isWide ? 8 : 4)))
    }
    row += count
    return count
  }

  private func decoded() throws(ImageError) -> HEIFPixels {
    if let pixels { return pixels }
    try control.check()
    let pixels = try HEIFPixels(image, of: file, isWide: isWide)
    self.pixels = pixels
    try control.check()
    return pixels
  }
}
