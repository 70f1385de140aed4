public import VitrineRuntime

/// The decoders of a pipeline, in the order in which they are asked.
///
/// ```swift
/// var decoders = DecoderRegistry.standard
/// decoders.add(decoder)
/// ```
/// A registry is a value: a decoder that is added to a copy is in no other. Complexity of finding a decoder:
/// O(decoders).
public struct DecoderRegistry: Sendable {
  /// A decoder in this process, or one elsewhere.
  private enum Entry {
    case local(any ImageDecoder)
    case remote(any RemoteDecoder)

    var formats: [ImageFormat] {
      switch self {
      case .local(let decoder): decoder.formats
      case .remote(let decoder): decoder.formats
      }
    }
  }

  private var entries: [Entry]

  /// A Boolean value that indicates whether a decoder is not one of Vitrine's own, so that code of a user's may run in
  /// it.
  package private(set) var hasForeignDecoders: Bool

  /// A Boolean value that indicates whether a decoder works elsewhere, so that a call may wait for another process.
  package var hasRemoteDecoders: Bool {
    entries.contains { entry in
      if case .remote = entry { true } else { false }
    }
  }

  /// Returns whether drawings of a format can be drawn in parts, so that each is sharp at any size.
  package func drawsParts(of format: ImageFormat) -> Bool {
    let found = entries.filter { $0.formats.contains(format) }
    return !found.isEmpty
      && found.allSatisfy { entry in
        // Vitrine's own; another delivers the whole.
        if case .local(let decoder) = entry { decoder is any VitrineDecoder } else { true }
      }
  }

  /// Makes a registry of decoders that are all Vitrine's own, which need not be asked whether they are.
  init(own decoders: [any VitrineDecoder]) {
    entries = decoders.map { .local($0) }
    hasForeignDecoders = false
  }

  /// Makes a registry that asks `decoders` from the first to the last.
  public init(_ decoders: [any ImageDecoder]) {
    entries = decoders.map { .local(CheckedDecoder.checking($0)) }
    hasForeignDecoders = decoders.contains { !($0 is any VitrineDecoder) }
  }

  /// Adds a decoder that is asked before those already there.
  public mutating func add(_ decoder: some ImageDecoder) {
    entries.insert(.local(CheckedDecoder.checking(decoder)), at: 0)
    if !(decoder is any VitrineDecoder) { hasForeignDecoders = true }
  }

  /// Returns the decoder that is asked first, if it works in this process.
  func local(for format: ImageFormat) -> (any ImageDecoder)? {
    guard case .local(let decoder)? = entries.first(where: { $0.formats.contains(format) }) else { return nil }
    return decoder
  }

  /// Returns the decoder that is asked first, if it works elsewhere.
  func remote(for format: ImageFormat) -> (any RemoteDecoder)? {
    guard case .remote(let decoder)? = entries.first(where: { $0.formats.contains(format) }) else { return nil }
    return decoder
  }

  /// Adds a decoder that is asked before those already there.
  package mutating func add(_ decoder: some RemoteDecoder) { entries.insert(.remote(decoder), at: 0) }

  /// The formats that can be decoded, in the order of their decoders.
  public var formats: [ImageFormat] {
    var seen: Set<ImageFormat> = []
    return entries.flatMap(\.formats).filter { seen.insert($0).inserted }
  }

  /// Reads the facts in an image's header without decoding a pixel.
  ///
  /// Blocks until done.
  ///
  /// - Throws: ``ImageError``: `.unrecognised`, `.unsupported`, `.truncated`, `.corrupt`, `.overLimit`.
  public func info(of data: Data, limits: DecodeLimits = DecodeLimits()) throws(ImageError) -> ImageInfo {
    try info(of: .data(data), limits: limits)
  }

  /// As ``info(of:limits:)``.
  package func info(of bytes: ImageBytes, limits: DecodeLimits) throws(ImageError) -> ImageInfo {
    try find(bytes, limits) { (image) throws(ImageError) in
      switch image {
      case .local(let image): image.header
      case .remote(let image): try image.answer(DecodeQuestion(.info, limits)).info
      }
    }
  }

  /// Returns the format of an encoded image by its first bytes, including formats that only a decoder recognises.
  ///
  /// - Returns: The format by ``ImageFormat/sniff(_:)``, otherwise by the first decoder that recognises the bytes;
  ///   `nil` if none does.
  public func format(of data: Data) -> ImageFormat? {
    // The bytes are only read while the closure runs.
    unsafe data.withUnsafeBytes {
      unsafe ImageFormat.sniff(ByteReader($0)) ?? recognizedFormats(of: $0).first
    }
  }

  /// The formats that decoders recognise in bytes that ``ImageFormat/sniff(_:)`` does not know, in the order of the
  /// decoders.
  private func recognizedFormats(of bytes: UnsafeRawBufferPointer) -> [ImageFormat] {
    var formats: [ImageFormat] = []
    for case .local(let decoder) in entries {
      guard let format = unsafe decoder.recognizes(bytes), decoder.formats.contains(format), !formats.contains(format)
      else { continue }
      formats.append(format)
    }
    return formats
  }

  /// Returns whether a large file may be lent to a process that decodes it, by its beginning.
  ///
  /// A file that can name the subjects of its picture is read here, where they are looked for.
  package func lends(_ file: LargeFile) -> Bool { lender(of: file) != nil }

  private func lender(of file: LargeFile) -> (decoder: any RemoteDecoder, format: ImageFormat)? {
    guard let format = file.beginning.reading(ImageFormat.sniff), !SubjectRegion.areNamed(by: format),
      let decoder = remote(for: format)
    else { return nil }
    return (decoder, format)
  }

  /// As ``find(_:_:_:)``; a large file is lent to a process that decodes it, and read here for decoders of this process.
  func find<Output>(
    _ bytes: ImageBytes,
    _ limits: DecodeLimits,
    _ body: (FoundImage) throws(ImageError) -> Output?,
  ) throws(ImageError) -> Output {
    if case .file(let file) = bytes, let (decoder, format) = lender(of: file),
      let output = try unsafe body(.remote(RemoteImage(.file(file), decoder, format)))
    {
      return output
    }
    return try find(bytes.whole(), limits, body)
  }

  /// Asks the decoders of an image in turn, until `body` does not decline with `nil`.
  ///
  /// A header is read here, and is within the limits.
  func find<Output>(
    _ data: Data,
    _ limits: DecodeLimits,
    _ body: (FoundImage) throws(ImageError) -> Output?,
  ) throws(ImageError) -> Output {
    // The bytes are only read while the closure runs: row sources do not outlive it.
    try unsafe data.withImageBytes { (bytes) throws(ImageError) in try unsafe find(bytes, limits, body) }
  }

  /// As ``find(_:_:_:)``, for bytes that stay until the call returns.
  func find<Output>(
    _ bytes: UnsafeRawBufferPointer,
    _ limits: DecodeLimits,
    _ body: (FoundImage) throws(ImageError) -> Output?,
  ) throws(ImageError) -> Output {
    let reader = unsafe ByteReader(bytes)
    guard reader.count > 0 else { throw ImageError(.unrecognised, "not an image: it is empty") }
    let formats = unsafe ImageFormat.sniff(reader).map { [$0] } ?? recognizedFormats(of: bytes)
    for format in formats {
      for entry in entries where entry.formats.contains(format) {
        let image: FoundImage
        switch entry {
        case .local(let decoder):
          guard let header = try unsafe decoder.info(of: bytes, format: format, limits: limits) else { continue }
          try limits.check(header)
          image = unsafe .local(LocalImage(bytes, decoder, header))
        case .remote(let decoder): image = unsafe .remote(RemoteImage(.bytes(bytes), decoder, format))
        }
        if let output = try body(image) { return output }
      }
    }
    guard let format = formats.first else {
      let look =
        ImageFormat.describeOther(reader).map { ": it looks like \($0)" } ?? ": its bytes are of no known format"
      throw ImageError(.unrecognised, "not an image\(look)")
    }
    throw ImageError(.unsupported, format: format, "\(format) images cannot be decoded by this build")
  }
}

extension ContiguousBytes {
  /// As `withUnsafeBytes`, whose `rethrows` loses the type of the error.
  func withImageBytes<R>(
    _ body: (UnsafeRawBufferPointer) throws(ImageError) -> R
  ) throws(ImageError) -> R {
    // The caller keeps to the lifetime; this only carries the error across.
    let result: Result<R, ImageError> = unsafe withUnsafeBytes { bytes in
      do throws(ImageError) {
        return .success(try unsafe body(bytes))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
