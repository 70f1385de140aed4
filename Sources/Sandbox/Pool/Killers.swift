import VitrineImaging
import VitrineRuntime

/// The files that ended a worker, remembered for a while.
struct Killers: Sendable {
  private struct Entry {
    let error: ImageError
    /// The time limit after which the worker was killed; `nil` if it ended itself.
    let timeLimit: Duration?
    let expiry: ContinuousClock.Instant
  }

  private static let limit = 1000

  private let lifetime: Duration
  // The keys cannot be foreseen: they are hashes with a secret of this process.
  private let entries = Lock<[Int: Entry]>([:])

  init(lifetime: Duration) { self.lifetime = lifetime }

  /// Returns the error of a file that is remembered, if it would happen again.
  func error(of input: DecodeInput, timeLimit: Duration?) -> ImageError? {
    guard entries.withLock({ !$0.isEmpty }) else { return nil }
    let key = unsafe Self.key(input)
    let now = ContinuousClock.now
    return entries.withLock { entries in
      guard let entry = entries[key] else { return nil }
      guard entry.expiry > now else {
        entries[key] = nil
        return nil
      }
      // It may have been stopped by a limit that is stricter than this one.
      if let known = entry.timeLimit, timeLimit.map({ $0 > known }) ?? true { return nil }
      return entry.error
    }
  }

  func remember(_ input: DecodeInput, _ error: ImageError, timeLimit: Duration?) {
    guard lifetime > .zero else { return }
    let key = unsafe Self.key(input)
    let now = ContinuousClock.now
    entries.withLock { entries in
      if entries.count >= Self.limit { entries = entries.filter { $0.value.expiry > now } }
      if entries.count >= Self.limit, let oldest = entries.min(by: { $0.value.expiry < $1.value.expiry }) {
        entries[oldest.key] = nil
      }
      entries[key] = Entry(error: error, timeLimit: timeLimit, expiry: now + lifetime)
    }
  }

  private static func key(_ input: DecodeInput) -> Int {
    var hasher = Hasher()
    switch unsafe input {
    case .bytes(let bytes):
      hasher.combine(bytes.count)
      // Only read.
      unsafe hasher.combine(bytes: bytes)
    case .file(let file): hasher.combine(file.identity)
    }
    return hasher.finalize()
  }
}
