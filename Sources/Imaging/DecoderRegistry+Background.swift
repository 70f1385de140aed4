public import VitrineRuntime

/// Decoding or resizing that goes on elsewhere; letting go of it changes nothing.
public final class DecodeTask: Sendable {
  private let stop: @Sendable () -> Void

  fileprivate init(stop: @escaping @Sendable () -> Void) {
    self.stop = stop
  }

  /// Asks it to end: whoever waits gets ``ImageError/Code/cancelled``, unless the result was there before.
  ///
  /// Returns at once; what runs ends at its next few rows.
  public func cancel() { stop() }
}

extension DecoderRegistry {
  /// Decodes on a thread of its own; see ``decode(_:_:)``.
  ///
  /// Returns at once. As many images as there are cores are decoded at a time, in the order of the calls.
  ///
  /// - Parameters:
  ///   - data: The encoded image.
  ///   - options: How it is to be decoded; ``DecodeOptions/isCancelled`` is asked too.
  ///   - completion: Called once, on some thread.
  /// - Returns: What to cancel it with; may be dropped.
  @discardableResult
  public func decode(
    _ data: Data,
    _ options: DecodeOptions = DecodeOptions(),
    completion: @escaping @Sendable (Result<ImageContainer, ImageError>) -> Void,
  ) -> DecodeTask {
    BackgroundWork.start(options.isCancelled, completion) { (isCancelled) throws(ImageError) in
      var options = options
      options.isCancelled = isCancelled
      return try self.decode(data, options)
    }
  }

  /// Decodes on a thread of its own and waits for it, which blocks no one; see ``decode(_:_:)``.
  ///
  /// Cancelling the task that waits ends decoding.
  ///
  /// - Throws: ``ImageError``, as ``decode(_:_:)``.
  public func byDecoding(
    _ data: Data,
    _ options: DecodeOptions = DecodeOptions(),
  ) async throws(ImageError) -> ImageContainer {
    try await BackgroundWork.run { completion in self.decode(data, options, completion: completion) }
  }
}

extension Bitmap {
  /// Makes a thumbnail of encoded bytes on a thread of its own; see ``init(decoding:size:)``.
  ///
  /// What comes is decoded: a bitmap never decodes when it is shown, so there is nothing else to prepare.
  ///
  /// - Parameters:
  ///   - data: The encoded image.
  ///   - size: The size wanted; its own by default.
  ///   - completion: Called once, on some thread.
  /// - Returns: What to cancel it with; may be dropped.
  @discardableResult
  public static func decode(
    _ data: Data,
    size: TargetSize? = nil,
    completion: @escaping @Sendable (Result<Bitmap, ImageError>) -> Void,
  ) -> DecodeTask {
    DecoderRegistry.standard.decode(data, DecodeOptions(size: size)) { completion($0.map(\.bitmap)) }
  }

  /// Makes a thumbnail of encoded bytes on a thread of its own and waits for it, which blocks no one.
  ///
  /// Cancelling the task that waits ends decoding.
  ///
  /// - Throws: ``ImageError``, as ``DecoderRegistry/decode(_:_:)``.
  public static func byDecoding(_ data: Data, size: TargetSize? = nil) async throws(ImageError) -> Bitmap {
    try await DecoderRegistry.standard.byDecoding(data, DecodeOptions(size: size)).bitmap
  }

  /// Resizes on a thread of its own.
  ///
  /// See ``resized(to:filter:usesLinearLight:limits:isCancelled:)``.
  ///
  /// - Parameters:
  ///   - size: The size wanted.
  ///   - limits: The bounds to keep.
  ///   - completion: Called once, on some thread.
  /// - Returns: What to cancel it with; may be dropped.
  @discardableResult
  public func resize(
    to size: TargetSize,
    limits: DecodeLimits = DecodeLimits(),
    completion: @escaping @Sendable (Result<Bitmap, ImageError>) -> Void,
  ) -> DecodeTask {
    BackgroundWork.start(nil, completion) { (isCancelled) throws(ImageError) in
      try self.resized(to: size, limits: limits, isCancelled: isCancelled)
    }
  }

  /// Resizes on a thread of its own and waits for it, which blocks no one.
  ///
  /// See ``resized(to:filter:usesLinearLight:limits:isCancelled:)``.
  ///
  /// Cancelling the task that waits ends resizing.
  ///
  /// - Throws: ``ImageError`` of code `.invalidSize`, `.overLimit`, `.cancelled`.
  public func byResizing(
    to size: TargetSize,
    limits: DecodeLimits = DecodeLimits(),
  ) async throws(ImageError) -> Bitmap {
    try await BackgroundWork.run { completion in self.resize(to: size, limits: limits, completion: completion) }
  }
}

/// Blocking work on threads that are nobody else's, with one answer whatever happens.
private enum BackgroundWork {
  private static let queue = WorkQueue(
    label: "vitrine.imaging",
    width: max(1, ProcessInfo.processInfo.activeProcessorCount),
  )
  private static let cancelled = ImageError(.cancelled, "cancelled")

  static func start<Value: Sendable>(
    _ isCancelled: (@Sendable () -> Bool)?,
    _ completion: @escaping @Sendable (Result<Value, ImageError>) -> Void,
    _ work: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws(ImageError) -> Value,
  ) -> DecodeTask {
    do throws(WorkQueueError) {
      let item = try queue.enqueue { item in
        let result: Result<Value, ImageError>
        do throws(ImageError) {
          result = .success(try work { item.isCancelled || isCancelled?() == true })
        } catch {
          result = .failure(error)
        }
        completion(result)
      }
      // Only one of the two answers: an item that cancel() takes out of the queue never runs.
      return DecodeTask { if item.cancel() { completion(.failure(cancelled)) } }
    } catch {
      completion(.failure(ImageError(.overLimit, "no thread to decode on: \(error)")))
      return DecodeTask {}
    }
  }

  static func run<Value: Sendable>(
    _ start: (_ completion: @escaping @Sendable (Result<Value, ImageError>) -> Void) -> DecodeTask
  ) async throws(ImageError) -> Value {
    let outcome = Deferred<Result<Value, ImageError>>()
    guard !Task.isCancelled else { throw cancelled }
    let task = start { outcome.resolve($0) }
    let result = await withTaskCancellationHandler {
      await outcome.value()
    } onCancel: {
      task.cancel()
    }
    return try result.get()
  }
}
