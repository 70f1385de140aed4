import VitrineCaching
import VitrineRuntime

/// A writer of a body to disk during its transfer, so that an interrupted download can be resumed, even by another
/// process.
///
/// If no disk cache keeps partial downloads, an interrupted body is kept in memory instead.
///
/// The body itself stays with its receiver, which a slow disk does not delay.
final class BodyRecording: Sendable {
  private struct State {
    var writer: BodyWriter?
    /// The number of bytes that the writer has.
    var written: Int
    /// A Boolean value that indicates whether the writer has enough to do.
    var isBusy = false
  }

  /// The minimum number of bytes in a piece; the writer does not copy pieces of this size.
  private static let pieceSize = 256 << 10

  private let state: Lock<State>
  /// The task that opens the writer; `nil` in memory.
  private let opening: Task<BodyWriter?, Never>?
  /// The place in memory; `nil` on disk.
  private let memory: (store: PartialMemory, key: CacheKey, head: PartialHead)?
  /// A Boolean value that indicates whether the recording can become the entry.
  ///
  /// If `false`, the entry is stored like any other.
  private let seals: Bool

  /// Begins a recording, or continues the recording of `resumption`.
  init(
    _ head: PartialHead,
    for key: CacheKey,
    in partials: Partials,
    after resumption: Resumption?,
    _ executor: (any TaskExecutor)?,
  ) {
    let state = Lock(State(written: resumption?.count ?? 0))
    (self.state, seals) = (state, partials.isWholeCache)
    guard case .disk(let disk) = partials.store else {
      opening = nil
      memory = partials.memory.map { ($0, key, head) }
      // A body that grows must not be held twice.
      partials.memory?.remove(key)
      return
    }
    memory = nil
    opening = Task(executorPreference: executor) {
      let writer = await disk.partialWriter(for: key, metadata: head.encoded, after: resumption?.partial)
      state.withLock { $0.writer = writer }
      return writer
    }
  }

  /// Records the body so far; called by one thread at a time.
  func follow(_ body: Data) {
    let next = state.withLock { state -> (BodyWriter, Range<Int>)? in
      guard let writer = state.writer, !state.isBusy, body.count - state.written >= Self.pieceSize else { return nil }
      defer { (state.written, state.isBusy) = (body.count, true) }
      return (writer, state.written..<body.count)
    }
    guard let (writer, range) = next else { return }
    // The piece is a copy, since a slice would force the growing body to be copied whole.
    let hasRoom = writer.offer(body.subdata(in: range)) { [state] in state.withLock { $0.isBusy = false } }
    if hasRoom { state.withLock { $0.isBusy = false } }
  }

  /// Keeps the recording for a later download.
  func keep(_ body: Data, _ hash: ContentHash) async {
    if let memory { memory.store.keep(body, hash, memory.head, for: memory.key) }
    guard let writer = await finishedWriter(body) else { return }
    await writer.keep()
  }

  /// Drops the recording.
  func drop() async { await opening?.value?.drop() }

  /// Turns the recording of the whole body into an entry.
  ///
  /// - Returns: `true` if sealing was tried; if `false`, the entry must be stored another way.
  func seal(_ entry: CachedData) async -> Bool {
    guard seals else {
      await drop()
      return false
    }
    guard let writer = await finishedWriter(entry.data) else { return false }
    await writer.seal(
      kind: entry.kind,
      metadata: entry.metadata,
      contentID: entry.contentID,
      expires: entry.expires,
      stored: entry.stored,
    )
    return true
  }

  /// Returns the writer once it has the whole body; `nil` if there is none.
  private func finishedWriter(_ body: Data) async -> BodyWriter? {
    guard let writer = await opening?.value else { return nil }
    let written = state.withLock { state in
      defer { state.written = body.count }
      return state.written
    }
    if written < body.count { await writer.append(body.subdata(in: written..<body.count)) }
    return writer
  }
}
