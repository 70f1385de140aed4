import VitrineRuntime

/// A pause before another attempt at a frame, which doubles with each failure.
struct FrameStall {
  static let range = Duration.seconds(1)...(.seconds(64))

  let until: Duration
  let pause: Duration

  init(after former: FrameStall?, now: Duration) {
    pause = min(former.map { $0.pause * 2 } ?? Self.range.lowerBound, Self.range.upperBound)
    until = now + pause
  }
}

extension ImageError {
  /// True if the same frame may be decoded another time, or after another one: the error is no fact of the file.
  var mayPass: Bool { [.overLimit, .outOfTime, .decoderFailed, .cancelled].contains(code) }
}
