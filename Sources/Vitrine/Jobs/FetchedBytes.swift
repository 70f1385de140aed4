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

/// What becomes of fetched bytes once somebody has looked at them; the first word counts.
final class Verdict: Sendable {
  private let isSpoken = Lock(false)
  private let act: @Sendable (Bool) -> Void

  init(_ act: @escaping @Sendable (_ isWanted: Bool) -> Void) {
    self.act = act
  }

  func callAsFunction(_ isWanted: Bool) {
    let isFirst = isSpoken.withLock { isSpoken in
      defer { isSpoken = true }
      return !isSpoken
    }
    if isFirst { act(isWanted) }
  }
}

extension ContentID {
  /// That of sources whose bytes are not told apart.
  static let none = ContentID(low: 0, high: 0)
}
