public import VitrineRuntime

/// An image that moves: its first frame at once, and the others when they are shown.
///
/// ```swift
/// let image = try AnimatedImage(data, DecodeOptions(size: .pixels(300, 300)))
/// show(image.poster)
/// let player = AnimationPlayer(image)
/// player.play()
/// // With every refresh of the display:
/// if let bitmap = player.advance(to: time) { show(bitmap) }
/// ```
/// It holds the encoded bytes. Frames are decoded at the size at which they are shown, ahead of the players, and all
/// players of an image share them: ten views of one image decode each frame once. ``FrameBudget`` limits their memory.
///
/// A frame that is damaged, or that a processor fails on, ends the animation: it consists of the frames before. A frame
/// that fails for another reason, such as too little time, is tried again after a second, and then less and less often.
///
/// The animation of a preview (``ImagePreview/animation``) grows while its file arrives: so do ``frameCount``, ``delays``,
/// ``data`` and ``info``.
public final class AnimatedImage: Sendable {
  /// The first frame.
  public let poster: Bitmap
  let file: AnimationFile
  let store: FrameStore
  /// The closure that gives one frame after another; `nil` if they are decoded.
  private let supply: FrameSupply?

  /// The facts in the header.
  public var info: ImageInfo { file.info }
  /// The encoded image.
  public var data: Data { file.data }
  /// The duration of each frame, in seconds: ``ImageInfo/frameCount`` values.
  ///
  /// Durations of 0.01 s and less become 0.1 s, as in browsers, and none is longer than a million seconds.
  public var delays: [Double] { file.delays }
  /// The number of frames that are there, and in which no damage was found.
  public var frameCount: Int { store.usableCount }
  /// A Boolean value that indicates whether more frames are to come, since the file is still loading.
  public var isArriving: Bool { file.isArriving }
  /// The reason why frames are missing, once it was found; `nil` for none.
  public var damage: ImageError? { store.failure }
  /// The size that caches count, in bytes: the encoded image and the first frame.
  ///
  /// The other frames count towards the ``FrameBudget``.
  public var byteCount: Int { data.count + poster.byteCount }
  /// The number of frames that were decoded after the first, each time counted.
  package var decodeCount: Int { store.decodeCount }
  /// The number of calls that wait for a frame.
  package var waitingCount: Int { store.waitingCount }
  /// The bytes that the next frame builds on, while the animation plays.
  package var sourceByteCount: Int { store.sourceByteCount }
  /// The bytes that frames hold now, with the canvas of the next one.
  package var frameByteCount: Int { store.byteCount }

  /// Opens an animation, and decodes its first frame.
  ///
  /// Blocks until done.
  ///
  /// - Parameters:
  ///   - data: The encoded image.
  ///   - options: The options of every frame, as for ``FrameSource``. Its ``DecodeOptions/isCancelled`` applies to the
  ///     first frame. Defaults to the image's own size.
  ///   - decoders: The decoders. Defaults to ``DecoderRegistry/standard``.
  ///   - budget: The memory for frames. Defaults to ``FrameBudget/shared``.
  /// - Throws: ``ImageError`` of any code but `.noSuchFrame` and `.notEncodable`.
  public convenience init(
    _ data: Data,
    _ options: DecodeOptions = DecodeOptions(),
    decoders: DecoderRegistry = .standard,
    budget: FrameBudget = .shared,
  ) throws(ImageError) {
    try self.init(data, options, DecodeJob(), decoders: decoders, budget: budget, queue: FrameStore.queue)
  }

  /// As ``init(_:_:decoders:budget:)``; `queue` decodes the frames.
  ///
  /// If `data` are the first bytes of a file that is still loading, `arrived` is the number of its frames that are whole.
  init(
    _ data: Data,
    _ options: DecodeOptions = DecodeOptions(),
    _ job: DecodeJob = DecodeJob(),
    decoders: DecoderRegistry = .standard,
    budget: FrameBudget = .shared,
    queue: WorkQueue = FrameStore.queue,
    arrived: Int? = nil,
  ) throws(ImageError) {
    var source = try FrameSource(data, options, job, decoders: decoders)
    guard let first = try source.next() else { throw .noSuchFrame(0, of: source.info) }
    poster = first.bitmap
    supply = nil
    file = AnimationFile(AnimationFile.Contents(data, source.info, source.delays, arrived: arrived))
    var later = options
    later.isCancelled = nil
    // The first frame's decode is over, and so is its share of memory.
    let (laterOptions, laterJob) = (later, DecodeJob(cores: job.cores))
    store = FrameStore(
      poster: poster,
      file: file,
      sourceByteCount: source.heldByteCount,
      budget: budget,
      queue: queue,
      open: { (data) throws(ImageError) in try FrameSource(data, laterOptions, laterJob, decoders: decoders) },
    )
  }

  /// Adds bytes of a file that is still loading; blocks while its header is read.
  ///
  /// `data` are the file from its beginning, and `arrived` is the number of its frames that are whole; `nil` for the whole
  /// file.
  ///
  /// - Returns: `false` if no more bytes were to come, or these are another file's.
  /// - Throws: ``ImageError``, as ``DecoderRegistry/info(of:limits:)``.
  @discardableResult
  func extend(
    to data: Data,
    arrived: Int?,
    _ limits: DecodeLimits,
    _ decoders: DecoderRegistry,
  ) throws(ImageError) -> Bool {
    guard isArriving else { return false }
    let info = try decoders.info(of: data, limits: limits)
    let delays = try decoders.frameDelays(of: data, limits, known: info)
    return file.grow(AnimationFile.Contents(data, info, delays, arrived: arrived))
  }

  /// Ends the wait for more of the file; the frames that are there play on.
  func endArrival() { file.endArrival() }

  /// Makes an animation of another's frames, each changed after it is decoded.
  ///
  /// `poster` is the first frame, changed.
  init(_ other: AnimatedImage, poster: Bitmap, change: @escaping FrameChange) {
    (file, self.poster, supply) = (other.file, poster, other.supply)
    store = FrameStore(other.store, poster: poster, change: change)
  }

  /// Makes an animation for an encoder, whose frames another program has.
  ///
  /// Only ``frames(isCancelled:)`` gives them, and only once.
  package init(poster: Bitmap, info: ImageInfo, supply: @escaping FrameSupply) {
    (self.poster, self.supply) = (poster, supply)
    let delays = [Double](repeating: 0, count: info.frameCount)
    var contents = AnimationFile.Contents(Data(), info, delays, arrived: nil)
    contents.frameCount = 1
    file = AnimationFile(contents)
    store = FrameStore(
      poster: poster,
      file: file,
      sourceByteCount: 0,
      budget: .shared,
      queue: FrameStore.queue,
      open: { (_) throws(ImageError) in throw ImageError(.unsupported, "the frames are another program's") },
    )
  }

  /// Returns a frame if it is decoded; the first one always is.
  ///
  /// Does not block. Complexity: O(1).
  ///
  /// - Parameter index: The index, counted from 0.
  /// - Returns: The pixels; `nil` if it is not decoded, or does not exist.
  package func cachedFrame(at index: Int) -> Bitmap? { store.cachedFrame(at: index) }

  /// Returns a frame, decoded if need be.
  ///
  /// - Parameter index: The index, counted from 0.
  /// - Returns: The pixels.
  /// - Throws: ``ImageError``: `.noSuchFrame`; the reason why the frame cannot be decoded, now or ever; `.cancelled` if
  ///   the task is cancelled.
  public func frame(at index: Int) async throws(ImageError) -> Bitmap {
    guard delays.indices.contains(index) else { throw .noSuchFrame(index, of: info) }
    return try await store.frame(at: index)
  }
}

extension DecoderRegistry {
  /// Decodes the first frame of an animation, with the others to come; returns `nil` for a still image.
  func animation(of data: Data, _ options: DecodeOptions, _ job: DecodeJob) throws(ImageError) -> ImageContainer? {
    guard options.frame == 0, options.region == nil else { return nil }
    let info = try info(of: data, limits: options.limits)
    // Pages have no durations.
    guard info.frameCount > 1, info.duration > 0 else { return nil }
    let animation: AnimatedImage
    do throws(ImageError) {
      // Its views go on where they are.
      if let arrived = job.arriving?.completed(with: data, options.limits, self) {
        animation = arrived
      } else {
        animation = try AnimatedImage(data, options, job, decoders: self)
      }
    } catch {
      // The rows of a damaged first frame are a still image.
      guard options.acceptsPartial, error.isDamage else { throw error }
      return nil
    }
    var image = ImageContainer(animation.poster, info: animation.info)
    image.animation = animation
    return image
  }
}

/// A closure that gives one frame after another, and `nil` after the last one.
package typealias FrameSupply = @Sendable () throws(ImageError) -> AnimationFrame?

/// The frames of an animation from the first on, each decoded when it is read; for encoders.
public struct AnimatedImageFrames: ~Copyable {
  private var source: FrameSource?
  private let supply: FrameSupply?
  private let change: FrameChange?
  private let isCancelled: (@Sendable () -> Bool)?
  /// The number of frames that are still to come, at most.
  private var remaining: Int
  /// The share that decodes hold their memory of; `nil` for none.
  private let memoryShare: MemoryShare?
  /// A closure that is called with the damage that ends the frames early.
  private let onDamage: @Sendable (ImageError) -> Void

  fileprivate init(
    _ source: consuming FrameSource?,
    _ supply: FrameSupply?,
    _ change: FrameChange?,
    _ isCancelled: (@Sendable () -> Bool)?,
    _ memoryShare: MemoryShare?,
    _ limit: Int,
    onDamage: @escaping @Sendable (ImageError) -> Void = { _ in },
  ) {
    self.source = source
    remaining = limit
    (self.supply, self.change, self.isCancelled, self.memoryShare) = (supply, change, isCancelled, memoryShare)
    self.onDamage = onDamage
  }

  /// Decodes the next frame, with the changes of processors.
  ///
  /// Blocks until done. With ``DecodeOptions/acceptsPartial`` the frames end at the first that is damaged, and
  /// ``AnimatedImage/damage`` says why.
  ///
  /// - Returns: The frame; `nil` after the last one.
  /// - Throws: ``ImageError`` of any code but `.notEncodable`.
  public mutating func next() throws(ImageError) -> AnimationFrame? {
    guard remaining > 0 else { return nil }
    remaining -= 1
    if let supply { return try supply() }
    let (isCancelled, memoryShare) = (isCancelled, memoryShare)
    guard let position = source?.position, let count = source?.info.frameCount, position < count else { return nil }
    let decoded: AnimationFrame?
    do throws(ImageError) {
      decoded = try source?.frame(
        at: position,
        adapt: { (options, job) in (options.isCancelled, job.memoryShare) = (isCancelled, memoryShare) },
      )
    } catch {
      guard source?.endsAtDamage == true, error.isDamage, position > 0 else { throw error }
      source = nil
      onDamage(error)
      return nil
    }
    guard let frame = decoded else { return nil }
    guard let change else { return frame }
    let bitmap = try change(frame.bitmap) { isCancelled?() ?? false }
    return AnimationFrame(bitmap: bitmap, index: frame.index, delay: frame.delay)
  }
}

extension AnimatedImage {
  /// Opens the frames for one pass from the first to the last, apart from the frames that views show.
  ///
  /// One frame is held at a time, besides what the next one builds on. Blocks while the header is read.
  ///
  /// - Parameter isCancelled: Called now and then; `true` stops decoding with `.cancelled`. Defaults to `nil`.
  /// - Returns: The frames.
  /// - Throws: ``ImageError`` of any code but `.noSuchFrame` and `.notEncodable`.
  public func frames(isCancelled: (@Sendable () -> Bool)? = nil) throws(ImageError) -> AnimatedImageFrames {
    try frames(isCancelled, nil, limit: .max)
  }

  /// As ``frames(isCancelled:)``, within a share of memory, and at most so many.
  func frames(
    _ isCancelled: (@Sendable () -> Bool)?,
    _ memoryShare: MemoryShare?,
    limit: Int,
  ) throws(ImageError) -> AnimatedImageFrames {
    guard supply == nil else { return AnimatedImageFrames(nil, supply, nil, isCancelled, memoryShare, limit) }
    let frames = try store.openSource()
    let change = store.frameChange
    return AnimatedImageFrames(frames, nil, change, isCancelled, memoryShare, limit) { [store] in store.fail($0) }
  }
}
