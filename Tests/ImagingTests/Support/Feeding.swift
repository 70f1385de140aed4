import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTesting

/// A file given to a decoder piece by piece, as it would arrive.
struct Feeding {
  var decoder: IncrementalDecoder
  /// All previews there were.
  var previews: [ImagePreview] = []
  /// How many bytes had come when the header was known.
  var headerByteCount: Int?

  init(
    _ options: DecodeOptions = DecodeOptions(),
    policy: PreviewPolicy = PreviewPolicy(),
    decoders: DecoderRegistry = .standard,
  ) {
    decoder = IncrementalDecoder(options: options, previews: policy, decoders: decoders)
  }

  /// Appends `file` in pieces and takes every preview.
  mutating func feed(_ file: Data, pieces: Int) throws(ImageError) {
    var offset = file.startIndex
    while offset < file.endIndex {
      let end = offset + min(pieces, file.endIndex - offset)
      let status = try decoder.append(file[offset..<end])
      offset = end
      if headerByteCount == nil, decoder.info != nil { headerByteCount = end }
      guard status == .previewReady else { continue }
      if let preview = try decoder.preview() { previews.append(preview) }
    }
  }

  static func of(
    _ file: Data,
    pieces: Int,
    _ options: DecodeOptions = DecodeOptions(),
    policy: PreviewPolicy = PreviewPolicy(),
    decoders: DecoderRegistry = .standard,
  ) throws(ImageError) -> Feeding {
    var feeding = Feeding(options, policy: policy, decoders: decoders)
    try feeding.feed(file, pieces: pieces)
    return feeding
  }
}

extension PreviewPolicy {
  /// Previews from the first bytes on, rows too.
  static var eager: PreviewPolicy {
    var policy = PreviewPolicy()
    policy.interval = 1
    policy.showsRows = true
    return policy
  }
}

/// Another decoder, and how often it is called.
struct CountingDecoder: ImageDecoder {
  struct Calls { var info = 0, open = 0 }

  let base: any ImageDecoder
  let calls = Lock(Calls())

  var formats: [ImageFormat] { base.formats }

  func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    calls.withLock { $0.info += 1 }
    return try unsafe base.info(of: bytes, format: format, limits: limits)
  }

  func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    calls.withLock { $0.open += 1 }
    return try unsafe base.open(bytes, request)
  }
}
