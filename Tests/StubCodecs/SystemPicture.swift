import VitrineRuntime

/// A still picture, as Linux's codecs read it.
enum SystemPicture {
  /// Reads the facts.
  static func info(of data: Data) throws(ImageError) -> ImageInfo {
    switch ImageFormat.sniff(data) {
    case .png, .apng: try pngInfo(of: data)
    case .jpeg, .gif, .webp: try DecoderRegistry.standard.info(of: data)
    case let format: throw ImageError(.unsupported, format: format, "not one of Linux's formats")
    }
  }

  private static func pngInfo(of data: Data) throws(ImageError) -> ImageInfo {
    try unsafe data.withImageBytes { (bytes) throws(ImageError) in
      let header = try unsafe PNGHeader(ByteReader(bytes))
      var info = ImageInfo(
        format: .png,
        storedWidth: header.width,
        storedHeight: header.height,
        orientation: header.orientation,
      )
      info.frameCount = max(1, header.frameCount)
      info.hasAlpha = header.hasAlpha
      info.bitsPerComponent = header.bitsPerComponent
      info.streamsRows = !header.isInterlaced
      info.colorModel = header.colorType == 0 || header.colorType == 4 ? .gray : .rgb
      info.colorEncoding = header.colorEncoding
      if header.hasProfile {
        info.colorProfile = try PNGDecoder.profile(of: unsafe ByteReader(bytes), .png, DecodeLimits())
      }
      return info
    }
  }

  /// Returns the text of XMP in a PNG.
  static func text(of data: Data, _ info: ImageInfo) -> Data? {
    guard info.format == .png else { return nil }
    return data.reading { file in
      let keyword = Array("XML:com.adobe.xmp\0".utf8)
      let chunk = PNGHeader.chunks(file).first { $0.type == PNGHeader.Chunk.iTXt && $0.body.starts(with: keyword) }
      return chunk.flatMap { PNGDecoder.inflated($0, DecodeLimits()) }
    }
  }

  /// Opens the picture at a scale.
  static func rows(
    _ bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    scale: Double,
    isWhole: Bool,
  ) throws(ImageError) -> any RowSource {
    let request = RowRequest(info: info, minimumScale: min(1, scale))
    let rows: (any RowSource)?
    switch info.format {
    case .jpeg:
      let eighths = [1, 2, 4].first { Double($0) / 8 >= scale } ?? 8
      rows =
        isWhole
        ? try unsafe JPEGDecoder.openSystem(bytes, request, eighths: eighths)
        : try unsafe JPEGDecoder.openSystemPrefix(bytes, request, eighths: eighths)
    case .png:
      let file = unsafe ByteReader(bytes)
      rows = try PNGDecoder.openPicture(file, request, width: info.storedWidth, height: info.storedHeight)
    case .gif: rows = try unsafe GIFDecoder().open(bytes, request)
    case .webp: rows = try unsafe WebPDecoder().open(bytes, request)
    default: rows = nil
    }
    guard let rows else { throw ImageError(.unsupported, format: info.format, "not one of Linux's formats") }
    return rows
  }
}
