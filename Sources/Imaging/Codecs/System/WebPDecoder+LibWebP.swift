import CLibWebP
import VitrineRuntime

extension WebPDecoder {
  /// Reads the size of the picture or canvas, and whether it has an alpha channel.
  static func features(of bytes: ByteReader) throws(ImageError) -> (width: Int, height: Int, hasAlpha: Bool) {
    let (status, features) = bitstream(bytes)
    guard status == VP8_STATUS_OK else { throw ImageError(webP: status, "inside its header") }
    return (Int(features.width), Int(features.height), features.has_alpha != 0)
  }

  private static func bitstream(_ bytes: ByteReader) -> (VP8StatusCode, WebPBitstreamFeatures) {
    var features = WebPBitstreamFeatures()
    let status = unsafe bytes.bytes.withUnsafeBufferPointer {
      unsafe WebPGetFeatures($0.baseAddress, $0.count, &features)
    }
    return (status, features)
  }

  package func memory(for bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> DecodeMemory {
    let bytes = unsafe ByteReader(bytes)
    let header = WebPHeader(bytes, metadataLimit: 0)
    let canvas = request.info.storedWidth * request.info.storedHeight
    guard header.isAnimated else {
      return stillMemory(bytes, request, width: request.info.storedWidth, height: request.info.storedHeight)
    }
    let frames = WebPFrames(bytes, request.info, through: 0)
    guard request.frame == 0, let first = frames.frames.first else {
      // A frame is held besides the canvas, decoded and as its codec does.
      return DecodeMemory(codec: 9 * canvas, rows: 4 * canvas)
    }
    let (width, height) = (first.place.width, first.place.height)
    let isWhole = first.place.covers(request.info.storedWidth, request.info.storedHeight)
    let inner = isWhole ? request : request.unscaled
    return stillMemory(first.content, inner, width: width, height: height)
  }

  /// Estimates the memory of a picture.
  private func stillMemory(_ bytes: ByteReader, _ request: RowRequest, width: Int, height: Int) -> DecodeMemory {
    let (status, features) = Self.bitstream(bytes)
    // Lossless pictures are held at their own size, and so is an alpha channel. Others are decoded row by row.
    let isLossy = status == VP8_STATUS_OK && features.format == 1
    let perPixel = !isLossy ? 4 : features.has_alpha != 0 ? 5 : 0
    let layout = Layout(width: width, height: height, request)
    return DecodeMemory(codec: perPixel * width * height, rows: 4 * layout.width * layout.height)
  }

  /// Opens a still picture or one frame of an animation, at the requested scale where no canvas is needed.
  public func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    let bytes = unsafe ByteReader(bytes)
    let header = WebPHeader(bytes, metadataLimit: 0)
    let info = request.info
    guard request.frame < max(1, info.frameCount) else { throw .noSuchFrame(request.frame, of: info) }
    guard !header.isAnimated else { return try openFrame(bytes, request) }
    return Self.still(
      bytes,
      request,
      width: info.storedWidth,
      height: info.storedHeight,
      hasAlpha: info.hasAlpha,
    )
  }

  /// The size at which a picture is decoded, and the part of it.
  private struct Layout {
    let isScaled: Bool
    let part: PixelRegion?
    let width: Int
    let height: Int

    init(width: Int, height: Int, _ request: RowRequest) {
      // libwebp averages what it drops. So it delivers twice the requested size, and the caller's filter does the rest.
      let scale = request.minimumScale * 3 / 2
      isScaled = scale < 0.9
      part = isScaled ? nil : request.region.map { WebPDecoder.croppable($0, width: width, height: height) }
      self.width = isScaled ? max(1, Int((Double(width) * scale).rounded(.up))) : part?.width ?? width
      self.height = isScaled ? max(1, Int((Double(height) * scale).rounded(.up))) : part?.height ?? height
    }

    func options(threadCount: Int) -> WebPDecoderOptions {
      var options = WebPDecoderOptions()
      if let part {
        options.use_cropping = 1
        (options.crop_left, options.crop_top) = (Int32(part.x), Int32(part.y))
        (options.crop_width, options.crop_height) = (Int32(part.width), Int32(part.height))
      }
      options.use_scaling = isScaled ? 1 : 0
      (options.scaled_width, options.scaled_height) = (Int32(width), Int32(height))
      // One thread more, which filters the rows that this one has decoded.
      options.use_threads = threadCount > 1 ? 1 : 0
      return options
    }
  }

  static func still(
    _ bytes: ByteReader,
    _ request: RowRequest,
    width pictureWidth: Int,
    height pictureHeight: Int,
    hasAlpha: Bool,
  ) -> HeldRows {
    let layout = Layout(width: pictureWidth, height: pictureHeight, request)
    return HeldRows(
      width: layout.width,
      height: layout.height,
      hasAlpha: hasAlpha,
      part: layout.part.map { ($0.x, $0.y, pictureWidth, pictureHeight) },
    ) {
      (pixels, wholeRows) throws(ImageError) in
      var config = unsafe WebPDecoderConfig()
      guard unsafe WebPInitDecoderConfig(&config) != 0 else {
        throw ImageError(.unsupported, format: .webp, "libwebp has another version than its headers")
      }
      unsafe config.options = layout.options(threadCount: request.threadCount)
      try unsafe decode(bytes, &config, stride: layout.width * 4, into: pixels, request.control, &wholeRows)
    }
  }

  /// Writes rows that are `stride` bytes long, without gaps.
  private static func decode(
    _ bytes: ByteReader,
    _ config: UnsafeMutablePointer<WebPDecoderConfig>,
    stride: Int,
    into pixels: MutableElements<UInt8>,
    _ control: DecodeControl,
    _ wholeRows: inout Int,
  ) throws(ImageError) {
    try unsafe pixels.withUnsafeBufferPointer { (pixels) throws(ImageError) in
      unsafe (config.pointee.output.colorspace, config.pointee.output.is_external_memory) = (MODE_RGBA, 1)
      // libwebp checks that the rows fit into `pixels`, which outlives the decoder.
      unsafe config.pointee.output.u.RGBA = WebPRGBABuffer(
        rgba: pixels.baseAddress,
        stride: Int32(stride),
        size: pixels.count,
      )
      guard let decoder = unsafe WebPIDecode(nil, 0, config) else {
        throw ImageError(.overLimit, format: .webp, "not enough memory for the WebP decoder")
      }
      defer { unsafe WebPIDelete(decoder) }
      // Passed in parts only so that the caller can cancel in between; the bytes are not copied.
      var end = 0
      var status = VP8_STATUS_SUSPENDED
      while status == VP8_STATUS_SUSPENDED, end < bytes.count {
        try control.check()
        end = min(bytes.count, end + 64 * 1024)
        status = unsafe bytes.bytes.withUnsafeBufferPointer { unsafe WebPIUpdate(decoder, $0.baseAddress, end) }
      }
      guard status == VP8_STATUS_OK else {
        var lastRow: Int32 = 0
        _ = unsafe WebPIDecGetRGB(decoder, &lastRow, nil, nil, nil)
        wholeRows = Int(max(0, lastRow))
        throw ImageError(webP: status, "at row \(wholeRows) of \(pixels.count / stride)")
      }
    }
  }

  /// Returns a region that libwebp can crop to exactly: it starts at even coordinates and includes the neighbours
  /// that chroma is interpolated from.
  private static func croppable(_ region: PixelRegion, width: Int, height: Int) -> PixelRegion {
    let (x, y) = (max(0, region.x - 4) & ~1, max(0, region.y - 4) & ~1)
    return PixelRegion(
      x: x,
      y: y,
      width: min(width, region.x + region.width + 4) - x,
      height: min(height, region.y + region.height + 4) - y,
    )
  }
}

extension WebPFrames {
  /// Opens a picture at the requested scale.
  func open(_ frame: Frame, _ request: RowRequest) throws(ImageError) -> HeldRows {
    WebPDecoder.still(
      frame.content,
      request,
      width: frame.place.width,
      height: frame.place.height,
      hasAlpha: frame.hasAlpha,
    )
  }
}

extension ImageError {
  fileprivate init(webP status: VP8StatusCode, _ place: String) {
    switch status {
    case VP8_STATUS_NOT_ENOUGH_DATA, VP8_STATUS_SUSPENDED:
      self.init(.truncated, format: .webp, "truncated: the file ends \(place)")
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      self.init(.unsupported, format: .webp, "an unsupported kind of WebP")
    case VP8_STATUS_OUT_OF_MEMORY:
      self.init(.overLimit, format: .webp, "not enough memory for the WebP decoder")
    default:
      self.init(.corrupt, format: .webp, "corrupt: the data is invalid \(place) (libwebp's code \(status.rawValue))")
    }
  }
}
