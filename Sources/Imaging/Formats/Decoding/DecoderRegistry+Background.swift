public import VitrineRuntime

/// Decoding or resizing in the background.
///
/// Releasing the task does not cancel it.
public final class DecodeTask: Sendable {
  private let stop: @Sendable () -> Void

  fileprivate init(stop: @escaping @Sendable () -> Void) {
    self.stop = stop
  }

  /// Cancels the work: the caller gets ``ImageError/Code/cancelled``, unless the result was ready before.
  ///
  /// Returns at once. Running work stops within a few rows.
  public func cancel() { stop() }
}

extension DecoderRegistry {
  /// Decodes on a background thread; see ``decode(_:_:)``.
  ///
  /// Returns at once. At most as many images as there are cores are decoded at a time, in the order of the calls.
  ///
  /// - Parameters:
  ///   - data: The encoded image.
  ///   - options: The options for decoding; ``DecodeOptions/isCancelled`` is called too.
  ///   - completion: Called once, on any thread.
  /// - Returns: The task, for cancelling; may be discarded.
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

  /// Decodes on a background thread without blocking the caller's; see ``decode(_:_:)``.
  ///
  /// Cancelling the awaiting task stops decoding.
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
  /// Decodes a thumbnail on a background thread; see ``init(decoding:size:)``.
  ///
  /// The result is fully decoded: a bitmap never decodes when it is shown, so it needs no further preparation.
  ///
  /// - Parameters:
  ///   - data: The encoded image.
  ///   - size: The requested size. Defaults to `nil`: the image's own size.
  ///   - completion: Called once, on any thread.
  /// - Returns: The task, for cancelling; may be discarded.
  @discardableResult
  public static func decode(
    _ data: Data,
    size: TargetSize? = nil,
    completion: @escaping @Sendable (Result<Bitmap, ImageError>) -> Void,
  ) -> DecodeTask {
    DecoderRegistry.standard.decode(data, DecodeOptions(size: size)) { completion($0.map(\.bitmap)) }
  }

  /// Decodes a thumbnail on a background thread without blocking the caller's.
  ///
  /// Cancelling the awaiting task stops decoding.
  ///
  /// - Throws: ``ImageError``, as ``DecoderRegistry/decode(_:_:)``.
  public static func byDecoding(_ data: Data, size: TargetSize? = nil) async throws(ImageError) -> Bitmap {
    try await DecoderRegistry.standard.byDecoding(data, DecodeOptions(size: size)).bitmap
  }

  /// Resizes on a background thread.
  ///
  /// Returns at once.
  ///
  /// See ``resized(to:filter:usesLinearLight:limits:isCancelled:)``.
  ///
  /// - Parameters:
  ///   - size: The size of the result.
  ///   - limits: The limits. Defaults to ``DecodeLimits``' defaults.
  ///   - completion: Called once, on any thread.
  /// - Returns: The task, for cancelling; may be discarded.
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

  /// Resizes on a background thread without blocking the caller's.
  ///
  /// See ``resized(to:filter:usesLinearLight:limits:isCancelled:)``. Cancelling the awaiting task stops resizing.
  ///
  /// - Throws: ``ImageError`` of code `.invalidSize`, `.overLimit`, `.outOfTime` or `.cancelled`.
  public func byResizing(
    to size: TargetSize,
    limits: DecodeLimits = DecodeLimits(),
  ) async throws(ImageError) -> Bitmap {
    try await BackgroundWork.run { completion in self.resize(to: size, limits: limits, completion: completion) }
  }
}

/// Blocking work on threads reserved for it; each item gives exactly one answer.
enum BackgroundWork {
  private static let queue = WorkQueue(
    label: "vitrine.imaging",
    width: CoreBudget.machine.count,
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
      // Exactly one answer: an item that cancel() removes from the queue never runs.
      return DecodeTask { if item.cancel() { completion(.failure(cancelled)) } }
    } catch {
      completion(.failure(ImageError(.overLimit, "no thread could be started for decoding: \(error)")))
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
