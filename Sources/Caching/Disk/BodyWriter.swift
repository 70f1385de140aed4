public import VitrineRuntime

/// A writer that streams a body of any length into a cache and holds little of it in memory.
///
/// ```swift
/// let writer = await cache.bodyWriter(for: key)
/// for try await chunk in download {
///   guard await writer.append(chunk) else { break }
/// }
/// await writer.seal(stored: .now)
/// ```
///
/// No look-up finds the body before it is sealed. A body that is dropped, or released without being sealed, leaves
/// nothing behind. A body of up to 256 KB costs as much as storing it in one call.
public final class BodyWriter: Sendable {
  struct State {
    var isOver = false
    /// The bytes not yet handed to the writing thread.
    var buffer = Data()
    var hasStarted: Bool
    /// The number of bytes handed over and not yet written.
    var queued = 0
    var waiting: [@Sendable () -> Void] = []
  }

  static let pieceSize = 256 << 10
  private static let queueLimit = 1 << 20

  private let cache: DiskCache
  private let key: CacheKey
  private let hash: KeyHash
  private let stream: StreamedBody
  private let state: Lock<State>

  init(_ cache: DiskCache, _ key: CacheKey, _ hash: KeyHash, _ stream: StreamedBody, hasStarted: Bool) {
    (self.cache, self.key, self.hash, self.stream) = (cache, key, hash, stream)
    state = Lock(State(hasStarted: hasStarted))
  }

  deinit { drop() }

  /// Appends bytes, and waits while more than a megabyte is yet to be written.
  ///
  /// - Returns: A Boolean value that indicates whether to continue. It is `false` once the body has ended, exceeds a
  ///   quarter of the cache's limit, or cannot be written.
  @discardableResult
  public func append(_ bytes: Data) async -> Bool {
    let room = Deferred<Void>()
    if !offer(bytes, whenThereIsRoom: { room.resolve(()) }) { await room.value() }
    return !stream.hasFailed && !state.withLock { $0.isOver }
  }

  /// Appends bytes without waiting.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - resume: A closure that is called once, on another thread, when there is room again. It is not called if this
  ///     returns `true`.
  /// - Returns: A Boolean value that indicates whether there is room for more. The bytes are taken in any case.
  package func offer(_ bytes: Data, whenThereIsRoom resume: @escaping @Sendable () -> Void) -> Bool {
    let (piece, isFull) = state.withLock { state -> (Data?, Bool) in
      guard !state.isOver, !stream.hasFailed else { return (nil, false) }
      if state.buffer.isEmpty, bytes.count >= Self.pieceSize {
        state.buffer = bytes
      } else {
        state.buffer.append(bytes)
      }
      guard state.buffer.count >= Self.pieceSize else { return (nil, false) }
      let piece = state.buffer
      state.buffer = Data()
      state.hasStarted = true
      state.queued += piece.count
      let isFull = state.queued > Self.queueLimit
      if isFull { state.waiting.append(resume) }
      return (piece, isFull)
    }
    if let piece { hand(piece) }
    return !isFull
  }

  private func hand(_ piece: Data) {
    let isEnqueued = cache.enqueue { [self] in
      cache.writer.append(piece, to: stream)
      written(piece.count)
    }
    if !isEnqueued {
      stream.fail()
      written(piece.count)
    }
  }

  private func written(_ count: Int) {
    let waiting = state.withLock { state -> [@Sendable () -> Void] in
      state.queued -= count
      guard state.queued <= Self.queueLimit / 2 else { return [] }
      defer { state.waiting.removeAll() }
      return state.waiting
    }
    for resume in waiting { resume() }
  }

  // MARK: - The end

  /// Stores the body in the cache and replaces an older entry of its key.
  ///
  /// - Parameters:
  ///   - kind: The kind of the bytes. Defaults to ``CachedData/Kind/original``.
  ///   - metadata: The owner's own bytes. Defaults to none.
  ///   - contentID: The identity of the bytes. Defaults to `nil`, which computes ``ContentID/init(of:)``.
  ///   - expires: The time at which the entry expires. Defaults to `nil`, never.
  ///   - stored: The time at which the entry was stored.
  /// - Returns: The identity of the bytes, or `nil` if they are not stored. They can be read as soon as this returns.
  @discardableResult
  public func seal(
    kind: CachedData.Kind = .original,
    metadata: Data = Data(),
    contentID: ContentID? = nil,
    expires: Date? = nil,
    stored: Date,
  ) async -> ContentID? {
    guard let end = takeEnd() else { return nil }
    var entry = CachedData(
      data: end.rest,
      kind: kind,
      metadata: metadata,
      contentID: contentID ?? ContentID(low: 0, high: 0),
      expires: expires,
      stored: stored,
    )
    var outcome = StreamedBody.End.small(end.rest)
    if end.hasStarted {
      let (stream, head) = (stream, entry)
      outcome = await cache.onWriter { $0.seal(stream, head, hasOwnID: contentID == nil) } ?? .refused
    }
    switch outcome {
    case .sealed(let contentID):
      return contentID
    case .small(let data):
      entry.data = data
      if contentID == nil { entry.contentID = ContentID(of: data) }
      await cache.store(entry, for: key)
      if stream.isPartial { await cache.removePartial(for: key) }
      return await cache.contains(key) ? entry.contentID : nil
    case .refused:
      // The older entry must not be served in place of the refused one.
      await cache.remove(key)
      return nil
    }
  }

  /// Keeps the bytes so far as a partial body, for a later download to resume.
  ///
  /// - Returns: A Boolean value that indicates whether they are kept. They are not if they are less than 16 KB, or if
  ///   the writer was not created for a partial body.
  @discardableResult
  package func keep() async -> Bool {
    guard let end = takeEnd() else { return false }
    let stream = stream
    return await cache.onWriter { $0.keep(stream, end.rest) } ?? false
  }

  /// Drops the bytes so far, but not an older entry of the key.
  public func drop() {
    guard let end = takeEnd(), end.hasStarted else { return }
    _ = cache.enqueue { [stream, writer = cache.writer] in writer.drop(stream) }
  }

  private func takeEnd() -> (rest: Data, hasStarted: Bool)? {
    state.withLock { state in
      guard !state.isOver else { return nil }
      state.isOver = true
      defer { state.buffer = Data() }
      return (state.buffer, state.hasStarted)
    }
  }
}
