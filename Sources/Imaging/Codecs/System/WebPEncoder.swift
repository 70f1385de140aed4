import CLibWebP
package import VitrineRuntime

/// Encodes WebP with libwebp: lossy by default, with alpha if any pixel is transparent, still or animated.
package struct WebPEncoder: ImageEncoder {
  /// Makes the encoder.
  package init() {}

  /// WebP.
  package var format: ImageFormat { .webp }

  /// Everything there is.
  package var features: EncoderFeatures { [.displayP3, .animation, .exif, .xmp, .alpha] }

  /// Encodes a picture, whose sides may have up to 16,383 pixels.
  ///
  /// Blocks until done. Every frame of an animation is encoded by itself or as its difference from the one before,
  /// whichever is smaller; libwebp holds two frames and the encoded ones.
  package func encode(_ input: EncoderInput, _ options: WebPOptions) throws(ImageError) -> Data {
    try Self.check(input.bitmap, .webp, longestSide: Int(WEBP_MAX_DIMENSION))
    guard let animation = input.animation else { return try Self.adding(input, to: Self.still(input, options)) }
    let writer = try WebPAnimationWriter(input, options, loopCount: animation.info.loopCount)
    return try Self.adding(input, to: writer.encode(animation, input))
  }

  private static func still(_ input: EncoderInput, _ options: WebPOptions) throws(ImageError) -> Data {
    let picture = try WebPSource(of: input.bitmap, usesARGB: options.isLossless, EncoderCancellation(input))
    return try picture.encoded(WebPConfig(options))
  }

  /// Returns the file with the profile and the metadata.
  private static func adding(_ input: EncoderInput, to file: Data) throws(ImageError) -> Data {
    let chunks = [("ICCP", input.colorProfile?.data), ("EXIF", input.exif), ("XMP ", input.xmp)]
    guard chunks.contains(where: { $0.1 != nil }) else { return file }
    // The mux copies what it is given.
    let mux = unsafe file.reading { unsafe $0.withWebPData { unsafe WebPMuxCreate($0, 1) } }
    defer { unsafe WebPMuxDelete(mux) }
    var status = WEBP_MUX_OK
    for case (let name, let content?) in chunks where status == WEBP_MUX_OK {
      status = content.reading { unsafe $0.withWebPData { unsafe WebPMuxSetChunk(mux, name, $0, 1) } }
    }
    let isComplete = status == WEBP_MUX_OK
    guard let whole = unsafe assembled({ unsafe isComplete && WebPMuxAssemble(mux, $0) == WEBP_MUX_OK }) else {
      throw ImageError(.notEncodable, format: .webp, "cannot be encoded as webp: its metadata cannot be added")
    }
    return whole
  }

  /// Returns a copy of what libwebp assembles; `nil` if it fails.
  fileprivate static func assembled(_ assemble: (UnsafeMutablePointer<WebPData>) -> Bool) -> Data? {
    var whole = unsafe WebPData()
    defer { unsafe WebPDataClear(&whole) }
    guard unsafe assemble(&whole), let start = unsafe whole.bytes else { return nil }
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
    var frames = try input.frames(of: animation)
    var seconds = 0.0
    while let frame = try frames.next() {
      try input.checkCancellation()
      try add(frame.bitmap, at: seconds, input)
      seconds += frame.delay
    }
    guard unsafe WebPAnimEncoderAdd(encoder, nil, Self.milliseconds(seconds), nil) != 0 else { throw failure }
    guard let file = unsafe WebPEncoder.assembled({ unsafe WebPAnimEncoderAssemble(encoder, $0) != 0 }) else {
      try input.checkCancellation()
      throw failure
    }
    return file
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
    let bitmap = EncoderInput(frame.converted(to: input.bitmap.colorSpace)).bitmap
    let picture = try WebPSource(of: bitmap, usesARGB: true, cancellation)
    guard unsafe picture.add(to: encoder, at: Self.milliseconds(seconds), &config) else {
      throw picture.error.map(WebPEncoder.failure) ?? failure
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

/// A bitmap as libwebp takes it.
@safe
private final class WebPSource {
  // Owned: made in init, freed in deinit, used by one thread at a time.
  private var picture = unsafe WebPPicture()
  /// As long-lived as the picture, which asks it whether to stop.
  private let cancellation: EncoderCancellation

  init(of bitmap: Bitmap, usesARGB: Bool, _ cancellation: EncoderCancellation) throws(ImageError) {
    self.cancellation = cancellation
    guard unsafe WebPPictureInit(&picture) != 0 else {
      throw WebPEncoder.failure(VP8_ENC_ERROR_INVALID_CONFIGURATION)
    }
    unsafe (picture.width, picture.height) = (Int32(bitmap.width), Int32(bitmap.height))
    unsafe picture.use_argb = usesARGB ? 1 : 0
    unsafe picture.user_data = cancellation.pointer
    unsafe picture.progress_hook = { unsafe EncoderCancellation.at($1?.pointee.user_data).isRequested ? 0 : 1 }
    let importing = unsafe bitmap.alpha == .opaque ? WebPPictureImportRGBX : WebPPictureImportRGBA
    // libwebp reads `height` rows of `bytesPerRow` bytes, which the bitmap has.
    let isImported = bitmap.withElements { pixels in
      unsafe pixels.withUnsafeBufferPointer { unsafe importing(&picture, $0.baseAddress, Int32(bitmap.bytesPerRow)) }
    }
    guard isImported != 0 else { throw WebPEncoder.failure(VP8_ENC_ERROR_OUT_OF_MEMORY) }
  }

  deinit { unsafe WebPPictureFree(&picture) }

  /// The reason why it was not encoded; `nil` if there is none.
  var error: WebPEncodingError? { unsafe picture.error_code == VP8_ENC_OK ? nil : picture.error_code }

  /// Encodes the picture by itself.
  func encoded(_ config: WebPConfig) throws(ImageError) -> Data {
    var (config, writer) = unsafe (config, WebPMemoryWriter())
    unsafe WebPMemoryWriterInit(&writer)
    // The writer outlives the call.
    let isDone = unsafe withUnsafeMutablePointer(to: &writer) { writer in
      unsafe picture.writer = { unsafe WebPMemoryWrite($0, $1, $2) }
      unsafe picture.custom_ptr = UnsafeMutableRawPointer(writer)
      return unsafe WebPEncode(&config, &picture) != 0
    }
    guard isDone, let bytes = unsafe writer.mem else {
      unsafe WebPMemoryWriterClear(&writer)
      throw WebPEncoder.failure(unsafe picture.error_code)
    }
    // libwebp allocated it, and the deallocator is its own.
    return unsafe Data(bytesNoCopy: bytes, count: writer.size, deallocator: .custom { p, _ in unsafe WebPFree(p) })
  }

  /// Adds the picture to an animation; returns `false` if that fails.
  func add(to encoder: OpaquePointer, at milliseconds: Int32, _ config: inout WebPConfig) -> Bool {
    unsafe WebPAnimEncoderAdd(encoder, &picture, milliseconds, &config) != 0
  }
}

extension ByteReader {
  /// Calls `body` with the bytes, as libwebp takes them.
  fileprivate func withWebPData<R>(_ body: (UnsafePointer<WebPData>) -> R) -> R {
    unsafe bytes.withUnsafeBufferPointer { bytes in
      var data = unsafe WebPData(bytes: bytes.baseAddress, size: bytes.count)
      return unsafe body(&data)
    }
  }
}
