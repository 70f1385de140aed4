public import VitrineHTTP
public import VitrineRuntime

/// The outcome that a request would have at this moment, and why.
///
/// ```swift
/// print(await pipeline.explain(request))
/// // https://example.org/cat.jpg: from disk, nothing is asked of its server; it is decoded
/// //   policy: standard
/// //   in memory: no
/// //   on disk as it came: fresh for 58 s (max-age)
/// ```
public struct Explanation: Sendable {
  /// The state of one place.
  public enum Find: Sendable, Hashable {
    /// Not looked for: there is no such cache, or the request passes it by.
    case notAsked
    /// Nothing.
    case missing
    /// It may be served until then; for ever if `nil`.
    case fresh(until: Date?)
    /// Since then it may not be served without revalidation.
    case stale(since: Date)
    /// It is of no use, for this reason.
    case unusable(String)
  }

  /// The request to a server.
  public enum Transfer: Sendable, Hashable {
    /// Nothing.
    case none
    /// All of it.
    case full
    /// A conditional one: all of it, only if it has changed.
    case conditional
    /// The missing rest of it.
    case rest
    /// Any of those, while a stale image is served.
    case behind
  }

  /// Work of another request that this one would share.
  public enum Sharing: Sendable, Hashable {
    /// The image, after so many processors.
    case image(steps: Int)
    /// The bytes.
    case bytes
  }

  /// A width and a height in pixels.
  public struct Size: Sendable, Hashable {
    /// In pixels.
    public let width: Int
    /// In pixels.
    public let height: Int
  }

  /// The URL, path or id that would be loaded; of several sources the one that would be served.
  public let source: String
  /// The policy of the request: how fresh the answer must be.
  public let policy: CachePolicy

  /// The image itself, in memory.
  public internal(set) var memory = Find.notAsked
  /// The number of processors that the image in memory has been through; `nil` where it needs no more, or is not there.
  public internal(set) var stepsInMemory: Int?
  /// The size of a larger image in memory that this one would be made of; `nil` for none.
  public internal(set) var largerVariant: Size?
  /// The finished image on disk.
  public internal(set) var finished = Find.notAsked
  /// The original bytes on disk.
  public internal(set) var original = Find.notAsked
  /// The reason of the decision about the original bytes; `nil` where they are not needed.
  public internal(set) var reason: Freshness.Reason?
  /// The time until which what is stored may be served if the server fails; `nil` for not at all.
  public internal(set) var usableOnErrorUntil: Date?
  /// The number of bytes of a broken download on disk.
  public internal(set) var partialByteCount = 0
  /// The uses of existing caches that the request rules out; see ``ImageRequest/caches``.
  public internal(set) var unusedCaches = CacheAccess.none

  /// The work under way that would be shared; `nil` for none.
  public internal(set) var sharing: Sharing?
  /// The request to a server that this request itself would cause.
  public internal(set) var transfer = Transfer.none
  /// The origin of the image; `nil` where it fails, is shared, or depends on a server's answer.
  public internal(set) var origin: ImageResponse.Origin?
  /// A Boolean value that indicates whether a stale image would be served.
  public internal(set) var isStale = false
  /// A Boolean value that indicates whether bytes would be decoded; `nil` if only where they have changed.
  public internal(set) var decodes: Bool? = false
  /// The number of processors that would run; where ``decodes`` is `nil`, all of them if the bytes have changed.
  public internal(set) var processorCount = 0
  /// The reason for a failure; `nil` where none is foreseen.
  public internal(set) var failure: String?

  /// The number of interceptors, each of which may answer otherwise.
  public internal(set) var interceptorCount = 0

  /// The reason why the server would not be asked just now.
  var refusal: LoadError?
  /// Whether the caller's own look into memory would find it.
  var isHit = false
  let now: Date

  init(_ request: ImageRequest, now: Date) {
    (source, policy, self.now) = (request.name, request.cachePolicy, now)
  }
}

// MARK: - In words

extension Explanation: CustomStringConvertible {
  /// What would happen in the first line, then what there is, a place a line.
  public var description: String {
    var lines = ["\(source): \(conclusion)", "  policy: \(policy)"]
    func add(_ place: String, _ find: Find) {
      if let words = words(of: find) { lines.append("  \(place): \(words)") }
    }
    add("in memory", memory)
    if let stepsInMemory { lines.append("  in memory after \(Self.count(stepsInMemory, "processor")): yes") }
    if let larger = largerVariant { lines.append("  in memory, larger: \(larger.width)x\(larger.height)") }
    add("on disk as it is shown", finished)
    add("on disk as it came", original)
    if partialByteCount > 0 { lines.append("  on disk of a broken download: \(partialByteCount) bytes") }
    let ways: [(CacheAccess, String)] = [
      (.memoryReads, "in memory: not asked"), (.diskReads, "on disk: not asked"),
      (.memoryWrites, "kept in memory: no"), (.diskWrites, "kept on disk: no"),
    ]
    for (use, words) in ways where unusedCaches.contains(use) { lines.append("  \(words), the request says so") }
    if let refusal, failure == nil { lines.append("  its server is not asked: \(refusal.detail)") }
    if interceptorCount > 0 {
      lines.append("  \(Self.count(interceptorCount, "interceptor")) may make something else of it")
    }
    if let until = usableOnErrorUntil, transfer != .none {
      lines.append("  if its server cannot be reached: what is stored serves for \(span(until)) more")
    }
    return lines.joined(separator: "\n")
  }

  private var conclusion: String {
    if let failure { return "fails: \(failure)" }
    let bytes =
      switch (sharing, transfer) {
      case (.image, _): "waits for the same image, which is under way"
      case (.bytes, _): "waits for its bytes, which are under way"
      case (nil, .none): place
      case (nil, .behind): "\(place) although its time is over, and its server is asked behind it"
      case (nil, .full): "fetched from its server" + because
      case (nil, .conditional): "its server is asked whether it has changed" + because
      case (nil, .rest): "the rest of it is fetched from its server, after \(partialByteCount) bytes"
      }
    return bytes + work
  }

  private var place: String {
    let isLate = isStale && transfer == .none ? " although its time is over" : ""
    switch origin {
    case .memory: return (largerVariant == nil ? "from memory" : "made of a larger one in memory") + isLate
    case .disk: return "from disk" + isLate + (transfer == .none ? ", nothing is asked of its server" : "")
    case .local: return "read on this machine"
    case .revalidated, .network, nil: return "from its server"
    }
  }

  private var because: String { reason.map { " (\($0))" } ?? "" }

  private var work: String {
    let processors = processorCount > 0 ? "goes through \(Self.count(processorCount, "processor"))" : nil
    guard decodes != false else { return processors.map { "; it \($0)" } ?? "" }
    return (decodes == nil ? "; only if it has, it is decoded" : "; it is decoded")
      + (processors.map { " and \($0)" } ?? "")
  }

  private func words(of find: Find) -> String? {
    switch find {
    case .notAsked: nil
    case .missing: "no"
    case .fresh(nil): "fresh for ever"
    case .fresh(let until?) where until <= now: "fresh, as the policy has it; its time was over \(span(until)) ago"
    case .fresh(let until?): "fresh for \(span(until))"
    case .stale(let since): "stale since \(span(since))"
    case .unusable(let reason): "of no use: \(reason)"
    }
  }

  private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

  /// From now until then, or the other way round.
  private func span(_ date: Date) -> String {
    let seconds = Int(abs(date.timeIntervalSince(now)).rounded())
    return switch seconds {
    case ..<120: "\(seconds) s"
    case ..<7200: "\(seconds / 60) min"
    case ..<172_800: "\(seconds / 3600) h"
    default: "\(seconds / 86_400) days"
    }
  }
}
