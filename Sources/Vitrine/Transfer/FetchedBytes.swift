import Synchronization
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

extension ImageResponse {
  /// An image of bytes, served as they were.
  init(_ image: LoadedImage, from bytes: FetchedBytes) {
    self.init(image, from: bytes.origin, isStale: bytes.isStale, isRevalidationDue: bytes.isRevalidationDue)
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

  private static let (good, bad, kept): (UInt8, UInt8, UInt8) = (1, 2, 3)

  /// What has been said so far, 0 for nothing.
  private let word = Atomic<UInt8>(0)
  private let settle: @Sendable (Word) -> Void

  init(_ settle: @escaping @Sendable (Word) -> Void) { self.settle = settle }

  /// Says that they are what was asked for, and whether they are to be kept.
  func accept(keeps: Bool = true) {
    if say(Self.good, after: 0) { settle(.good(isKept: keeps)) }
    if keeps, say(Self.kept, after: Self.good) { settle(.keep) }
  }

  /// Says that they are not what was asked for.
  func reject() {
    if say(Self.bad, after: 0) { settle(.bad) }
  }

  private func say(_ next: UInt8, after last: UInt8) -> Bool {
    word.compareExchange(expected: last, desired: next, ordering: .acquiringAndReleasing).exchanged
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
