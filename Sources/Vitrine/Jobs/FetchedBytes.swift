import VitrineCaching
import VitrineRuntime

/// Bytes, as a fetch gives them.
struct FetchedBytes: Sendable {
  let data: Data
  /// Tells these bytes apart from other versions of the same image.
  let contentID: ContentID
  let validity: Validity
  let origin: ImageResponse.Origin
  let isStale: Bool
  /// Whether they are stale and may be served, but their server has to be asked meanwhile.
  var isRevalidationDue = false
  let status: Int?
  /// Called when the bytes have proved to be an image (and stored then), or not (and dropped from the cache).
  let verdict: Verdict?
}

/// What becomes of fetched bytes once somebody has looked at them.
///
/// The first word on what they are counts. That they are to be stored may be said later, by another who wants them.
final class Verdict: Sendable {
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
  private let act: @Sendable (Word) -> Void

  init(_ act: @escaping @Sendable (Word) -> Void) {
    self.act = act
  }

  /// Says whether they are what was asked for and, if so, whether they are to be kept.
  func callAsFunction(_ isWanted: Bool, keeps: Bool = true) {
    let (first, isKept) = state.withLock { state -> (Word?, Bool) in
      let first: Word? = state.isGood == nil ? (isWanted ? .good(isKept: keeps) : .bad) : nil
      state.isGood = state.isGood ?? isWanted
      guard isWanted, keeps, state.isGood == true, !state.isKept else { return (first, false) }
      state.isKept = true
      return (first, true)
    }
    if let first { act(first) }
    if isKept { act(.keep) }
  }
}

extension FetchedBytes {
  /// The beginning of a body that could be gone on with; `nil` where it could not.
  init?(_ data: Data, beginning head: BodySink.Head, at now: Date) {
    let stored = head.stored
    guard let contentID = head.partial.beginningID else { return nil }
    self.init(
      data: data,
      contentID: contentID,
      validity: Validity(of: stored, at: now),
      origin: .network,
      isStale: false,
      status: stored.status,
      verdict: nil,
    )
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
