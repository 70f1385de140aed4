import CLibJXL
import VitrineImaging
import VitrineRuntime

/// libjxl's state for one file.
@safe
final class JXLReader {
  /// The number of bytes passed to libjxl at once; between two steps decoding can be cancelled.
  private static let step = 64 << 10
  /// The maximum number of extra channels.
  ///
  /// Each channel beyond colour and alpha takes four bytes a pixel; cameras and painting programs use one or two.
  private static let extraChannelLimit = 8

  // Owned: made in init, destroyed in deinit, used by one thread at a time. `bytes` is the caller's.
  private let decoder: OpaquePointer
  private let bytes: Elements<UInt8>
  /// The start of the bytes that libjxl still needs.
  private var start = 0
  private var end = 0
  /// The colours of high dynamic range, once ``profile(_:byteLimit:)`` was read.
  private(set) var highRange: HighRangeColors?
  /// The threads that libjxl uses; `nil` for the caller's alone.
  private var threads: JXLThreads?

  /// `bytes` must stay in place for the life of the reader.
  init(_ bytes: UnsafeRawBufferPointer, events: [JxlDecoderStatus]) throws(ImageError) {
    try JXLDecoder.library.check()
    guard let decoder = unsafe JxlDecoderCreate(nil) else {
      throw ImageError(.overLimit, format: .jxl, "not enough memory for the JPEG XL decoder")
    }
    unsafe (self.decoder, self.bytes) = (decoder, Elements(bytes))
    let wanted = events.reduce(Int32(0)) { $0 | Int32($1.rawValue) }
    guard
      unsafe JxlDecoderSubscribeEvents(decoder, wanted) == JXL_DEC_SUCCESS,
      unsafe JxlDecoderSetKeepOrientation(decoder, 1) == JXL_DEC_SUCCESS,
      unsafe JxlDecoderSetUnpremultiplyAlpha(decoder, 1) == JXL_DEC_SUCCESS
    else { throw ImageError(.unsupported, format: .jxl, "unsupported: libjxl has another version than its headers") }
  }

  deinit { unsafe JxlDecoderDestroy(decoder) }

  /// Makes a reader of the pictures of a file whose header is known.
  convenience init(
    picturesOf bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    threadCount: Int = 1,
  ) throws(ImageError) {
    try unsafe self.init(bytes, events: [JXL_DEC_BASIC_INFO, JXL_DEC_COLOR_ENCODING, JXL_DEC_FULL_IMAGE])
    if threadCount > 1 { use(JXLThreads(count: threadCount)) }
    let header = try header()
    guard Int(header.xsize) == info.storedWidth, Int(header.ysize) == info.storedHeight else {
      throw ImageError(.corrupt, format: .jxl, "corrupt: two headers disagree")
    }
    _ = try profile(header, byteLimit: 0)
  }

  private func use(_ threads: JXLThreads) {
    // The decoder keeps the pointer no longer than this object lives, which holds the threads.
    let pointer = unsafe Unmanaged.passUnretained(threads).toOpaque()
    guard unsafe JxlDecoderSetParallelRunner(decoder, JXLThreads.runner, pointer) == JXL_DEC_SUCCESS else { return }
    self.threads = threads
  }

  func header() throws(ImageError) -> JxlBasicInfo {
    var header = JxlBasicInfo()
    guard
      try next("inside its header") == JXL_DEC_BASIC_INFO,
      unsafe JxlDecoderGetBasicInfo(decoder, &header) == JXL_DEC_SUCCESS
    else { throw ImageError(.corrupt, format: .jxl, "corrupt: the file does not begin with its header") }
    guard header.num_extra_channels <= Self.extraChannelLimit else {
      throw ImageError(
        .overLimit,
        format: .jxl,
        "jxl of \(header.num_extra_channels) extra channels, over the limit of \(Self.extraChannelLimit)",
      )
    }
    return header
  }

  /// Returns the bytes that libjxl holds besides the decoded picture.
  func codecBytes(_ header: JxlBasicInfo) -> Int {
    // Photographs are decoded group by group. Lossless pictures are held as 32-bit numbers, and so are extra channels.
    let colors = header.uses_original_profile == 0 ? 4 : 4 * Int(header.num_color_channels)
    // Frames that others are blended with.
    let frames = header.have_animation == 0 ? 1 : 2
    let bytes = (colors + 4 * Int(header.num_extra_channels)) * frames
    return Int(header.xsize).multipliedSaturating(by: Int(header.ysize)).multipliedSaturating(by: bytes)
  }

  /// Returns the profile of the decoded pixels.
  ///
  /// It must be read directly after the header.
  func profile(_ header: JxlBasicInfo, byteLimit: Int) throws(ImageError) -> ColorProfile? {
    guard try next("inside its header") == JXL_DEC_COLOR_ENCODING else {
      throw ImageError(.corrupt, format: .jxl, "corrupt: the file does not declare its colours")
    }
    let curve = unsafe vitrine_jxl_curve(decoder)
    let isHighRange = [JXL_TRANSFER_FUNCTION_PQ, JXL_TRANSFER_FUNCTION_HLG].contains { Int($0.rawValue) == Int(curve) }
    if isHighRange {
      highRange = try colors(header, curve: JxlTransferFunction(UInt32(curve)))
      return nil
    }
    // For colours that only a profile describes, libjxl would deliver linear light, which is too coarse for 8 bits.
    if header.uses_original_profile == 0, curve < 0 { prefer(JXL_TRANSFER_FUNCTION_SRGB, JXL_PRIMARIES_SRGB, header) }
    var size = 0
    guard unsafe vitrine_jxl_profile_size(decoder, &size) == JXL_DEC_SUCCESS, size > 0, size <= byteLimit else {
      return nil
    }
    var profile = [UInt8](repeating: 0, count: size)
    guard unsafe vitrine_jxl_profile(decoder, &profile, size) == JXL_DEC_SUCCESS else { return nil }
    return ColorProfile(data: Data(profile))
  }

  /// Returns the colours of high dynamic range, and has libjxl deliver them: the file's own where it is stored with them,
  /// and else the primaries of BT.2020, which hold all colours.
  private func colors(_ header: JxlBasicInfo, curve: JxlTransferFunction) throws(ImageError) -> HighRangeColors? {
    // What encoders write for PQ if they know nothing is no information.
    let peak = header.intensity_target < 10_000 ? Double(header.intensity_target) : nil
    let transfer = curve == JXL_TRANSFER_FUNCTION_PQ ? 16 : 18
    if header.uses_original_profile == 0 { prefer(curve, JXL_PRIMARIES_2100, header) }
    let primaries = header.uses_original_profile == 0 ? 9 : unsafe Int(vitrine_jxl_primaries(decoder))
    return HighRangeColors(primaries: primaries, transfer: transfer, peak: peak)
  }

  private func prefer(_ transfer: JxlTransferFunction, _ primaries: JxlPrimaries, _ header: JxlBasicInfo) {
    var encoding = JxlColorEncoding()
    encoding.color_space = header.num_color_channels == 1 ? JXL_COLOR_SPACE_GRAY : JXL_COLOR_SPACE_RGB
    encoding.white_point = JXL_WHITE_POINT_D65
    encoding.primaries = primaries
    encoding.transfer_function = transfer
    encoding.rendering_intent = JXL_RENDERING_INTENT_RELATIVE
    unsafe JxlDecoderSetPreferredColorProfile(decoder, &encoding)
  }

  /// Returns the duration of each whole frame, in seconds, of up to one frame more than `limit`.
  func delays(_ header: JxlBasicInfo, limit: Int) throws(ImageError) -> [Double] {
    let ticks = Double(max(1, header.animation.tps_numerator)) / Double(max(1, header.animation.tps_denominator))
    var delays: [Double] = []
    while delays.count <= limit {
      do throws(ImageError) {
        guard try next("in frame \(delays.count)") == JXL_DEC_FRAME else { break }
      } catch {
        guard error.code == .truncated, !delays.isEmpty else { throw error }
        break
      }
      var frame = JxlFrameHeader()
      guard unsafe JxlDecoderGetFrameHeader(decoder, &frame) == JXL_DEC_SUCCESS else { break }
      delays.append(FrameDelay.shown(Double(frame.duration) / ticks))
    }
    return delays
  }

  /// Decodes the frame that follows `skipped` others: four bytes a pixel, or eight in high dynamic range.
  func decodeFrame(
    after skipped: Int,
    into pixels: MutableElements<UInt8>,
    _ control: DecodeControl,
  ) throws(ImageError) {
    if skipped > 0 { unsafe JxlDecoderSkipFrames(decoder, skipped) }
    let type = highRange == nil ? JXL_TYPE_UINT8 : JXL_TYPE_UINT16
    var format = JxlPixelFormat(num_channels: 4, data_type: type, endianness: JXL_NATIVE_ENDIAN, align: 0)
    while true {
      switch try next("in the picture", control) {
      case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
        // libjxl checks that the memory is as large as the picture; it outlives the decoder's use of it.
        let status = unsafe pixels.withUnsafeBytes { pixels in
          unsafe JxlDecoderSetImageOutBuffer(decoder, &format, pixels.baseAddress, pixels.count)
        }
        guard status == JXL_DEC_SUCCESS else {
          throw ImageError(.corrupt, format: .jxl, "corrupt: the picture and the header have different sizes")
        }
      case JXL_DEC_FULL_IMAGE: return
      case JXL_DEC_SUCCESS:
        throw ImageError(.corrupt, format: .jxl, "corrupt: the file ends before the requested frame")
      default: continue
      }
    }
  }

  /// Writes the decoded part of an incomplete picture.
  ///
  /// Returns `false` if there is none.
  func flush() -> Bool { unsafe JxlDecoderFlushImage(decoder) == JXL_DEC_SUCCESS }

  /// Returns the next event.
  private func next(_ place: String, _ control: DecodeControl? = nil) throws(ImageError) -> JxlDecoderStatus {
    while true {
      try control?.check()
      let status = unsafe JxlDecoderProcessInput(decoder)
      guard status != JXL_DEC_ERROR else {
        throw ImageError(.corrupt, format: .jxl, "corrupt \(place): libjxl gives no details")
      }
      guard status == JXL_DEC_NEED_MORE_INPUT else { return status }
      let left = unsafe JxlDecoderReleaseInput(decoder)
      guard 0...end - start ~= left else {
        throw ImageError(.decoderFailed, format: .jxl, "libjxl leaves \(left) of \(end - start) bytes \(place)")
      }
      start = end - left
      guard end < bytes.count else {
        throw ImageError(.truncated, format: .jxl, "truncated: the file ends \(place)")
      }
      // Each step has work for all threads.
      end = min(bytes.count, end + Self.step * (threads?.count ?? 1))
      // libjxl reads the part until it is released.
      let taken = unsafe bytes.extracting(start..<end).withUnsafeBufferPointer { part in
        unsafe JxlDecoderSetInput(decoder, part.baseAddress, part.count)
      }
      guard taken == JXL_DEC_SUCCESS else {
        throw ImageError(.corrupt, format: .jxl, "corrupt \(place): libjxl accepts no more data")
      }
    }
  }
}
