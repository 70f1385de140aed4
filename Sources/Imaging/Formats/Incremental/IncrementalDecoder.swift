public import VitrineRuntime

/// Decodes an image whose bytes arrive in pieces, with previews on the way.
///
/// ```swift
/// var decoder = IncrementalDecoder(options: DecodeOptions(size: .pixels(300, 300)))
/// for try await piece in body {
///   guard try decoder.append(piece) == .previewReady, let preview = try decoder.preview() else { continue }
///   show(preview.bitmap)
/// }
/// show(try decoder.image().bitmap)
/// ```
/// Appending bytes is cheap and decodes nothing: each byte is scanned once, for the header and for points at which a
/// preview is worthwhile. Only ``preview()`` and ``image()`` decode, as often as ``PreviewPolicy`` allows and once at
/// the end, however small the pieces are. The image is the same, to the last bit, as
/// ``DecoderRegistry/decode(_:_:)`` returns from all bytes at once.
///
/// Previews show the first frame:
/// - A progressive JPEG and an interlaced PNG or GIF show the whole picture, from coarse to fine.
/// - An animated GIF, PNG or WebP shows its first frame once that is complete. With ``DecodeOptions/animates`` it plays
///   from its second frame on, and goes on as the rest arrives: see ``ImagePreview/animation``.
/// - Other PNG, GIF and JPEG files, still WebP and formats that only a decoder of yours knows show the rows so far, if
///   ``PreviewPolicy/showsRows`` is set.
/// - Other formats have no previews.
///
/// A decoder is a value: a copy is independent, and may be passed to another thread. Only an animation that plays already
/// is the same one, and follows the decoder whose bytes it got first. Memory: the bytes so far.
public struct IncrementalDecoder: Sendable {
  /// The result of appending bytes.
  public enum Status: Hashable, Sendable {
    /// There is nothing new to show.
    case needsMore
    /// ``IncrementalDecoder/preview()`` has something new to show.
    case previewReady
  }

  /// The facts of the header; `nil` until it has arrived.
  ///
  /// Facts that files store after the header are missing: an animated GIF or WebP counts only the frames so far, and
  /// a WebP file's EXIF comes last. ``ImageContainer/info`` has everything.
  public private(set) var info: ImageInfo?
  /// All bytes so far.
  public private(set) var data = Data()
  /// The expected total number of bytes.
  ///
  /// Defaults to `nil`: not known.
  ///
  /// Previews by rows are spread over it. None is made from three quarters on, because the image itself is about to
  /// arrive.
  package var expectedByteCount: Int?

  /// A Boolean value that indicates whether ``follow(_:)`` may return the image before the whole file has arrived.
  ///
  /// Defaults to `false`.
  ///
  /// It applies only to ``DecodeQuality/fast``, with an embedded thumbnail that is large enough, or with the first
  /// scans of a progressive JPEG.
  package var stopsEarly = false

  private let options: DecodeOptions
  private let policy: PreviewPolicy
  private let decoders: DecoderRegistry
  private var arrival: (any FileArrival)?
  private var scale = 1.0
  private var failure: ImageError?
  /// The number of bytes at which the header is tried again.
  private var nextLook = Self.signatureLength
  private var attempts = 0
  private var stage = 0
  private var lastByteCount = 0
  private var hasTriedThumbnail = false
  private var hasTriedScans = false
  /// The animation that plays while the file arrives; `nil` before a second frame is there.
  package private(set) var animation: ArrivingAnimation?

  /// The number of bytes that identify all formats but SVG.
  private static let signatureLength = 32
  /// The number of bytes that decide whether a file is SVG.
  private static let longestLook = 4096 + 512
  /// The minimum number of remaining bytes that is worth closing the connection for.
  private static let worthSaving = 128 << 10

  /// Makes a decoder without bytes.
  ///
  /// - Parameters:
  ///   - options: The options for decoding the image and the previews, which always show frame 0.
  ///   - previews: The policy for previews. Defaults to ``PreviewPolicy/init()``.
  ///   - decoders: The decoders. Defaults to ``DecoderRegistry/standard``.
  public init(
    options: DecodeOptions = DecodeOptions(),
    previews: PreviewPolicy = PreviewPolicy(),
    decoders: DecoderRegistry = .standard,
  ) {
    (self.options, policy, self.decoders) = (options, previews, decoders)
  }

  /// Appends the next bytes.
  ///
  /// Complexity: O(count), and reading the header once.
  ///
  /// - Parameter bytes: The bytes that follow the earlier ones; any number of them.
  /// - Returns: ``Status/previewReady`` if there is something new to show.
  /// - Throws: ``ImageError`` as soon as the header shows that more bytes are useless: `.unrecognised`,
  ///   `.unsupported`, `.corrupt`, `.overLimit`, `.invalidSize`. From then on every call throws it and no bytes are
  ///   taken.
  @discardableResult
  public mutating func append(_ bytes: Data) throws(ImageError) -> Status {
    if let failure { throw failure }
    data.append(bytes)
    return try follow()
  }

  /// Appends the next bytes from memory; see ``append(_:)``.
  package mutating func append(copying bytes: UnsafeRawBufferPointer) throws(ImageError) -> Status {
    if let failure { throw failure }
    unsafe data.append(contentsOf: bytes)
    return try follow()
  }

  /// Decodes the bytes so far, if they show more than the last preview.
  ///
  /// Blocks until done. Damaged data gives no preview; ``image()`` reports the damage.
  ///
  /// - Returns: The preview; `nil` if there is nothing new.
  /// - Throws: ``ImageError``: `.cancelled`, `.outOfTime`, `.overLimit`.
  public mutating func preview() throws(ImageError) -> ImagePreview? {
    guard let pending = takePreview() else { return nil }
    return try pending.decode()
  }

  /// Decodes the image from the bytes so far.
  ///
  /// Blocks until done.
  ///
  /// - Returns: The image. It is partial only if ``DecodeOptions/acceptsPartial`` is set, and then has
  ///   ``ImageContainer/damage``.
  /// - Throws: ``ImageError``, as ``DecoderRegistry/decode(_:_:)``.
  public func image() throws(ImageError) -> ImageContainer {
    if let failure { throw failure }
    var job = DecodeJob()
    job.arriving = animation
    return try decoders.decode(data, options, job)
  }

  /// Returns the preview that ``preview()`` would decode, to be decoded elsewhere while bytes arrive.
  ///
  /// It counts as shown.
  package mutating func takePreview() -> PendingPreview? {
    if let frames = dueFrames {
      let arriving = animation ?? ArrivingAnimation()
      (animation, lastByteCount) = (arriving, frames.byteCount)
      var preview = pending(data.prefix(lastByteCount), .preview)
      preview.animation = (arriving, frames.count)
      return preview
    }
    guard let due else { return nil }
    attempts += 1
    (stage, lastByteCount) = due
    return pending(data.prefix(lastByteCount), .preview)
  }

  /// Follows a body that the caller keeps, and returns the preview that is due.
  ///
  /// Complexity: as ``append(_:)``. Only the preview retains the body.
  package mutating func follow(_ body: Data) throws(ImageError) -> PendingPreview? {
    if let failure { throw failure }
    data = body
    defer { data = Data() }
    let status = try follow()
    if stopsEarly, let image = takeEarlyImage() { return image }
    return status == .previewReady ? takePreview() : nil
  }

  /// Returns a possible final image before the file is complete; tries each way once.
  private mutating func takeEarlyImage() -> PendingPreview? {
    guard info != nil, let arrival, options.allowsShortcut, (expectedByteCount ?? 0) - data.count >= Self.worthSaving
    else { return nil }
    // The thumbnail is compared with the first rows of the image, which must have arrived.
    if !hasTriedThumbnail, data.count >= (expectedByteCount ?? 0) / 8 {
      hasTriedThumbnail = true
      if decoders.usesThumbnail(in: data, options) { return pending(data, .thumbnail) }
    }
    guard !hasTriedScans, let count = arrival.sufficientByteCount(at: scale) else { return nil }
    hasTriedScans = true
    return pending(data.prefix(count), .scans)
  }

  private func pending(_ data: Data, _ purpose: PreviewPurpose) -> PendingPreview {
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
    return dueFrames == nil && due == nil ? .needsMore : .previewReady
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
      // For formats that are not followed, the length of the header is unknown.
      guard error.code == .truncated || mayYetBeRecognized(error) else { throw error }
      nextLook = data.count * 2
    }
  }

  /// Returns `true` if a decoder that is not Vitrine's may still recognise the bytes.
  private func mayYetBeRecognized(_ error: ImageError) -> Bool {
    guard error.code == .unrecognised, decoders.hasForeignDecoders else { return false }
    return data.reading(ImageFormat.describeOther) == nil
  }

  private mutating func advance() {
    guard var following = arrival else { return }
    // A single reference, so that it is changed in place.
    arrival = nil
    data.reading { following.advance($0) }
    arrival = following
  }

  /// The frames with which an animation begins or goes on.
  private var dueFrames: ArrivedFrames? {
    guard options.animates, options.frame == 0, options.region == nil, policy.limit > 0, info != nil,
      let frames = arrival?.frames, frames.count > 1
    else { return nil }
    guard animation != nil else { return data.count < policy.interval || isNearlyWhole ? nil : frames }
    // The header is read again each time.
    return frames.byteCount > lastByteCount + max(policy.interval, lastByteCount / 8) ? frames : nil
  }

  /// True if the image itself is about to arrive.
  private var isNearlyWhole: Bool { expectedByteCount.map { data.count > $0 / 4 * 3 } ?? false }

  /// The stage and the bytes of the preview that can be made now.
  private var due: (stage: Int, byteCount: Int)? {
    guard let info, let arrival, options.frame == 0, attempts < policy.limit, animation == nil, !isNearlyWhole else {
      return nil
    }
    let count = data.count
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
