import CLibJXL
import VitrineImaging
import VitrineRuntime

/// libjxl's state for one file that is written.
@safe
final class JXLWriter {
  /// The ticks of a second: milliseconds, hundredths, and the frames of films and videos are whole numbers of them.
  ///
  /// Less than 65,536, which programs such as djxl expect that convert to animated PNG, whose delays have 16 bits.
  private static let timescale: UInt32 = 60_000
  /// The number of bytes taken from libjxl at once.
  private static let step = 64 << 10

  // Owned: made in init, destroyed in deinit, used by one thread at a time. The settings belong to the encoder.
  private let encoder: OpaquePointer
  private let settings: OpaquePointer
  private let width: Int
  private let height: Int
  private let colorSpace: ColorSpace
  private let hasAlpha: Bool
  private var output = Data()
  /// The end of the last frame, in seconds.
  private var end = 0.0
  /// The end of the last frame, in ticks.
  private var ticks = 0.0

  init(_ input: EncoderInput, _ options: JXLOptions) throws(ImageError) {
    try JXLDecoder.library.check(.notEncodable)
    let bitmap = input.bitmap
    (width, height, colorSpace) = (bitmap.width, bitmap.height, bitmap.colorSpace)
    // Later frames may be transparent where the first one is not.
    hasAlpha = bitmap.alpha != .opaque || input.animation?.info.hasAlpha == true
    guard let encoder = unsafe JxlEncoderCreate(nil) else { throw Self.error("not enough memory") }
    guard let settings = unsafe JxlEncoderFrameSettingsCreate(encoder, nil) else {
      unsafe JxlEncoderDestroy(encoder)
      throw Self.error("not enough memory")
    }
    unsafe (self.encoder, self.settings) = (encoder, settings)
    // Everything is initialised here, so throwing runs deinit. Without a runner of threads, libjxl uses this one.
    try setHeader(options, input.animation)
    try set(options)
    try addMetadata(input)
  }

  deinit { unsafe JxlEncoderDestroy(encoder) }

  // MARK: The header

  private func setHeader(_ options: JXLOptions, _ animation: AnimatedImage?) throws(ImageError) {
    var header = JxlBasicInfo()
    unsafe JxlEncoderInitBasicInfo(&header)
    (header.xsize, header.ysize) = (UInt32(width), UInt32(height))
    (header.bits_per_sample, header.exponent_bits_per_sample) = (8, 0)
    (header.num_color_channels, header.orientation) = (3, JXL_ORIENT_IDENTITY)
    (header.num_extra_channels, header.alpha_bits) = hasAlpha ? (1, 8) : (0, 0)
    header.uses_original_profile = options.isLossless ? 1 : 0
    if let animation {
      header.have_animation = 1
      (header.animation.tps_numerator, header.animation.tps_denominator) = (Self.timescale, 1)
      header.animation.num_loops = UInt32(clamping: animation.info.loopCount)
    }
    try check(unsafe JxlEncoderSetBasicInfo(encoder, &header))
    // By name in place of a profile: it takes no bytes.
    var colors = JxlColorEncoding()
    unsafe JxlColorEncodingSetToSRGB(&colors, 0)
    if colorSpace == .displayP3 { colors.primaries = JXL_PRIMARIES_P3 }
    try check(unsafe JxlEncoderSetColorEncoding(encoder, &colors))
  }

  private func set(_ options: JXLOptions) throws(ImageError) {
    try set(JXL_ENC_FRAME_SETTING_EFFORT, Int64(options.effort))
    if options.isLossless {
      try check(unsafe JxlEncoderSetFrameLossless(settings, 1))
    } else {
      try check(unsafe JxlEncoderSetFrameDistance(settings, options.distance))
      if hasAlpha { try check(unsafe vitrine_jxl_keep_alpha(settings)) }
    }
    // As cjxl does.
    if options.isProgressive {
      try set(options.isLossless ? JXL_ENC_FRAME_SETTING_RESPONSIVE : JXL_ENC_FRAME_SETTING_QPROGRESSIVE_AC, 1)
    }
  }

  private func set(_ setting: JxlEncoderFrameSettingId, _ value: Int64) throws(ImageError) {
    try check(unsafe JxlEncoderFrameSettingsSetOption(settings, setting, value))
  }

  private func addMetadata(_ input: EncoderInput) throws(ImageError) {
    let boxes: [(type: String, content: Data)] = [
      // Where the TIFF block begins: at once.
      input.exif.map { ("Exif", Data([0, 0, 0, 0]) + $0) },
      input.xmp.map { ("xml ", $0) },
    ].compactMap { $0 }
    guard !boxes.isEmpty else { return }
    try check(unsafe JxlEncoderUseBoxes(encoder))
    for box in boxes {
      // libjxl reads four characters, and copies the content.
      try check(
        unsafe box.type.withCString { type in
          unsafe box.content.withUnsafeBytes { unsafe JxlEncoderAddBox(encoder, type, Self.start($0), $0.count, 0) }
        }
      )
    }
    unsafe JxlEncoderCloseBoxes(encoder)
  }

  // MARK: Pictures

  /// Adds a frame that is shown for `delay` seconds, or the only picture.
  func add(_ frame: Bitmap, delay: Double?) throws(ImageError) {
    guard frame.width == width, frame.height == height else { throw Self.error("its frames have different sizes") }
    if let delay {
      // Ends are rounded, and not durations, so that they do not drift.
      end += min(max(delay, 0), 40_000)
      let last = max(ticks + 1, (end * Double(Self.timescale)).rounded())
      var header = JxlFrameHeader()
      unsafe JxlEncoderInitFrameHeader(&header)
      header.duration = UInt32(last - ticks)
      ticks = last
      try check(unsafe JxlEncoderSetFrameHeader(settings, &header))
    }
    let bitmap = frame.straightened().converted(to: colorSpace)
    let status: JxlEncoderStatus
    if hasAlpha {
      status = unsafe bitmap.withUnsafeBytes { pixels in unsafe add(pixels, channels: 4) }
    } else {
      // libjxl takes the channels that the header names.
      let colors = unsafe bitmap.withUnsafeBytes { unsafe Self.colors($0) }
      status = unsafe colors.withUnsafeBytes { pixels in unsafe add(pixels, channels: 3) }
    }
    try check(status)
  }

  /// Adds all pixels, of which libjxl makes a copy.
  private func add(_ pixels: UnsafeRawBufferPointer, channels: UInt32) -> JxlEncoderStatus {
    var format = JxlPixelFormat(
      num_channels: channels,
      data_type: JXL_TYPE_UINT8,
      endianness: JXL_NATIVE_ENDIAN,
      align: 0,
    )
    return unsafe JxlEncoderAddImageFrame(settings, &format, pixels.baseAddress, pixels.count)
  }

  /// Returns three of every four bytes.
  private static func colors(_ pixels: UnsafeRawBufferPointer) -> [UInt8] {
    let pixelCount = pixels.count / 4
    return unsafe [UInt8](unsafeUninitializedCapacity: pixelCount * 3) { target, count in
      // As long as the array, and three quarters of the pixels.
      for index in 0..<pixelCount {
        unsafe target[index * 3] = pixels[index * 4]
        unsafe target[index * 3 + 1] = pixels[index * 4 + 1]
        unsafe target[index * 3 + 2] = pixels[index * 4 + 2]
      }
      count = pixelCount * 3
    }
  }

  // MARK: Bytes

  /// Encodes what was added.
  func write(_ input: EncoderInput) throws(ImageError) {
    while true {
      try input.checkCancellation()
      var status = JXL_ENC_ERROR
      let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.step) { buffer, count in
        // libjxl writes into the buffer, and moves its start.
        var (next, room) = (buffer.baseAddress, buffer.count)
        status = unsafe JxlEncoderProcessOutput(encoder, &next, &room)
        count = buffer.count - min(max(0, room), buffer.count)
      }
      output.append(contentsOf: bytes)
      if status == JXL_ENC_NEED_MORE_OUTPUT { continue }
      return try check(status)
    }
  }

  /// Ends the file and returns it.
  func finish(_ input: EncoderInput) throws(ImageError) -> Data {
    unsafe JxlEncoderCloseInput(encoder)
    try write(input)
    return output
  }

  private func check(_ status: JxlEncoderStatus) throws(ImageError) {
    guard status != JXL_ENC_SUCCESS else { return }
    // A constant text.
    throw Self.error(unsafe String(cString: vitrine_jxl_reason(encoder)))
  }

  private static func error(_ reason: String) -> ImageError {
    ImageError(.notEncodable, format: .jxl, "cannot be encoded as jxl: \(reason)")
  }

  private static func start(_ bytes: UnsafeRawBufferPointer) -> UnsafePointer<UInt8>? {
    unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
  }
}
