/// Plays an ``AnimatedImage`` by any clock, without a view.
///
/// The owner calls ``advance(to:)`` with the time of its clock: with every refresh of a display, or after
/// ``timeToNextFrame``. Nothing runs between these calls but the decoding of the frames ahead, which stops while no
/// player plays.
///
/// A frame that is not decoded when it is due is shown as soon as it is, and the later ones wait for it: a slow decoder
/// slows the animation down and skips nothing. The same goes for a frame that has not arrived yet. Time during which
/// ``advance(to:)`` was not called, beyond a second, does not count.
///
/// It is used by one thread or actor at a time.
public final class AnimationPlayer {
  /// The animation.
  public let image: AnimatedImage
  /// The index of the frame that is shown, counted from 0.
  public private(set) var frameIndex = 0
  /// The pixels of the frame that is shown.
  public private(set) var bitmap: Bitmap
  /// A Boolean value that indicates whether the animation plays.
  public var isPlaying: Bool { number != nil }
  /// A Boolean value that indicates whether the animation has played as often as it should.
  public private(set) var isFinished = false
  /// The number of times that the animation has played to its end since it began.
  public private(set) var completedLoops = 0
  /// The number of times that the animation plays; 0 for endless.
  ///
  /// Defaults to the file's ``ImageInfo/loopCount``.
  public var loopCount: Int
  /// The speed: 2 is twice as fast.
  ///
  /// Defaults to 1. Values that are not above 0 or not finite stop the time.
  public var rate = 1.0
  /// A Boolean value that indicates whether the viewer prefers still images.
  ///
  /// Defaults to `false`.
  ///
  /// While it is set, the first frame is shown and ``play()`` does nothing.
  public var reducesMotion = false {
    didSet {
      guard reducesMotion else { return }
      pause()
      show(0, image.poster)
      progress = 0
    }
  }

  /// Called when another frame is sought, for the view that shows the player's.
  package var didSeek: () -> Void = {}

  /// The player's number in the store, while it plays.
  private var number: Int?
  /// The time for which the frame has been shown, in seconds of the animation.
  private var progress = 0.0
  private var last: Duration?
  private var hasBegun = false
  /// True if the next frame should be shown, to the microsecond.
  private var isDue: Bool { progress >= image.delays[frameIndex] - 1e-6 }
  /// The frame that was sought and is not decoded yet.
  private var pending: Int?

  /// Makes a player that shows the first frame and does not play yet.
  ///
  /// - Parameter image: The animation.
  public init(_ image: AnimatedImage) {
    (self.image, bitmap, loopCount) = (image, image.poster, image.info.loopCount)
    image.store.attach()
  }

  /// Makes a player that goes on from the position of another player of the same file, such as its preview's.
  ///
  /// - Parameters:
  ///   - image: The animation.
  ///   - former: The other player. If it is `nil`, or plays another file, the new one begins at the first frame.
  package convenience init(_ image: AnimatedImage, after former: AnimationPlayer?) {
    self.init(image)
    guard let former, former.image.file === image.file, former.frameIndex < image.frameCount else { return }
    (frameIndex, bitmap, progress, pending) = (former.frameIndex, former.bitmap, former.progress, former.pending)
    (hasBegun, isFinished, completedLoops) = (former.hasBegun, former.isFinished, former.completedLoops)
    (loopCount, rate, reducesMotion) = (former.loopCount, former.rate, former.reducesMotion)
  }

  deinit {
    pause()
    image.store.detach()
  }

  /// Plays from the frame that is shown, or again from the first if the animation is finished.
  ///
  /// The first time, an endless animation begins where another player of the same image is, so that all views of an
  /// image show the same. Frames are decoded ahead from now on. Does nothing if it plays already, if there is one frame,
  /// or if ``reducesMotion`` is set.
  public func play() {
    guard number == nil, !reducesMotion, image.frameCount > 1 else { return }
    if isFinished {
      show(0, image.poster)
      (isFinished, completedLoops, progress) = (false, 0, 0)
    }
    if !hasBegun, loopCount == 0, let other = image.store.latest, let frame = image.cachedFrame(at: other) {
      show(other, frame)
    }
    (hasBegun, last) = (true, nil)
    forgetLostFrame()
    number = image.store.add(at: pending ?? frameIndex)
  }

  /// Stops at the frame that is shown; ``play()`` continues.
  public func pause() {
    guard let number = number.take() else { return }
    last = nil
    image.store.remove(number)
  }

  /// Shows another frame, playing or not.
  ///
  /// A frame that is not decoded is shown by the first ``advance(to:)`` after it is, if the animation plays. Otherwise
  /// wait for ``AnimatedImage/frame(at:)`` before.
  ///
  /// - Parameter index: The index, counted from 0.
  /// - Returns: The pixels of the frame; `nil` if it is not decoded yet.
  /// - Throws: ``ImageError``: `.noSuchFrame`.
  @discardableResult
  public func seek(to index: Int) throws(ImageError) -> Bitmap? {
    guard (0..<image.frameCount).contains(index) else { throw .noSuchFrame(index, of: image.info) }
    (isFinished, hasBegun) = (false, true)
    defer { didSeek() }
    if let frame = image.cachedFrame(at: index) {
      progress = 0
      show(index, frame)
      return frame
    }
    pending = index
    if let number { image.store.move(number, to: index) }
    return nil
  }

  /// Tells the player the time.
  ///
  /// Complexity: O(frames that were due), at most two for each of the animation.
  ///
  /// - Parameter time: The time of the owner's clock, which only moves forward; its origin is arbitrary.
  /// - Returns: The pixels to show; `nil` if the frame that is shown is still the right one.
  public func advance(to time: Duration) -> Bitmap? {
    guard isPlaying else { return nil }
    defer { last = time }
    forgetLostFrame()
    if let pending {
      guard let frame = image.cachedFrame(at: pending) else {
        if let number { image.store.move(number, to: pending) }
        return nil
      }
      progress = 0
      show(pending, frame)
      return frame
    }
    guard let last else { return nil }
    if !isDue {
      let speed = rate.isFinite && rate > 0 ? rate : 0
      let remaining = max(0, image.delays[frameIndex] - progress)
      // Time without a viewer does not count.
      progress += min(max(0, (time - last) / .seconds(1)) * speed, remaining + speed)
    }
    let shown = frameIndex
    if showDueFrames() {
      skipLoops()
      _ = showDueFrames()
    }
    guard frameIndex != shown else { return nil }
    return bitmap
  }

  /// The time until the next frame is due, by the owner's clock; zero if it is due and not decoded yet, and a tenth of a
  /// second if it has not arrived yet.
  ///
  /// `nil` while the animation does not play, or its time stands still. At most a billion seconds.
  public var timeToNextFrame: Duration? {
    guard isPlaying, rate.isFinite, rate > 0 else { return nil }
    // A frame that was sought is due.
    guard pending == nil else { return .zero }
    if isDue, awaitsArrival { return Self.arrivalInterval }
    return .seconds(min(1e9, max(0, image.delays[frameIndex] - progress) / rate))
  }

  /// The time after which it looks again whether a frame has arrived.
  private static let arrivalInterval = Duration.milliseconds(100)

  /// True if the next frame has not arrived yet.
  private var awaitsArrival: Bool {
    // In this order, since the last bytes end the arrival.
    image.isArriving && frameIndex + 1 >= image.frameCount
  }

  /// Goes on with the frame that is shown, if the frame that was sought is missing from the file.
  private func forgetLostFrame() {
    guard let index = pending, index >= image.frameCount else { return }
    pending = nil
    if let number { image.store.move(number, to: frameIndex) }
  }

  /// Shows the frames that are due, no more than one loop of them; returns `true` if there are others.
  private func showDueFrames() -> Bool {
    for _ in 0..<image.frameCount {
      guard isDue, step() else { return false }
    }
    return isDue
  }

  /// Takes whole loops off the time that is left, all of whose frames are there, but not the last loop of all.
  private func skipLoops() {
    let duration = image.delays.prefix(image.frameCount).reduce(0, +)
    let rest = loopCount > 0 ? Double(max(0, loopCount - completedLoops - 1)) : .infinity
    let loops = min((progress / duration).rounded(.down), rest)
    progress = loops < rest ? progress.truncatingRemainder(dividingBy: duration) : progress - loops * duration
    // Loops too short to watch are not counted to the end.
    if loopCount > 0 || completedLoops < 1 << 53 { completedLoops += Int(min(loops, 0x1p53)) }
  }

  /// Shows the next frame, whose time has come; returns `false` if there is none yet, or no more.
  private func step() -> Bool {
    guard !awaitsArrival else {
      progress = image.delays[frameIndex]
      return false
    }
    let isLast = frameIndex + 1 >= image.frameCount
    if isLast, loopCount > 0, completedLoops + 1 >= loopCount {
      completedLoops += 1
      isFinished = true
      pause()
      return false
    }
    let next = isLast ? 0 : frameIndex + 1
    guard let frame = image.cachedFrame(at: next) else {
      // Its time begins when it is there.
      progress = image.delays[frameIndex]
      if let number { image.store.move(number, to: frameIndex) }
      return false
    }
    if isLast { completedLoops += 1 }
    progress -= image.delays[frameIndex]
    show(next, frame)
    return true
  }

  private func show(_ index: Int, _ frame: Bitmap) {
    (frameIndex, bitmap, pending) = (index, frame, nil)
    if let number { image.store.move(number, to: index) }
  }
}
