import CLibWebP
public import VitrineRuntime

/// Encodes WebP with libwebp: lossy by default, with alpha if any pixel is transparent, still or animated.
public struct WebPEncoder: ImageEncoder {
  /// Makes the encoder.
  public init() {}

  /// WebP.
  public var format: ImageFormat { .webp }

  /// Everything there is.
  public var features: EncoderFeatures { [.displayP3, .animation, .exif, .xmp, .alpha] }

  /// Encodes a picture, whose sides may have up to 16,383 pixels.
  ///
  /// Blocks until done. Every frame of an animation is encoded by itself or as its difference from the one before,
  /// whichever is smaller; libwebp holds two frames and the encoded ones.
  public func encode(_ input: EncoderInput, _ options: WebPOptions) throws(ImageError) -> Data {
    try Self.check(input.bitmap, .webp, longestSide: Int(WEBP_MAX_DIMENSION))
    guard let animation = input.animation else { return try Self.adding(input, to: Self.still(input, options)) }
    let writer = try WebPAnimationWriter(input, options, loopCount: animation.loopCount)
    return try Self.adding(input, to: writer.encode(animation, input))
  }

  private static func still(_ input: EncoderInput, _ options: WebPOptions) throws(ImageError) -> Data {
    var picture = try unsafe WebPPicture(of: input.bitmap, usesARGB: options.isLossless)
    defer { unsafe WebPPictureFree(&picture) }
    var config = try WebPConfig(options)
    let cancellation = EncoderCancellation(input)
    unsafe picture.observe(cancellation)
    var writer = unsafe WebPMemoryWriter()
    unsafe WebPMemoryWriterInit(&writer)
    // The writer outlives the call, and the object that the picture refers to does, too.
    let isDone = unsafe withUnsafeMutablePointer(to: &writer) { writer in
      unsafe picture.writer = { unsafe WebPMemoryWrite($0, $1, $2) }
      unsafe picture.custom_ptr = UnsafeMutableRawPointer(writer)
      return unsafe WebPEncode(&config, &picture) != 0
    }
    withExtendedLifetime(cancellation) {}
    guard isDone, let bytes = unsafe writer.mem else {
      unsafe WebPMemoryWriterClear(&writer)
      throw failure(unsafe picture.error_code)
    }
    // libwebp allocated it, and the deallocator is its own.
    return unsafe Data(bytesNoCopy: bytes, count: writer.size, deallocator: .custom { p, _ in unsafe WebPFree(p) })
  }

  /// Returns the file with the profile and the metadata.
  private static func adding(_ input: EncoderInput, to file: Data) throws(ImageError) -> Data {
    let chunks = [("ICCP", input.colorProfile?.data), ("EXIF", input.exif), ("XMP ", input.xmp)]
    guard chunks.contains(where: { $0.1 != nil }) else { return file }
    var whole = unsafe WebPData()
    // The mux copies what it is given.
    let mux = unsafe file.withUnsafeBytes { bytes in
      var image = unsafe WebPData(bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), size: bytes.count)
      return unsafe WebPMuxCreate(&image, 1)
    }
    defer { unsafe WebPMuxDelete(mux) }
    var status = WEBP_MUX_OK
    for case (let name, let content?) in chunks where status == WEBP_MUX_OK {
      status = unsafe content.withUnsafeBytes { bytes in
        var chunk = unsafe WebPData(bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), size: bytes.count)
        return unsafe WebPMuxSetChunk(mux, name, &chunk, 1)
      }
    }
    if status == WEBP_MUX_OK { status = unsafe WebPMuxAssemble(mux, &whole) }
    defer { unsafe WebPDataClear(&whole) }
    guard status == WEBP_MUX_OK, let start = unsafe whole.bytes else {
      throw ImageError(.notEncodable, format: .webp, "cannot be encoded as webp: its metadata cannot be added")
    }
    return unsafe Data(bytes: start, count: whole.size)
  }

  static func failure(_ code: WebPEncodingError) -> ImageError {
    guard code != VP8_ENC_ERROR_USER_ABORT else { return ImageError(.cancelled, "cancelled") }
    let reason =
      switch code {
      case VP8_ENC_ERROR_OUT_OF_MEMORY, VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY: "there is not enough memory"
      case VP8_ENC_ERROR_PARTITION0_OVERFLOW, VP8_ENC_ERROR_PARTITION_OVERFLOW, VP8_ENC_ERROR_FILE_TOO_BIG:
        "the picture is too complex for the format; choose a lower quality"
      default: "libwebp failed with code \(code.rawValue)"
      }
    return ImageError(.notEncodable, format: .webp, "cannot be encoded as webp: \(reason)")
  }
}

/// Writes an animation frame by frame.
@safe
private final class WebPAnimationWriter {
  private let encoder: OpaquePointer
  private var config: WebPConfig
  private let size: (width: Int, height: Int)
  /// As long-lived as the encoder, whose copies of pictures ask it: an animation of one frame is encoded once more at its
  /// end, from such a copy.
  private let cancellation: EncoderCancellation

  init(_ input: EncoderInput, _ options: WebPOptions, loopCount: Int) throws(ImageError) {
    config = try WebPConfig(options)
    size = (input.bitmap.width, input.bitmap.height)
    cancellation = EncoderCancellation(input)
    var settings = WebPAnimEncoderOptions()
    guard unsafe WebPAnimEncoderOptionsInit(&settings) != 0 else {
      throw WebPEncoder.failure(VP8_ENC_ERROR_INVALID_CONFIGURATION)
    }
    settings.anim_params.loop_count = Int32(clamping: min(loopCount, 65_535))
    let made = unsafe WebPAnimEncoderNew(Int32(size.width), Int32(size.height), &settings)
    guard let made = unsafe made else { throw WebPEncoder.failure(VP8_ENC_ERROR_OUT_OF_MEMORY) }
    unsafe encoder = made
  }

  // Made by the initialiser, and freed only here.
  deinit { unsafe WebPAnimEncoderDelete(encoder) }

  func encode(_ animation: AnimatedImage, _ input: EncoderInput) throws(ImageError) -> Data {
    var frames = try animation.frames(for: input)
    var seconds = 0.0
    while let frame = try frames.next() {
      try input.checkCancellation()
      try add(frame.bitmap, at: seconds, input)
      seconds += frame.delay
    }
    guard unsafe WebPAnimEncoderAdd(encoder, nil, Self.milliseconds(seconds), nil) != 0 else { throw failure }
    var file = unsafe WebPData()
    defer { unsafe WebPDataClear(&file) }
    guard unsafe WebPAnimEncoderAssemble(encoder, &file) != 0, let bytes = unsafe file.bytes else {
      try input.checkCancellation()
      throw failure
    }
    return unsafe Data(bytes: bytes, count: file.size)
  }

  private func add(_ frame: Bitmap, at seconds: Double, _ input: EncoderInput) throws(ImageError) {
    // A processor may have made frames of different sizes.
    guard (frame.width, frame.height) == size else {
      throw ImageError(
        .notEncodable,
        format: .webp,
        "cannot be encoded as webp: a frame has \(frame.width)x\(frame.height) pixels, the first "
          + "\(size.width)x\(size.height)",
      )
    }
    var picture = try unsafe WebPPicture(
      of: EncoderInput(frame.converted(to: input.bitmap.colorSpace)).bitmap,
      usesARGB: true,
    )
    defer { unsafe WebPPictureFree(&picture) }
    unsafe picture.observe(cancellation)
    let isAdded = unsafe WebPAnimEncoderAdd(encoder, &picture, Self.milliseconds(seconds), &config) != 0
    guard isAdded else {
      if unsafe picture.error_code != VP8_ENC_OK { throw WebPEncoder.failure(unsafe picture.error_code) }
      throw failure
    }
  }

  private static func milliseconds(_ seconds: Double) -> Int32 {
    Int32(min(max(0, (seconds * 1000).rounded()), Double(Int32.max)))
  }

  private var failure: ImageError {
    // A text that lives until the next call.
    let reason = unsafe String(cString: WebPAnimEncoderGetError(encoder))
    return ImageError(.notEncodable, format: .webp, "cannot be encoded as webp: \(reason)")
  }
}

extension WebPConfig {
  fileprivate init(_ options: WebPOptions) throws(ImageError) {
    self.init()
    guard unsafe WebPConfigInit(&self) != 0 else { throw WebPEncoder.failure(VP8_ENC_ERROR_INVALID_CONFIGURATION) }
    (quality, method) = (Float(options.quality), Int32(options.effort))
    guard options.isLossless else { return }
    lossless = 1
    // As libwebp's own function for lossless files: the quality is an effort, too.
    quality = 70
  }
}

extension WebPPicture {
  /// Makes a picture of a bitmap; the caller frees it.
  fileprivate init(of bitmap: Bitmap, usesARGB: Bool) throws(ImageError) {
    unsafe self.init()
    guard unsafe WebPPictureInit(&self) != 0 else { throw WebPEncoder.failure(VP8_ENC_ERROR_INVALID_CONFIGURATION) }
    unsafe (width, height, use_argb) = (Int32(bitmap.width), Int32(bitmap.height), usesARGB ? 1 : 0)
    // libwebp reads `height` rows of `bytesPerRow` bytes, which the bitmap has.
    let isImported = unsafe bitmap.withUnsafeBytes { pixels in
      let start = unsafe pixels.baseAddress?.assumingMemoryBound(to: UInt8.self)
      return bitmap.alpha == .opaque
        ? unsafe WebPPictureImportRGBX(&self, start, Int32(bitmap.bytesPerRow))
        : unsafe WebPPictureImportRGBA(&self, start, Int32(bitmap.bytesPerRow))
    }
    guard isImported != 0 else { throw WebPEncoder.failure(VP8_ENC_ERROR_OUT_OF_MEMORY) }
  }

  /// Has encoding stop when that is requested of an object, which the caller keeps alive.
  fileprivate mutating func observe(_ cancellation: EncoderCancellation) {
    unsafe user_data = cancellation.pointer
    unsafe progress_hook = { _, picture in
      unsafe EncoderCancellation.at(picture?.pointee.user_data).isRequested ? 0 : 1
    }
  }
}
