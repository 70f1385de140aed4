public import VitrineHTTP
public import VitrineRuntime

/// What would come of a request at this moment, and why.
///
/// ```swift
/// print(await pipeline.explain(request))
/// // https://example.org/cat.jpg: from disk, nothing is asked of its server; it is decoded
/// //   policy: standard
/// //   in memory: no
/// //   on disk as it came: fresh for 58 s (max-age)
/// ```
public struct Explanation: Sendable {
  /// What is in one place.
  public enum Find: Sendable, Hashable {
    /// Not looked for: there is no such cache, or the request passes it by.
    case notAsked
    /// Nothing.
    case missing
    /// What may be served until then; for ever if `nil`.
    case fresh(until: Date?)
    /// What may not be served any more without asking, since then.
    case stale(since: Date)
    /// Something that is of no use, and why.
    case unusable(String)
  }

  /// What would be asked of a server.
  public enum Transfer: Sendable, Hashable {
    /// Nothing.
    case none
    /// All of it.
    case full
    /// Whether it has changed, and all of it only then.
    case conditional
    /// As much as is missing of it.
    case rest
    /// The same as any of those, behind what is served meanwhile.
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

  /// The address, path or id that would be loaded; of several sources the one that the others need not be asked for.
  public let source: String
  /// How fresh the answer must be.
  public let policy: CachePolicy

  /// The image itself, in memory.
  public internal(set) var memory = Find.notAsked
  /// How many of the processors have been run on what is in memory; `nil` where no such image is.
  public internal(set) var stepsInMemory: Int?
  /// A larger image in memory that this one would be made of; `nil` for none.
  public internal(set) var largerVariant: Size?
  /// The image on disk as it was shown before.
  public internal(set) var finished = Find.notAsked
  /// The bytes on disk as they came.
  public internal(set) var original = Find.notAsked
  /// What decides about them; `nil` where they are not asked for.
  public internal(set) var reason: Freshness.Reason?
  /// How long what is stored may stand in where the server cannot be reached; `nil` for not at all.
  public internal(set) var usableOnErrorUntil: Date?
  /// How many bytes of a broken download are on disk.
  public internal(set) var partialByteCount = 0
  /// What the request says not to do with the caches that there are; see ``ImageRequest/caches``.
  public internal(set) var unusedCaches = CacheUse.none

  /// What is under way already and would be shared; `nil` for nothing.
  public internal(set) var sharing: Sharing?
  /// What would be asked of a server, by this request itself.
  public internal(set) var transfer = Transfer.none
  /// Where the image would be from; `nil` where it fails, is shared, or a server has to say.
  public internal(set) var origin: ImageResponse.Origin?
  /// Whether what is served would be so although its time is over.
  public internal(set) var isStale = false
  /// Whether bytes would be decoded; `nil` if only where they have changed.
  public internal(set) var decodes: Bool? = false
  /// How many processors would run; where ``decodes`` is `nil`, all of them if the bytes have changed.
  public internal(set) var processorCount = 0
  /// Why it would fail; `nil` where nothing is known that would make it.
  public internal(set) var failure: String?

  /// How many interceptors stand around it; each may answer otherwise.
  public internal(set) var interceptorCount = 0

  /// Why the server would not be asked just now.
  var refusal: LoadError?
  let now: Date

  init(_ request: ImageRequest, now: Date) {
    (source, policy, self.now) = (request.name, request.policy, now)
  }
}

// MARK: - In words

extension Explanation: CustomStringConvertible {
  /// What would happen in the first line, then what there is, a place a line.
  public var description: String {
    var lines = ["\(source): \(conclusion)", "  policy: \(policy)"]
    func add(_ place: String, _ find: Find) {
      guard find != .notAsked else { return }
      lines.append("  \(place): \(words(of: find))")
    }
    add("in memory", memory)
    if let stepsInMemory { lines.append("  in memory after \(Self.count(stepsInMemory, "processor")): yes") }
    if let larger = largerVariant { lines.append("  in memory, larger: \(larger.width)x\(larger.height)") }
    add("on disk as it is shown", finished)
    add("on disk as it came", original)
    if partialByteCount > 0 { lines.append("  on disk of a broken download: \(partialByteCount) bytes") }
    let ways: [(CacheUse, String)] = [
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
    if case .image(let steps) = sharing {
      return "waits for the same image, which is under way" + (steps > 0 || processorCount > 0 ? work : "")
    }
    let bytes: String
    switch (sharing, transfer) {
    case (.some, _): bytes = "waits for its bytes, which are under way"
    case (nil, .none): bytes = place
    case (nil, .behind): bytes = "\(place) although its time is over, and its server is asked behind it"
    case (nil, .full): bytes = "fetched from its server" + because
    case (nil, .conditional): bytes = "its server is asked whether it has changed" + because
    case (nil, .rest): bytes = "the rest of it is fetched from its server, after \(partialByteCount) bytes"
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
    let processors = processorCount > 0 ? Self.count(processorCount, "processor") : nil
    switch decodes {
    case true?: return "; it is decoded" + (processors.map { " and goes through \($0)" } ?? "")
    case false?: return processors.map { "; it goes through \($0)" } ?? ""
    case nil: return "; only if it has, it is decoded" + (processors.map { " and goes through \($0)" } ?? "")
    }
  }

  private func words(of find: Find) -> String {
    switch find {
    case .notAsked: "not looked for"
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
