import Testing
import VitrineImaging
import VitrineRuntime

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
