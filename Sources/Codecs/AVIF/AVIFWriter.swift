import CLibAVIF
import VitrineImaging
import VitrineRuntime

/// libavif's state for one file that is written.
@safe
final class AVIFWriter {
  /// The ticks of a second: milliseconds, hundredths, and the frames of films and videos are whole numbers of them.
  private static let timescale = 90_000.0

  // Owned: made in init, destroyed in deinit, used by one thread at a time.
  private let encoder: UnsafeMutablePointer<avifEncoder>
  private let image: UnsafeMutablePointer<avifImage>
  private let width: Int
  private let height: Int
  private let colorSpace: ColorSpace
  private let hasAlpha: Bool
  private let isSequence: Bool
  /// The number of times that the animation plays, 0 for endless, if libavif does not write it.
  private var loopCount: Int?
  /// The end of the last frame, in seconds.
  private var end = 0.0
  /// The end of the last frame, in ticks.
  private var ticks: UInt64 = 0

  init(_ input: EncoderInput, _ options: AVIFOptions) throws(ImageError) {
    try AVIFDecoder.library.check(.notEncodable)
    let (bitmap, isExact) = (input.bitmap, options.isLossless)
    (width, height, colorSpace) = (bitmap.width, bitmap.height, bitmap.colorSpace)
    isSequence = input.animation != nil
    // Later frames may be transparent where the first one is not.
    hasAlpha = bitmap.alpha != .opaque || input.animation?.info.hasAlpha == true
    let format = isExact ? AVIF_PIXEL_FORMAT_YUV444 : options.subsampling.format
    let made = unsafe (avifEncoderCreate(), avifImageCreate(UInt32(width), UInt32(height), 8, format))
    guard let encoder = unsafe made.0, let image = unsafe made.1 else {
      // Both accept null pointers.
      if let encoder = unsafe made.0 { unsafe avifEncoderDestroy(encoder) }
      if let image = unsafe made.1 { unsafe avifImageDestroy(image) }
      throw Self.error("not enough memory")
    }
    unsafe (self.encoder, self.image) = (encoder, image)
    // Everything is initialised here, so throwing runs deinit.
    // One thread an image: the queues limit the number of concurrent encodes.
    unsafe encoder.pointee.maxThreads = 1
    // From 7 on libavif has animations encoded as for a call: in libaom 3.6 that aborts the program for some pictures,
    // and loses what only colours tell, even in lossless files.
    unsafe encoder.pointee.speed = Int32(input.animation == nil ? options.speed : min(options.speed, 6))
    unsafe encoder.pointee.timescale = UInt64(Self.timescale)
    unsafe vitrine_avif_set_quality(encoder, isExact ? 100 : Int32(options.quality))
    if let animation = input.animation,
      unsafe vitrine_avif_set_loop_count(encoder, Int32(clamping: animation.info.loopCount)) == 0
    {
      loopCount = animation.info.loopCount
    }
    // Code points (ITU-T H.273) in place of a profile: they take no bytes, and all readers know these.
    unsafe image.pointee.yuvRange = AVIF_RANGE_FULL
    unsafe image.pointee.colorPrimaries = colorSpace == .displayP3 ? 12 : 1
    unsafe image.pointee.transferCharacteristics = 13
    unsafe image.pointee.matrixCoefficients = isExact ? 0 : 6
    try setMetadata(input)
  }

  deinit {
    unsafe avifImageDestroy(image)
    unsafe avifEncoderDestroy(encoder)
  }

  private func setMetadata(_ input: EncoderInput) throws(ImageError) {
    if let exif = input.exif, !exif.isEmpty {
      // libavif copies the bytes.
      try check(unsafe exif.withUnsafeBytes { unsafe vitrine_avif_set_exif(image, Self.start($0), $0.count) })
    }
    if let xmp = input.xmp, !xmp.isEmpty {
      try check(unsafe xmp.withUnsafeBytes { unsafe vitrine_avif_set_xmp(image, Self.start($0), $0.count) })
    }
    unsafe vitrine_avif_remove_transforms(image)
  }

  /// Encodes a frame that is shown for `delay` seconds, or the only picture.
  func add(_ frame: Bitmap, delay: Double?) throws(ImageError) {
    guard frame.width == width, frame.height == height else { throw Self.error("its frames have different sizes") }
    let bitmap = frame.straightened().converted(to: colorSpace)
    // The pixels are only read, within the call: `height` rows of `bytesPerRow` bytes, which the bitmap has.
    try check(
      unsafe bitmap.withUnsafeBytes { pixels in
        var source = unsafe avifRGBImage()
        unsafe avifRGBImageSetDefaults(&source, image)
        unsafe source.depth = 8
        unsafe source.format = AVIF_RGB_FORMAT_RGBA
        unsafe source.ignoreAlpha = hasAlpha ? 0 : 1
        unsafe source.pixels = UnsafeMutablePointer(mutating: Self.start(pixels))
        unsafe source.rowBytes = UInt32(bitmap.bytesPerRow)
        return unsafe avifImageRGBToYUV(image, &source)
      }
    )
    guard let delay else {
      return try check(unsafe avifEncoderAddImage(encoder, image, 1, AVIF_ADD_IMAGE_FLAG_SINGLE.rawValue))
    }
    // Ends are rounded, and not durations, so that they do not drift.
    // libavif writes durations in 32 bits.
    end += min(max(delay, 0), 40_000)
    let duration = max(1, UInt64((end * Self.timescale).rounded()) - min(ticks, UInt64(end * Self.timescale)))
    ticks += duration
    try check(unsafe avifEncoderAddImage(encoder, image, duration, AVIF_ADD_IMAGE_FLAG_NONE.rawValue))
  }

  /// Ends the file and returns it.
  func finish() throws(ImageError) -> Data {
    var output = unsafe avifRWData(data: nil, size: 0)
    defer { unsafe avifRWDataFree(&output) }
    try check(unsafe avifEncoderFinish(encoder, &output))
    // libavif's memory, of that size.
    let file = unsafe Data(UnsafeRawBufferPointer(start: output.data, count: output.size))
    guard isSequence else { return file }
    guard let changed = AVIFSequence.file(file, loopCount: loopCount) else {
      throw Self.error("libavif wrote a file of an unknown structure")
    }
    return changed
  }

  private func check(_ status: avifResult) throws(ImageError) {
    guard status != AVIF_RESULT_OK else { return }
    // Text that ends in a zero, in memory of libavif and of the encoder.
    let reason = unsafe String(cString: avifResultToString(status))
    let detail = unsafe withUnsafeBytes(of: encoder.pointee.diag.error) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    throw Self.error(detail.isEmpty ? reason : "\(reason): \(detail)")
  }

  private static func error(_ reason: String) -> ImageError {
    ImageError(.notEncodable, format: .avif, "cannot be encoded as avif: \(reason)")
  }

  private static func start(_ bytes: UnsafeRawBufferPointer) -> UnsafePointer<UInt8>? {
    unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
  }
}

extension AVIFOptions.Subsampling {
  fileprivate var format: avifPixelFormat {
    switch self {
    case .yuv420: AVIF_PIXEL_FORMAT_YUV420
    case .yuv422: AVIF_PIXEL_FORMAT_YUV422
    case .yuv444: AVIF_PIXEL_FORMAT_YUV444
    }
  }
}
