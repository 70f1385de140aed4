public import VitrineRuntime

/// Takes a body for a cache piece by piece, whatever its length, and holds little of it in memory.
///
/// ```swift
/// let writer = await cache.bodyWriter(for: key)
/// for try await chunk in download {
///   guard await writer.append(chunk) else { break }
/// }
/// await writer.seal(stored: .now)
/// ```
///
/// Nobody finds the body before it is sealed, and one that is dropped, or released without being sealed, leaves nothing
/// behind. A body of up to 256 KB costs what storing it at once would cost.
public final class BodyWriter: Sendable {
  struct State {
    var isOver = false
    /// What is not handed to the thread that writes.
    var buffer = Data()
    var hasStarted: Bool
    /// What is handed over and not written.
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

  deinit {
    let mustDrop = state.withLock { !$0.isOver && $0.hasStarted }
    guard mustDrop else { return }
    _ = cache.enqueue { [stream, writer = cache.writer] in writer.drop(stream) }
  }

  /// Takes the next bytes; waits while more than a megabyte is still to be written.
  ///
  /// - Returns: Whether to go on. Not when the body is over, outgrew a quarter of the cache's limit, or the disk refuses.
  @discardableResult
  public func append(_ bytes: Data) async -> Bool {
    let room = Deferred<Void>()
    if !offer(bytes, whenThereIsRoom: { room.resolve(()) }) { await room.value() }
    return !stream.hasFailed && !state.withLock { $0.isOver }
  }

  /// Takes the next bytes without waiting.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - resume: Called once, on another thread, when there is room again; only if this returns false.
  /// - Returns: Whether there is room for more. The bytes are taken in any case.
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

  /// Has the cache keep the body from now on, in place of an older entry of its key.
  ///
  /// - Parameters:
  ///   - kind: What the bytes are; an original by default.
  ///   - metadata: A few bytes more; none by default.
  ///   - contentID: What the bytes are known by; by default what ``ContentID/init(of:)`` makes of them.
  ///   - expires: Until when they are fresh; for ever by default.
  ///   - stored: When they were stored.
  /// - Returns: What the bytes are known by; `nil` if they are not kept. They can be read as soon as this returns.
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
      // It would have replaced what there is.
      await cache.remove(key)
      return nil
    }
  }

  /// Keeps what has come so far, for somebody to go on from it.
  ///
  /// - Returns: Whether it is kept: not if it is less than 16 KB, or was not begun as a partial body.
  @discardableResult
  package func keep() async -> Bool {
    guard let end = takeEnd() else { return false }
    let stream = stream
    return await cache.onWriter { $0.keep(stream, end.rest) } ?? false
  }

  /// Forgets what has come so far; an older entry of the key stays.
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
