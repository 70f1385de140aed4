import VitrineCaching
import VitrineRuntime

/// Bytes, as a fetch gives them.
struct FetchedBytes: Sendable {
  let data: Data
  /// Tells these bytes apart from other versions of the same image.
  let contentID: ContentID
  let validity: Validity
  let origin: ImageResponse.Origin
  var isStale = false
  /// Whether they are stale and may be served, but their server has to be asked meanwhile.
  var isRevalidationDue = false
  let status: Int?
  /// Told whether the bytes have proved to be what was asked for; `nil` for those that nothing is to be done about.
  var answer: Answer?
}

extension FetchedBytes {
  /// Bytes of a source that needs no network.
  init(local data: Data) {
    self.init(data: data, contentID: .none, validity: .unlimited, origin: .local, status: nil)
  }

  /// The beginning of a body that could be gone on with; `nil` where it could not.
  init?(_ data: Data, beginning head: BodySink.Head, at now: Date) {
    let stored = head.stored
    guard let contentID = head.partial.beginningID else { return nil }
    self.init(
      data: data,
      contentID: contentID,
      validity: Validity(of: stored, at: now),
      origin: .network,
      status: stored.status,
    )
  }
}

/// Bytes that wait for somebody to say whether they are what was asked for.
///
/// The first word on what they are counts. That they are to be stored may be said later, by another who wants them. Not to be
/// called within a turn: what follows takes locks of the caches.
final class Answer: Sendable {
  enum Word: Sendable, Equatable {
    /// They are what was asked for, and kept by who says so or not.
    case good(isKept: Bool)
    /// They are not.
    case bad
    /// They are to be kept.
    case keep
  }

  private struct State {
    var isGood: Bool?
    var isKept = false
  }

  private let state = Lock(State())
  private let settle: @Sendable (Word) -> Void

  init(_ settle: @escaping @Sendable (Word) -> Void) { self.settle = settle }

  /// Says that they are what was asked for, and whether they are to be kept.
  func accept(keeps: Bool = true) {
    let (first, isKept) = state.withLock { state -> (Word?, Bool) in
      let first: Word? = state.isGood == nil ? .good(isKept: keeps) : nil
      state.isGood = state.isGood ?? true
      guard keeps, state.isGood == true, !state.isKept else { return (first, false) }
      state.isKept = true
      return (first, true)
    }
    if let first { settle(first) }
    if isKept { settle(.keep) }
  }

  /// Says that they are not what was asked for.
  func reject() {
    let isFirst = state.withLock { state in
      defer { state.isGood = state.isGood ?? false }
      return state.isGood == nil
    }
    if isFirst { settle(.bad) }
  }
}

extension ContentID {
  /// Whether it names what is known by its beginning alone, whose checksum nobody has.
  var isOfBeginning: Bool { high == Self.beginningMark }

  /// That of a body of which no more than the beginning was read.
  init(ofBodyTagged tag: String) { self.init(low: Self(of: Data(tag.utf8)).low, high: Self.beginningMark) }

  /// No checksum ends like this, but for one in 2^64.
  private static let beginningMark = UInt64.max

  /// That of sources whose bytes are not told apart.
  static let none = ContentID(low: 0, high: 0)
}
