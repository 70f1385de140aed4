import VitrineCaching
import VitrineRuntime

/// Has the disk take a body down while it comes, so that a download that breaks off, or whose process ends, can go on.
///
/// The body itself stays with the one who receives it. What the disk is too slow for waits there and not here.
final class BodyRecording: Sendable {
  private struct State {
    var writer: BodyWriter?
    /// How many bytes of the body the writer has.
    var written: Int
    /// Whether the writer has enough to do.
    var isBusy = false
  }

  /// As much at once costs the writer no copy.
  private static let pieceSize = 256 << 10

  private let state: Lock<State>
  private let opening: Task<BodyWriter?, Never>
  /// Whether the entry may be made of what was taken down; if not it is stored like any other.
  private let seals: Bool

  /// Begins a body, or goes on after what `resumption` has of it.
  init(
    _ head: PartialHead,
    for key: CacheKey,
    in partials: Partials,
    after resumption: Resumption?,
    _ executor: (any TaskExecutor)?,
  ) {
    let state = Lock(State(written: resumption?.partial.count ?? 0))
    (self.state, seals) = (state, partials.isWholeCache)
    opening = Task(executorPreference: executor) { [disk = partials.disk] in
      let writer = await disk.partialWriter(for: key, metadata: head.encoded, after: resumption?.partial)
      state.withLock { $0.writer = writer }
      return writer
    }
  }

  /// Takes note of the body as far as it has come; called by one thread at a time.
  func follow(_ body: Data) {
    let next = state.withLock { state -> (BodyWriter, Range<Int>)? in
      guard let writer = state.writer, !state.isBusy, body.count - state.written >= Self.pieceSize else { return nil }
      defer { (state.written, state.isBusy) = (body.count, true) }
      return (writer, state.written..<body.count)
    }
    guard let (writer, range) = next else { return }
    // A copy: with a slice of the body it would be copied whole when it grows.
    let hasRoom = writer.offer(body.subdata(in: range)) { [state] in state.withLock { $0.isBusy = false } }
    if hasRoom { state.withLock { $0.isBusy = false } }
  }

  /// Leaves what has come for a later download.
  func keep(_ body: Data) async {
    guard let writer = await finishedWriter(body) else { return }
    await writer.keep()
  }

  /// Forgets what has come.
  func drop() async { await opening.value?.drop() }

  /// Makes an entry of the whole body.
  ///
  /// - Returns: Whether that was tried: the entry is to be stored otherwise if not.
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

  /// The writer once it has all of the body; `nil` where there is none.
  private func finishedWriter(_ body: Data) async -> BodyWriter? {
    guard let writer = await opening.value else { return nil }
    let written = state.withLock { state in
      defer { state.written = body.count }
      return state.written
    }
    if written < body.count { await writer.append(body.subdata(in: written..<body.count)) }
    return writer
  }
}

/// Where the beginnings of bodies are kept.
struct Partials: Sendable {
  let disk: any PartialStoring
  /// Whether what is stored there need not be stored elsewhere, too.
  let isWholeCache: Bool

  /// `nil` where a cache keeps none.
  init?(in cache: (any DataCaching)?) {
    if let disk = cache as? any PartialStoring {
      (self.disk, isWholeCache) = (disk, true)
    } else if let disk = (cache as? DataCacheList)?.partialStoring {
      (self.disk, isWholeCache) = (disk, false)
    } else {
      return nil
    }
  }
}
