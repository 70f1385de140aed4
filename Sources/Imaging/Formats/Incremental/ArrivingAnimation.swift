import VitrineRuntime

/// The animation of a file that is still loading: the first preview with two frames begins it, later bytes extend it, and
/// the whole file completes it.
///
/// If the file never comes whole, the animation plays what has come: it ends with the last reference to this.
package final class ArrivingAnimation: Sendable {
  private let animation = Lock<AnimatedImage?>(nil)

  init() {}

  deinit { animation.withLock { $0 }?.endArrival() }

  /// Begins the animation, or extends it.
  ///
  /// - Returns: The preview with which it begins; `nil` if it is extended, which its players find by themselves.
  func take(
    _ pending: PendingPreview,
    frameCount: Int,
    _ job: DecodeJob,
    _ options: DecodeOptions,
  ) throws(ImageError) -> ImagePreview? {
    if let known = animation.withLock({ $0 }) {
      try known.extend(to: pending.data, arrived: frameCount, options.limits, pending.decoders)
      return nil
    }
    let began = try AnimatedImage(pending.data, options, job, decoders: pending.decoders, arrived: frameCount)
    animation.withLock { $0 = began }
    return ImagePreview(
      bitmap: began.poster,
      info: began.info,
      detail: .whole,
      byteCount: pending.data.count,
      animation: began,
    )
  }

  /// Returns the animation with the whole file; `nil` if none has begun, or the file is another.
  func completed(with data: Data, _ limits: DecodeLimits, _ decoders: DecoderRegistry) -> AnimatedImage? {
    guard let known = animation.withLock({ $0 }) else { return nil }
    let isCompleted = try? known.extend(to: data, arrived: nil, limits, decoders)
    return isCompleted == true ? known : nil
  }
}
