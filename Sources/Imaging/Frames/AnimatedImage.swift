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
/// A frame that is damaged ends the animation: it consists of the frames before.
public final class AnimatedImage: Sendable {
  /// The first frame.
  public let poster: Bitmap
  /// The facts in the header.
  public let info: ImageInfo
  /// The encoded image.
  public let data: Data
  /// The duration of each frame, in seconds: ``ImageInfo/frameCount`` values.
  ///
  /// Durations of 0.01 s and less become 0.1 s, as in browsers.
  public let delays: [Double]
  let store: FrameStore

  /// The number of times that the animation plays; 0 for endless.
  public var loopCount: Int { info.loopCount }
  /// The number of frames, without those that a damage was found in.
  public var frameCount: Int { store.usableCount }
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
  /// The bytes that frames hold now, with what the next one builds on.
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
  ///   - budget: The memory for frames. Defaults to the one that all animations share.
  /// - Throws: ``ImageError`` of any code but `.noSuchFrame` and `.notEncodable`.
  public init(
    _ data: Data,
    _ options: DecodeOptions = DecodeOptions(),
    decoders: DecoderRegistry = .standard,
    budget: FrameBudget = .shared,
  ) throws(ImageError) {
    var source = try FrameSource(data, options, decoders: decoders)
    guard let first = try source.next() else { throw .noSuchFrame(0, of: source.info) }
    poster = first.bitmap
    (info, delays, self.data) = (source.info, source.delays, data)
    var later = options
    // The first frame's decode is over, and so is its share of memory.
    (later.isCancelled, later.memoryShare, later.host) = (nil, nil, nil)
    let kept = later
    store = FrameStore(
      poster: poster,
      count: info.frameCount,
      sourceByteCount: source.heldByteCount,
      budget: budget,
      open: { () throws(ImageError) in try FrameSource(data, kept, decoders: decoders) },
    )
  }

  /// Makes an animation of another's frames, each changed after it is decoded.
  ///
  /// `poster` is the first frame, changed.
  init(_ other: AnimatedImage, poster: Bitmap, change: @escaping FrameChange) {
    (info, delays, data, self.poster) = (other.info, other.delays, other.data, poster)
    store = FrameStore(other.store, poster: poster, change: change)
  }

  /// Returns a frame if it is decoded; the first one always is.
  ///
  /// Does not block. Complexity: O(1).
  ///
  /// - Parameter index: The index, counted from 0.
  /// - Returns: The pixels; `nil` if it is not decoded, or does not exist.
  public func cachedFrame(at index: Int) -> Bitmap? { store.cachedFrame(at: index) }

  /// Returns a frame, decoded if need be.
  ///
  /// - Parameter index: The index, counted from 0.
  /// - Returns: The pixels.
  /// - Throws: ``ImageError``: `.noSuchFrame`; the damage of the file; `.cancelled` if the task is cancelled.
  public func frame(at index: Int) async throws(ImageError) -> Bitmap {
    guard delays.indices.contains(index) else { throw .noSuchFrame(index, of: info) }
    return try await store.frame(at: index)
  }
}

extension DecoderRegistry {
  /// Decodes the first frame of an animation, with the others to come; returns `nil` for a still image.
  func animation(of data: Data, _ options: DecodeOptions) throws(ImageError) -> ImageContainer? {
    guard options.frame == 0, options.region == nil else { return nil }
    let info = try info(of: data, limits: options.limits)
    // Pages have no durations.
    guard info.frameCount > 1, info.duration > 0 else { return nil }
    let animation = try AnimatedImage(data, options, decoders: self)
    var image = ImageContainer(animation.poster, info: animation.info)
    image.animation = animation
    return image
  }
}
