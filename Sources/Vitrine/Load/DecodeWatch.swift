import VitrineImaging
import VitrineRuntime

/// Finds the decodes that do not come back after their time limit, and keeps them from holding up the others.
///
/// A foreign library cannot be stopped from another thread. So its caller gets an error, the queue gets another thread
/// in place of the stuck one, and further images of the format fail until that thread returns.
final class DecodeWatch: Sendable {
  private struct State {
    var isStuck = false
    var hasEnded = false
    var format: ImageFormat?
    var alarm: ScheduledAction?
  }

  /// The time after its limit for which a decode may still reach its next check.
  static let grace = Duration.seconds(5)

  private let clock: any TimeSource
  private let timeLimit: Duration?
  private let feed: EventFeed?
  /// The number of stuck threads for each format.
  private let stuck = Lock<[ImageFormat: Int]>([:])

  init(_ configuration: PipelineConfiguration, _ feed: EventFeed?) {
    clock = configuration.clock
    timeLimit = configuration.decodeLimits.timeLimit
    self.feed = feed
  }

  /// Runs a decode on the calling thread.
  ///
  /// `format` returns the format of the bytes, and may run a user's code. `onStuck` is called on another thread if the
  /// decode does not come back. Throws the error of `body`; `.outOfTime` if the format is stuck, and `.cancelled` if
  /// `onStuck` was called.
  func run<Output>(
    _ item: WorkItem?,
    _ share: MemoryShare,
    format: () -> ImageFormat?,
    onStuck: @escaping @Sendable (ImageError) -> Void,
    _ body: () throws(ImageError) -> Output,
  ) throws(ImageError) -> Output {
    defer { share.release() }
    guard let timeLimit, let item else { return try body() }
    let state = Lock(State())
    setAlarm(timeLimit + Self.grace, state, item, share, onStuck)
    let result: Result<Output, ImageError>
    do throws(ImageError) {
      let format = format()
      state.withLock { $0.format = format }
      if let format, isStuck(format) {
        throw ImageError(
          .outOfTime,
          format: format,
          limit: .timeLimit,
          "\(format) images cannot be decoded now: the decoder of one of them has not returned",
        )
      }
      result = .success(try body())
    } catch {
      result = .failure(error)
    }
    let end = state.withLock { state in
      state.hasEnded = true
      return state
    }
    end.alarm?.cancel()
    guard end.isStuck else { return try result.get() }
    if let format = end.format { count(format, -1) }
    throw ImageError(.cancelled, "cancelled")
  }

  private func isStuck(_ format: ImageFormat) -> Bool { stuck.withLock { $0[format] != nil } }

  private func count(_ format: ImageFormat, _ change: Int) {
    stuck.withLock { stuck in
      let count = (stuck[format] ?? 0) + change
      stuck[format] = count > 0 ? count : nil
    }
  }

  private func setAlarm(
    _ delay: Duration,
    _ state: Lock<State>,
    _ item: WorkItem,
    _ share: MemoryShare,
    _ onStuck: @escaping @Sendable (ImageError) -> Void,
  ) {
    let alarm = clock.schedule(after: delay) { [self] in
      // The time of a decode begins when it has its memory.
      guard !share.isWaiting else { return setAlarm(delay, state, item, share, onStuck) }
      let (isStuck, format) = state.withLock { state in
        if !state.hasEnded { state.isStuck = true }
        // Counted before the decode can see that it is stuck.
        if state.isStuck, let format = state.format { count(format, 1) }
        return (state.isStuck, state.format)
      }
      guard isStuck else { return }
      item.abandon()
      share.release()
      let name = format.map { "\($0)" } ?? "image"
      feed?.decodeIsStuck(name)
      onStuck(
        ImageError(.outOfTime, format: format, limit: .timeLimit, "the \(name) decoder has not returned in \(delay)")
      )
    }
    let isLate = state.withLock { state in
      state.alarm = alarm
      return state.hasEnded
    }
    if isLate { alarm.cancel() }
  }
}
