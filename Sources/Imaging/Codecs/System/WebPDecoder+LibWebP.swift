import CLibWebP
import VitrineRuntime

extension WebPDecoder {
  /// Reads the size of the picture or canvas, and whether it has an alpha channel.
  static func features(
    of bytes: UnsafeRawBufferPointer
  ) throws(ImageError) -> (width: Int, height: Int, hasAlpha: Bool) {
    var features = WebPBitstreamFeatures()
    let status = unsafe WebPGetFeatures(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, &features)
    guard status == VP8_STATUS_OK else { throw ImageError(webP: status, "inside its header") }
    return (Int(features.width), Int(features.height), features.has_alpha != 0)
  }

  package func memory(for bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> DecodeMemory {
    let header = unsafe WebPHeader(ByteReader(bytes), metadataLimit: 0)
    let canvas = request.info.storedWidth * request.info.storedHeight
    guard header.isAnimated else {
      return unsafe stillMemory(bytes, request, width: request.info.storedWidth, height: request.info.storedHeight)
    }
    let frames = unsafe WebPFrames(ByteReader(bytes), request.info, through: 0)
    guard request.frame == 0, let first = frames.frames.first else {
      // A frame is held besides the canvas, decoded and as its codec does.
      return DecodeMemory(codec: 9 * canvas, rows: 4 * canvas)
    }
    let (width, height) = (first.place.width, first.place.height)
    let isWhole = first.place.covers(request.info.storedWidth, request.info.storedHeight)
    let inner = isWhole ? request : request.unscaled
    return unsafe stillMemory(first.content.bytes, inner, width: width, height: height)
  }

  /// Estimates the memory of a picture.
  private func stillMemory(
    _ bytes: UnsafeRawBufferPointer,
    _ request: RowRequest,
    width: Int,
    height: Int,
  ) -> DecodeMemory {
    var features = WebPBitstreamFeatures()
    let status = unsafe WebPGetFeatures(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, &features)
    // Lossless pictures are held at their own size, and so is an alpha channel. Others are decoded row by row.
    let isLossy = status == VP8_STATUS_OK && features.format == 1
    let perPixel = !isLossy ? 4 : features.has_alpha != 0 ? 5 : 0
    let layout = Layout(width: width, height: height, request)
    return DecodeMemory(codec: perPixel * width * height, rows: 4 * layout.width * layout.height)
  }

  /// Opens a still picture or one frame of an animation, at the requested scale where no canvas is needed.
  public func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    let header = unsafe WebPHeader(ByteReader(bytes), metadataLimit: 0)
    let info = request.info
    guard request.frame < max(1, info.frameCount) else { throw .noSuchFrame(request.frame, of: info) }
    guard !header.isAnimated else {
      guard !header.isTruncated else { throw WebPFrames.truncated(request.frame) }
      return try unsafe openFrame(bytes, request)
    }
    return unsafe Self.still(
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
  }

  static func still(
    _ bytes: UnsafeRawBufferPointer,
    _ request: RowRequest,
    width pictureWidth: Int,
    height pictureHeight: Int,
    hasAlpha: Bool,
  ) -> HeldRows {
    let layout = Layout(width: pictureWidth, height: pictureHeight, request)
    let (width, height, isScaled, part) = (layout.width, layout.height, layout.isScaled, layout.part)
    return unsafe HeldRows(
      width: width,
      height: height,
      hasAlpha: hasAlpha,
      part: part.map { ($0.x, $0.y, pictureWidth, pictureHeight) },
    ) {
      (pixels, wholeRows) throws(ImageError) in
      var config = unsafe WebPDecoderConfig()
      guard unsafe WebPInitDecoderConfig(&config) != 0 else {
        throw ImageError(.unsupported, format: .webp, "libwebp has another version than its headers")
      }
      if let part {
        unsafe config.options.use_cropping = 1
        unsafe config.options.crop_left = Int32(part.x)
        unsafe config.options.crop_top = Int32(part.y)
        unsafe config.options.crop_width = Int32(part.width)
        unsafe config.options.crop_height = Int32(part.height)
      }
      unsafe config.options.use_scaling = isScaled ? 1 : 0
      unsafe config.options.scaled_width = Int32(width)
      unsafe config.options.scaled_height = Int32(height)
      // One thread more, which filters the rows that this one has decoded.
      unsafe config.options.use_threads = request.threadCount > 1 ? 1 : 0
      unsafe config.output.colorspace = MODE_RGBA
      unsafe config.output.is_external_memory = 1
      // `pixels` is as large as `HeldRows` promises, and outlives the decoder, which ends before this returns.
      unsafe config.output.u.RGBA.rgba = pixels.baseAddress?.assumingMemoryBound(to: UInt8.self)
      unsafe config.output.u.RGBA.stride = Int32(width * 4)
      unsafe config.output.u.RGBA.size = pixels.count
      guard let decoder = unsafe WebPIDecode(nil, 0, &config) else {
        throw ImageError(.overLimit, format: .webp, "not enough memory for the WebP decoder")
      }
      defer { unsafe WebPIDelete(decoder) }
      // Passed in parts only so that the caller can cancel in between; the bytes are not copied.
      var end = 0
      var status = VP8_STATUS_SUSPENDED
      while status == VP8_STATUS_SUSPENDED, end < bytes.count {
        try request.control.check()
        end = min(bytes.count, end + 64 * 1024)
        status = unsafe WebPIUpdate(decoder, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), end)
      }
      guard status == VP8_STATUS_OK else {
        var lastRow: Int32 = 0
        _ = unsafe WebPIDecGetRGB(decoder, &lastRow, nil, nil, nil)
        wholeRows = Int(max(0, lastRow))
        throw ImageError(webP: status, "at row \(wholeRows) of \(height)")
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
    unsafe WebPDecoder.still(
      frame.content.bytes,
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
