import CLibAVIF
import VitrineImaging
import VitrineRuntime

/// libavif's state for one file.
@safe
final class AVIFReader {
  // Owned: made in init, destroyed in deinit, used by one thread at a time.
  private let decoder: UnsafeMutablePointer<avifDecoder>
  private let view: UnsafeMutablePointer<avifImage>
  private let isTruncated: Bool
  /// The frame that the decoder's picture is; `nil` for none.
  private var decoded: Int?
  /// The decoded picture shrunk, if that was asked for.
  private var means: AVIFMeans?
  /// The size of all coded pictures, as the header says.
  let codedSize: (width: Int, height: Int)
  /// The part of the coded picture to show (`clap`), which is within it.
  let crop: avifCropRect

  /// `bytes` must stay in place for the life of the reader.
  init(
    _ bytes: UnsafeRawBufferPointer,
    pixelLimit: Int?,
    frameLimit: Int,
    threadCount: Int = 1,
  ) throws(ImageError) {
    try AVIFDecoder.library.check()
    isTruncated = unsafe ISOMediaFile.isTruncated(ByteReader(bytes))
    guard let decoder = unsafe avifDecoderCreate(), let view = unsafe avifImageCreateEmpty() else {
      throw ImageError(.overLimit, format: .avif, "not enough memory for the AVIF decoder")
    }
    unsafe (self.decoder, self.view) = (decoder, view)
    unsafe decoder.pointee.maxThreads = Int32(clamping: max(1, threadCount))
    unsafe decoder.pointee.ignoreXMP = 1
    unsafe decoder.pointee.ignoreExif = 1
    // Browsers show files that violate these rules.
    unsafe decoder.pointee.strictFlags = AVIF_STRICT_DISABLED.rawValue
    unsafe decoder.pointee.imageDimensionLimit = 0
    unsafe decoder.pointee.imageCountLimit = UInt32(clamping: max(1, frameLimit))
    let most = unsafe decoder.pointee.imageSizeLimit
    unsafe decoder.pointee.imageSizeLimit = min(most, UInt32(clamping: max(1, pixelLimit ?? Int(most))))
    // The decoder keeps the pointer no longer than this object lives.
    var status = unsafe avifDecoderSetIOMemory(
      decoder,
      bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
      bytes.count,
    )
    if status == AVIF_RESULT_OK { status = unsafe avifDecoderParse(decoder) }
    let isParsed = status == AVIF_RESULT_OK
    codedSize = isParsed ? unsafe Self.size(decoder.pointee.image.pointee) : (0, 0)
    crop = isParsed ? unsafe Self.crop(decoder.pointee.image) : avifCropRect()
    // Everything is initialised here, so throwing runs deinit.
    if !isParsed { throw error(status, "inside its header") }
  }

  private static func size(_ image: avifImage) -> (width: Int, height: Int) {
    unsafe (Int(image.width), Int(image.height))
  }

  deinit {
    unsafe avifImageDestroy(view)
    unsafe avifDecoderDestroy(decoder)
  }

  var frameCount: Int { unsafe max(1, Int(decoder.pointee.imageCount)) }
  /// True if all of the coded picture is shown.
  var showsWhole: Bool { Int(crop.width) == codedSize.width && Int(crop.height) == codedSize.height }
  var hasAlpha: Bool { unsafe decoder.pointee.alphaPresent != 0 }
  // The decoder has an image once it has parsed one, and only then is there an `AVIFReader`.
  private var image: avifImage { unsafe decoder.pointee.image.pointee }
  var format: avifPixelFormat { unsafe image.yuvFormat }
  var isGray: Bool { unsafe image.yuvFormat == AVIF_PIXEL_FORMAT_YUV400 }
  var depth: Int { unsafe Int(image.depth) }

  /// The bytes of the coded pictures: one of a still image, and of a sequence also the pictures that AV1 refers to.
  var workingByteCount: Int {
    // In quarters of a byte a pixel.
    let colors: Int =
      switch unsafe image.yuvFormat {
      case AVIF_PIXEL_FORMAT_YUV400: 4
      case AVIF_PIXEL_FORMAT_YUV420: 6
      case AVIF_PIXEL_FORMAT_YUV422: 8
      default: 12
      }
    let picture =
      codedSize.width.multipliedSaturating(by: codedSize.height)
      .multipliedSaturating(by: (colors + (hasAlpha ? 4 : 0)) * (depth > 8 ? 2 : 1)) / 4
    return frameCount == 1
      ? picture.addingSaturating(picture / 8) : picture.multipliedSaturating(by: min(frameCount, 9))
  }

  /// The orientation: first rotated (`irot`), then mirrored (`imir`).
  var orientation: Orientation {
    let flags = unsafe image.transformFlags
    let turns = unsafe flags & AVIF_TRANSFORM_IROT.rawValue == 0 ? 0 : Int(image.irot.angle & 3)
    guard flags & AVIF_TRANSFORM_IMIR.rawValue != 0 else { return Orientation(turns: turns, isMirrored: false) }
    // Top to bottom is half a turn, then left to right.
    let isLeftToRight = unsafe vitrine_avif_mirror(decoder.pointee.image) == 1
    return Orientation(turns: isLeftToRight ? turns : turns + 2, isMirrored: true)
  }

  func profile(byteLimit: Int) -> ColorProfile? {
    let image = unsafe image
    guard unsafe image.icc.size == 0 else {
      guard unsafe image.icc.size <= byteLimit else { return nil }
      // libavif's own copy, of that size.
      return unsafe ColorProfile(data: Data(UnsafeRawBufferPointer(start: image.icc.data, count: image.icc.size)))
    }
    return unsafe ColorProfile(primaries: Int(image.colorPrimaries), transfer: Int(image.transferCharacteristics))
  }

  /// The colours of high dynamic range, by the profile or else by code points; `nil` for others.
  ///
  /// `peak` is the brightest content in nits, if the file says.
  func highRange(_ profile: ColorProfile?, peak: Double?) -> HighRangeColors? {
    let image = unsafe image
    guard unsafe image.icc.size == 0 else { return profile?.highRange(peak: peak) }
    return unsafe HighRangeColors(
      primaries: Int(image.colorPrimaries),
      transfer: Int(image.transferCharacteristics),
      peak: peak,
    )
  }

  /// The duration of each frame, in seconds.
  var delays: [Double] {
    (0..<frameCount).map { index in
      var timing = avifImageTiming()
      let status = unsafe avifDecoderNthImageTiming(decoder, UInt32(clamping: index), &timing)
      return status == AVIF_RESULT_OK ? FrameDelay.shown(timing.duration) : FrameDelay.shown(0)
    }
  }

  /// Decodes a frame and the frames that it builds on, except frames that were decoded before.
  func decode(frame: Int, _ limits: DecodeLimits, _ control: DecodeControl) throws(ImageError) {
    let keyframe = unsafe Int(avifDecoderNearestKeyframe(decoder, UInt32(clamping: frame)))
    let start = min(keyframe, frame)
    let next = decoded.map { $0 < frame && $0 + 1 >= start ? $0 + 1 : $0 == frame ? frame : start } ?? start
    let frames = next...frame
    try limits.check(composed: codedSize.width * codedSize.height * frames.count, format: .avif)
    decoded = nil
    for index in frames {
      try control.check()
      let status = unsafe avifDecoderNthImage(decoder, UInt32(clamping: index))
      guard status == AVIF_RESULT_OK else { throw error(status, frame == 0 ? "in the picture" : "in frame \(index)") }
    }
    guard unsafe Self.size(image) == codedSize else {
      throw ImageError(.corrupt, format: .avif, "corrupt: the picture and the header have different sizes")
    }
    decoded = frame
  }

  /// Shrinks the decoded picture; ``convert(_:width:bits:into:offset:)`` then writes rows of that.
  func shrink(by factor: Int, _ control: DecodeControl) throws(ImageError) {
    means = try unsafe AVIFMeans(decoder.pointee.image, factor: factor, control)
    if means == nil { throw ImageError(.corrupt, format: .avif, "corrupt: the picture is not as its header says") }
  }

  /// Writes whole `rows` of the decoded picture, which is `width` pixels wide, as RGBA with straight alpha, of 8 or 16
  /// bits a component.
  func convert(
    _ rows: Range<Int>,
    width: Int,
    bits: Int,
    into pixels: inout [UInt8],
    offset: Int,
  ) throws(ImageError) {
    let rowBytes = width * bits / 2
    precondition(offset >= 0 && offset + rows.count * rowBytes <= pixels.count)
    var part = avifCropRect(x: 0, y: UInt32(rows.lowerBound), width: UInt32(width), height: UInt32(rows.count))
    // A view into the picture; libavif checks the bounds.
    var status = unsafe avifImageSetViewRect(view, means?.image ?? decoder.pointee.image, &part)
    if status == AVIF_RESULT_OK {
      status = unsafe pixels.withUnsafeMutableBytes { bytes in
        var target = unsafe avifRGBImage()
        unsafe avifRGBImageSetDefaults(&target, view)
        unsafe target.depth = UInt32(bits)
        unsafe target.format = AVIF_RGB_FORMAT_RGBA
        unsafe target.alphaPremultiplied = 0
        // By default libavif repeats chroma instead of interpolating it at 12 bits, unlike at fewer.
        if depth > 10 { unsafe target.chromaUpsampling = AVIF_CHROMA_UPSAMPLING_BEST_QUALITY }
        unsafe target.rowBytes = UInt32(rowBytes)
        // The precondition guarantees the room.
        unsafe target.pixels = (bytes.baseAddress.map { unsafe $0 + offset })?.assumingMemoryBound(to: UInt8.self)
        return unsafe avifImageYUVToRGB(view, &target)
      }
    }
    guard status == AVIF_RESULT_OK else { throw error(status, "at row \(rows.lowerBound)") }
  }

  private static func crop(_ image: UnsafeMutablePointer<avifImage>) -> avifCropRect {
    let whole = unsafe avifCropRect(x: 0, y: 0, width: image.pointee.width, height: image.pointee.height)
    guard unsafe image.pointee.transformFlags & AVIF_TRANSFORM_CLAP.rawValue != 0 else { return whole }
    var crop = avifCropRect()
    var diagnostics = avifDiagnostics()
    // An invalid crop is ignored, as in browsers.
    let isValid = unsafe avifCropRectConvertCleanApertureBox(
      &crop,
      &image.pointee.clap,
      image.pointee.width,
      image.pointee.height,
      image.pointee.yuvFormat,
      &diagnostics,
    )
    let (right, bottom) = (Int(crop.x) + Int(crop.width), Int(crop.y) + Int(crop.height))
    return isValid != 0 && right <= Int(whole.width) && bottom <= Int(whole.height) ? crop : whole
  }

  private func error(_ status: avifResult, _ place: String) -> ImageError {
    // Text that ends in a zero, in memory of libavif and of the decoder.
    let reason = unsafe String(cString: avifResultToString(status))
    let detail = unsafe withUnsafeBytes(of: decoder.pointee.diag.error) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    let message = detail.isEmpty ? reason : "\(reason): \(detail)"
    if detail.lowercased().contains("limit") || (detail.contains("dimensions") && detail.contains("too large")) {
      // It has two limits, and names the exceeded one only in its text.
      let limit: DecodeLimits.Name = detail.contains("imageCountLimit") ? .frameCount : .pixelCount
      return ImageError(.overLimit, format: .avif, limit: limit, "avif over the limit: \(detail)")
    }
    if isTruncated || detail.lowercased().contains("truncated data") || status == AVIF_RESULT_TRUNCATED_DATA
      || status == AVIF_RESULT_WAITING_ON_IO
    {
      return ImageError(.truncated, format: .avif, "truncated: the file ends \(place)")
    }
    switch status {
    case AVIF_RESULT_OUT_OF_MEMORY:
      return ImageError(.overLimit, format: .avif, "not enough memory for the AVIF decoder")
    case AVIF_RESULT_NO_CODEC_AVAILABLE:
      return ImageError(.unsupported, format: .avif, "unsupported: libavif was built without an AV1 decoder")
    case AVIF_RESULT_NOT_IMPLEMENTED, AVIF_RESULT_UNSUPPORTED_DEPTH, AVIF_RESULT_NO_AV1_ITEMS_FOUND:
      return ImageError(.unsupported, format: .avif, "an unsupported kind of AVIF: \(message)")
    default:
      return ImageError(.corrupt, format: .avif, "corrupt \(place): \(message)")
    }
  }
}
