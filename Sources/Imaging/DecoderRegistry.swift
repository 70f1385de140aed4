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
  /// The decoders of this module; on Apple's platforms also for what ImageIO reads, such as HEIC.
  public static let standard = DecoderRegistry(own: ImageFormat.builtIn.map(\.decoder) + PlatformCodecs.decoders)

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

  /// A Boolean value that indicates whether JPEG is decoded by Vitrine's own decoder in this process, so that a
  /// ``JPEGIndex`` gives the same pixels.
  package var decodesJPEGItself: Bool {
    guard case .local(let decoder)? = entries.first(where: { $0.formats.contains(.jpeg) }) else { return false }
    return decoder is JPEGDecoder
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
  private init(own decoders: [any VitrineDecoder]) {
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
    // The bytes are only read while the closure runs.
    try unsafe data.withImageBytes { (bytes) throws(ImageError) in
      try unsafe find(
        bytes,
        limits,
        remote: { (decoder, format) throws(ImageError) in
          try unsafe decoder.answer(DecodeQuestion(.info, limits), about: .bytes(bytes), of: format).info
        },
      ) { (decoder, info) throws(ImageError) in info }
    }
  }

  /// Decodes an image upright, at the requested size, using no more pixels than that size needs.
  ///
  /// Blocks until done, so do not call it on the main thread. Peak memory is the result and a few rows, for formats
  /// and sizes whose rows can stream.
  ///
  /// - Throws: ``ImageError`` of any code but `.notEncodable`.
  public func decode(_ data: Data, _ options: DecodeOptions = DecodeOptions()) throws(ImageError) -> ImageContainer {
    if options.animates, let image = try animation(of: data, options) { return image }
    var image = try unsafe open(data, DecodeQuestion(.image, options)) {
      $0.image ?? nil
    } shortcut: {
      (bytes, decoder, info, plan, control) throws(ImageError) in
      guard options.allowsShortcut else { return nil }
      return try unsafe renderThumbnail(of: bytes, decoder, info, plan, options, control)
    } render: { (source, info, plan, control) throws(ImageError) in
      let result = try options.renderer(for: info, plan, control).render(
        source,
        acceptsPartial: options.acceptsPartial,
      )
      // A part of the image may be all missing, but an image without a row is none.
      if let damage = result.damage, result.shown == 0, options.region == nil { throw damage }
      return ImageContainer(result.bitmap, info: info, damage: result.damage)
    }
    if options.dynamicRange == .high { image.highRange = try highRange(of: data, options) }
    return image
  }

  /// Opens an image and passes its rows to `render`, unless `shortcut` returns a result without them.
  ///
  /// A remote decoder answers `question` instead, and `take` takes the result from its answer.
  func open<R>(
    _ data: Data,
    _ question: DecodeQuestion,
    take: (DecodeAnswer) -> R?,
    shortcut: (
      UnsafeRawBufferPointer, any ImageDecoder, ImageInfo, SamplingPlan, DecodeControl
    ) throws(ImageError) -> R? = { (_, _, _, _, _) throws(ImageError) in nil },
    render: (any RowSource, ImageInfo, SamplingPlan, DecodeControl) throws(ImageError) -> R,
  ) throws(ImageError) -> R {
    var options = question.options
    let share = options.takeCore()
    defer { share.leave() }
    let question = question.with(options)
    let control = DecodeControl(isCancelled: options.isCancelled, timeLimit: options.limits.timeLimit)
    try control.check()
    // The bytes are only read while the closure runs: row sources do not outlive it.
    return try unsafe data.withImageBytes { (bytes) throws(ImageError) in
      try unsafe find(
        bytes,
        options.limits,
        remote: { (decoder, format) throws(ImageError) in
          take(try unsafe decoder.answer(question, about: .bytes(bytes), of: format))
        },
      ) { (decoder, header) throws(ImageError) -> R? in
        guard options.frame >= 0 else { throw .noSuchFrame(options.frame, of: header) }
        let info = try unsafe decoder.info(ofFrame: options.frame, of: bytes, header, limits: options.limits)
        try options.limits.check(info)
        let plan = try options.plan(for: info)
        if let result = try unsafe shortcut(bytes, decoder, info, plan, control) { return result }
        options.borrowCores(for: info)
        let control = try unsafe options.admit(decoder, bytes, plan, info, control)
        guard let source = try unsafe decoder.open(bytes, options.request(for: info, plan, control)) else { return nil }
        return try render(source, info, plan, control)
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

  /// Asks the decoders of the format in turn, until one does not decline.
  ///
  /// The limits are checked before it is used. A remote decoder is asked by `remote`, which returns `nil` to decline.
  func find<R>(
    _ bytes: UnsafeRawBufferPointer,
    _ limits: DecodeLimits,
    remote: (any RemoteDecoder, ImageFormat) throws(ImageError) -> R?,
    _ body: (any ImageDecoder, ImageInfo) throws(ImageError) -> R?,
  ) throws(ImageError) -> R {
    let reader = unsafe ByteReader(bytes)
    guard reader.count > 0 else { throw ImageError(.unrecognised, "not an image: it is empty") }
    func ask(_ format: ImageFormat) throws(ImageError) -> R? {
      for entry in entries where entry.formats.contains(format) {
        switch entry {
        case .local(let decoder):
          guard let info = try unsafe decoder.info(of: bytes, format: format, limits: limits) else { continue }
          try limits.check(info)
          if let result = try body(decoder, info) { return result }
        case .remote(let decoder):
          if let result = try remote(decoder, format) { return result }
        }
      }
      return nil
    }

    var first = ImageFormat.sniff(reader)
    if let first {
      if let result = try ask(first) { return result }
    } else {
      for format in unsafe recognizedFormats(of: bytes) {
        first = first ?? format
        if let result = try ask(format) { return result }
      }
    }
    guard let first else {
      let look =
        ImageFormat.describeOther(reader).map { ": it looks like \($0)" } ?? ": its bytes are of no known format"
      throw ImageError(.unrecognised, "not an image\(look)")
    }
    throw ImageError(.unsupported, format: first, "\(first) images cannot be decoded by this build")
  }
}

extension Bitmap {
  /// Decodes an image with the standard decoders, as ``DecoderRegistry/decode(_:_:)`` does.
  ///
  /// Blocks until done.
  ///
  /// - Parameters:
  ///   - data: The encoded image.
  ///   - size: The requested size. Defaults to `nil`: the image's own size.
  /// - Throws: ``ImageError`` of any code but `.notEncodable`.
  public init(decoding data: Data, size: TargetSize? = nil) throws(ImageError) {
    self = try DecoderRegistry.standard.decode(data, DecodeOptions(size: size)).bitmap
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
