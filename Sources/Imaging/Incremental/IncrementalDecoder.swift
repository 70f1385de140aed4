public import VitrineRuntime

/// Decodes an image whose bytes arrive piece by piece, and shows what can be seen of it on the way.
///
/// ```swift
/// var decoder = IncrementalDecoder(options: DecodeOptions(size: .pixels(300, 300)))
/// for try await piece in body {
///   guard try decoder.append(piece) == .previewReady, let preview = try decoder.preview() else { continue }
///   show(preview.bitmap)
/// }
/// show(try decoder.image().bitmap)
/// ```
/// Taking bytes in costs little and decodes nothing: they are looked at once, for the header and for the places where a
/// preview is worth making. A decoder is at work in ``preview()`` and ``image()`` only, as often as ``PreviewPolicy``
/// says and once at the end, however small the pieces are. The image is the one that ``DecoderRegistry/decode(_:_:)``
/// makes of all bytes at once, to the last bit.
///
/// Previews show the first frame of what the file has: of a progressive JPEG the whole picture, coarsely, of an interlaced
/// PNG or GIF too, of an animated GIF its first frame once that is whole; of other PNG, GIF and JPEG files, of still
/// WebP and of formats that only a decoder of yours knows the rows that are there, if ``PreviewPolicy/showsRows`` is set. Other
/// formats have none.
///
/// It is a value: a copy goes its own way, and one may be handed to another thread. Memory: the bytes that have come.
public struct IncrementalDecoder: Sendable {
  /// What came of the bytes appended last.
  public enum Status: Hashable, Sendable {
    /// There is nothing new to be seen.
    case needsMore
    /// ``IncrementalDecoder/preview()`` has something to show that it has not shown before.
    case previewReady
  }

  /// What the header says, from the moment at which it is there; `nil` before.
  ///
  /// What files store behind their header is not in it: the frames of an animated GIF or WebP are those that have begun, and a
  /// WebP file's EXIF comes last. ``ImageContainer/info`` has everything.
  public private(set) var info: ImageInfo?
  /// All bytes so far.
  public private(set) var data = Data()
  /// How many bytes there will be, where that is known; `nil` unless told.
  ///
  /// Previews that come row by row are spread over it, and none is made when three quarters are there, since the image itself
  /// is about to come.
  public var expectedByteCount: Int?

  /// Whether ``follow(_:)`` also gives what makes the image before all of the file is there.
  ///
  /// Only ``DecodeQuality/fast`` is content with that: with the thumbnail in the file where that is large enough, or with
  /// the first scans of a progressive JPEG. `false` unless told.
  package var stopsEarly = false

  private let options: DecodeOptions
  private let policy: PreviewPolicy
  private let decoders: DecoderRegistry
  private var arrival: (any FileArrival)?
  private var scale = 1.0
  private var failure: ImageError?
  /// The count of bytes at which to look for a header again.
  private var nextLook = Self.signatureLength
  private var attempts = 0
  private var stage = 0
  private var lastByteCount = 0
  private var hasTriedThumbnail = false
  private var hasTriedScans = false

  /// As many bytes tell all formats apart but SVG.
  private static let signatureLength = 32
  /// As many bytes tell SVG from what is no image.
  private static let longestLook = 4096 + 512
  /// To leave fewer bytes than these costs more than to take them: the connection is closed.
  private static let worthSaving = 128 << 10

  /// Makes a decoder that has no bytes yet.
  ///
  /// - Parameters:
  ///   - options: How the image is to be decoded, previews too; those show nothing but frame 0.
  ///   - previews: When previews are made; ``PreviewPolicy/init()`` unless told.
  ///   - decoders: What decodes; ``DecoderRegistry/standard`` unless told.
  public init(
    options: DecodeOptions = DecodeOptions(),
    previews: PreviewPolicy = PreviewPolicy(),
    decoders: DecoderRegistry = .standard,
  ) {
    (self.options, policy, self.decoders) = (options, previews, decoders)
  }

  /// Takes the next bytes.
  ///
  /// Complexity: O(count), and the reading of the header once.
  ///
  /// - Parameter bytes: As many as there are, in order.
  /// - Returns: Whether there is something new to be seen.
  /// - Throws: ``ImageError``, as soon as the header shows that there is no use in getting more: `.unrecognised`, `.unsupported`,
  ///   `.corrupt`, `.overLimit`, `.invalidSize`. From then on nothing more is taken in, and every call throws it.
  @discardableResult
  public mutating func append(_ bytes: Data) throws(ImageError) -> Status {
    if let failure { throw failure }
    data.append(bytes)
    return try follow()
  }

  /// Takes the next bytes from where they are; see ``append(_:)``.
  package mutating func append(copying bytes: UnsafeRawBufferPointer) throws(ImageError) -> Status {
    if let failure { throw failure }
    unsafe data.append(contentsOf: bytes)
    return try follow()
  }

  /// Decodes what is there, if that shows more than the last time.
  ///
  /// Blocks as decoding does; while it works nothing else is decoded, so whoever calls it once it is done has one preview at a
  /// time. What is damaged shows nothing; ``image()`` says what is wrong with it.
  ///
  /// - Returns: The preview; `nil` when there is nothing new.
  /// - Throws: ``ImageError``: `.cancelled`, `.outOfTime`, `.overLimit`.
  public mutating func preview() throws(ImageError) -> ImagePreview? {
    guard let pending = takePreview() else { return nil }
    return try pending.decode()
  }

  /// Decodes the image from all bytes so far.
  ///
  /// Blocks as decoding does.
  ///
  /// - Returns: The image; a part of it only if ``DecodeOptions/acceptsPartial`` is set, and then its damage says so.
  /// - Throws: ``ImageError``: what ``DecoderRegistry/decode(_:_:)`` throws.
  public func image() throws(ImageError) -> ImageContainer {
    if let failure { throw failure }
    return try decoders.decode(data, options)
  }

  /// What ``preview()`` would decode, to be decoded elsewhere while bytes go on arriving; counts as having been shown.
  package mutating func takePreview() -> PendingPreview? {
    guard let due else { return nil }
    attempts += 1
    (stage, lastByteCount) = due
    return pending(data.prefix(lastByteCount), .preview)
  }

  /// Looks at a body that somebody else keeps, as far as it has come, and gives the preview that is due.
  ///
  /// Complexity: as of ``append(_:)``; nothing of the body is kept but by the preview.
  package mutating func follow(_ body: Data) throws(ImageError) -> PendingPreview? {
    if let failure { throw failure }
    data = body
    defer { data = Data() }
    let status = try follow()
    if stopsEarly, let image = takeEarlyImage() { return image }
    return status == .previewReady ? takePreview() : nil
  }

  /// What may make the image although more is to come, each way once.
  private mutating func takeEarlyImage() -> PendingPreview? {
    guard info != nil, let arrival, options.allowsShortcut, (expectedByteCount ?? 0) - data.count >= Self.worthSaving
    else { return nil }
    if !hasTriedThumbnail {
      hasTriedThumbnail = true
      if decoders.usesThumbnail(in: data, options) { return pending(data, .thumbnail) }
    }
    guard !hasTriedScans, let count = arrival.sufficientByteCount(at: scale) else { return nil }
    hasTriedScans = true
    return pending(data.prefix(count), .scans)
  }

  private func pending(_ data: Data, _ purpose: PendingPreview.Purpose) -> PendingPreview {
    PendingPreview(
      purpose: purpose,
      data: data,
      options: options,
      showsRows: policy.showsRows && purpose == .preview,
      decoders: decoders,
    )
  }

  private mutating func follow() throws(ImageError) -> Status {
    if info == nil {
      do throws(ImageError) {
        try readHeader()
      } catch {
        failure = error
        throw error
      }
    } else {
      advance()
    }
    return due == nil ? .needsMore : .previewReady
  }

  private mutating func readHeader() throws(ImageError) {
    guard data.count >= nextLook else { return }
    if arrival == nil {
      let format = ImageFormat.sniff(data)
      if format == nil, data.count < Self.longestLook, decoders.format(of: data) == nil {
        nextLook = Self.longestLook
        return
      }
      arrival = format?.arrival
    }
    advance()
    if let arrival, !arrival.hasHeader { return }
    do throws(ImageError) {
      let info = try decoders.info(of: data, limits: options.limits)
      if options.frame == 0 { scale = try options.plan(for: info).scale * options.quality.oversampling }
      self.info = info
      if ImageFormat.sniff(data) == nil { arrival = UnknownArrival() }
    } catch {
      // Of formats that are not followed nobody knows how long the header is.
      guard error.code == .truncated || mayYetBeRecognized(error) else { throw error }
      nextLook = data.count * 2
    }
  }

  /// Whether a decoder that is not Vitrine's may still recognise what is unknown so far.
  private func mayYetBeRecognized(_ error: ImageError) -> Bool {
    guard error.code == .unrecognised, decoders.hasForeignDecoders else { return false }
    // The bytes are only read while the closure runs.
    return unsafe data.withUnsafeBytes { unsafe ImageFormat.describeOther(ByteReader($0)) == nil }
  }

  private mutating func advance() {
    guard var following = arrival else { return }
    // Held once only, so that it is changed in place.
    arrival = nil
    // The bytes are only read while the closure runs.
    unsafe data.withUnsafeBytes { unsafe following.advance(ByteReader($0)) }
    arrival = following
  }

  /// The stage and the bytes of the preview that can be made now.
  private var due: (stage: Int, byteCount: Int)? {
    guard let info, let arrival, options.frame == 0, attempts < policy.limit else { return nil }
    let count = data.count
    if let expectedByteCount, count > expectedByteCount / 4 * 3 { return nil }
    guard count - lastByteCount >= policy.interval else { return nil }
    switch arrival.visible(of: info, isAtEighth: scale <= 1 / 8) {
    case .nothing: return nil
    case .stage(let stage, let byteCount):
      guard stage > self.stage else { return nil }
      return (stage, byteCount)
    case .rows(let isInterlaced, let estimate):
      guard isInterlaced || policy.showsRows else { return nil }
      let least = attempts == 0 ? (expectedByteCount ?? estimate) / 8 : lastByteCount * 2
      guard count >= least else { return nil }
      return (0, count)
    }
  }
}
