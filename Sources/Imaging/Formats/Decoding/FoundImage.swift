/// An encoded image and the decoder that is asked about it, valid while the closure of `DecoderRegistry.find` runs.
enum FoundImage {
  case local(LocalImage)
  case remote(RemoteImage)
}

/// An encoded image whose header a decoder of this process has read.
@safe
struct LocalImage {
  // The bytes are valid while the closure of `DecoderRegistry.find` runs, and the value does not leave it.
  private let bytes: UnsafeRawBufferPointer
  let decoder: any ImageDecoder
  /// The facts in the header, which are within the limits.
  let header: ImageInfo

  init(_ bytes: UnsafeRawBufferPointer, _ decoder: any ImageDecoder, _ header: ImageInfo) {
    unsafe self.bytes = bytes
    (self.decoder, self.header) = (decoder, header)
  }

  var byteCount: Int { unsafe bytes.count }

  /// Returns the facts of a frame, which are within the limits.
  func info(ofFrame frame: Int, _ limits: DecodeLimits) throws(ImageError) -> ImageInfo {
    guard frame >= 0 else { throw .noSuchFrame(frame, of: header) }
    let info = try unsafe decoder.info(ofFrame: frame, of: bytes, header, limits: limits)
    try limits.check(info)
    return info
  }

  func metadata(_ info: ImageInfo, _ limits: DecodeLimits) throws(ImageError) -> ImageMetadata {
    try unsafe decoder.metadata(of: bytes, info, limits: limits)
  }

  /// Reads the duration of each frame, in seconds; none for images whose frames have no durations.
  func frameDelays(_ info: ImageInfo) throws(ImageError) -> [Double] {
    info.isTimed ? try unsafe decoder.frameDelays(of: bytes, info) : []
  }

  /// Estimates the memory of opening a frame.
  func memory(_ request: RowRequest) throws(ImageError) -> DecodeMemory {
    try unsafe decoder.memory(of: bytes, request)
  }

  /// Opens a frame; returns `nil` if the decoder declines.
  func open(_ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    try unsafe decoder.open(bytes, request)
  }

  /// Opens a file that is still loading.
  func openPrefix(_ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    guard let decoder = decoder as? any PrefixDecoding else { return try open(request) }
    return try unsafe decoder.openPrefix(bytes, request)
  }

  /// Opens the frames that build on one another; returns `nil` if each is decoded by itself.
  func frames(_ limits: DecodeLimits) throws(ImageError) -> (any FrameReader)? {
    guard let decoder = decoder as? any FrameDecoding else { return nil }
    return try unsafe decoder.frames(of: bytes, header, limits)
  }

  /// Decodes pixels that may be brighter than white; returns `nil` if none is, or the decoder cannot.
  func highRange(_ info: ImageInfo, frame: Int, _ plan: SamplingPlan) throws(ImageError) -> HighRangeBitmap? {
    guard let decoder = decoder as? any HighRangeDecoding else { return nil }
    return try unsafe decoder.highRange(of: bytes, info, frame: frame, plan)
  }
}

/// An encoded image and a decoder that works elsewhere.
@safe
struct RemoteImage {
  // As in `LocalImage`.
  private let input: DecodeInput
  private let decoder: any RemoteDecoder
  private let format: ImageFormat

  init(_ input: DecodeInput, _ decoder: any RemoteDecoder, _ format: ImageFormat) {
    unsafe self.input = unsafe input
    (self.decoder, self.format) = (decoder, format)
  }

  /// Answers a question about the image; blocks until done.
  func answer(_ question: DecodeQuestion) throws(ImageError) -> DecodeAnswer {
    try unsafe decoder.answer(question, about: input, of: format)
  }
}

extension ImageInfo {
  /// True if the frames have durations.
  var isTimed: Bool { frameCount > 1 || duration > 0 }
}
