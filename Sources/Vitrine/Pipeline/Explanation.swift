package import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// The outcome that a request would have at this moment, and why.
///
/// ```swift
/// print(await pipeline.explain(request))
/// // https://example.org/cat.jpg: from disk, no request is sent; decoded
/// //   policy: standard
/// //   in memory: no
/// //   original on disk: fresh for 58 s
/// ```
public struct Explanation: Sendable {
  /// The state of one place.
  package enum Find: Sendable, Hashable {
    /// The place was not looked up: there is no such cache, or the request bypasses it.
    case notAsked
    /// The place was looked up, and has nothing.
    case missing
    /// The entry is present, and fresh until this date; for ever if `nil`.
    case fresh(until: Date?)
    /// The entry is present, but has been stale since this date.
    case stale(since: Date)
    /// The entry is present, but unusable for this reason.
    case unusable(String)
  }

  /// The request to a server.
  public enum Transfer: Sendable, Hashable {
    /// No request.
    case none
    /// A request for the whole resource.
    case full
    /// A conditional request: the whole resource if it has changed.
    case conditional
    /// A request for the missing rest.
    case rest
    /// Any of these in the background, while a stale image is served.
    case behind
  }

  /// The work of another request that this one would share.
  package enum Sharing: Sendable, Hashable {
    /// The encoded image.
    case encoded
    /// The image after a number of processors.
    case image(steps: Int)
    /// The bytes.
    case bytes
  }

  /// A width and a height in pixels.
  package struct Size: Sendable, Hashable {
    /// The width in pixels.
    package let width: Int
    /// The height in pixels.
    package let height: Int
  }

  /// The URL, path or id that would be loaded; of several sources, the one to be served.
  package let source: String
  /// The policy of the request: how fresh the image must be.
  package let policy: CachePolicy
  /// The range of brightness of the image.
  private let dynamicRange: DynamicRange

  /// The image itself, in memory.
  package internal(set) var memory = Find.notAsked
  /// The number of processors that the image in memory has been through; `nil` if it is complete or missing.
  package internal(set) var stepsInMemory: Int?
  /// The size of the larger image in memory from which this one would be made; `nil` for none.
  package internal(set) var largerVariant: Size?
  /// The finished image on disk.
  package internal(set) var finished = Find.notAsked
  /// The encoded image on disk; looked up only for a load for encoding.
  package internal(set) var encoded = Find.notAsked
  /// The original on disk.
  package internal(set) var original = Find.notAsked
  /// The reason for the decision about the original; `nil` if the original is not needed.
  package internal(set) var reason: Freshness.Reason?
  /// The time until which the stored image may be served if the server fails; `nil` if it may not.
  package internal(set) var usableOnErrorUntil: Date?
  /// The number of bytes of a partial download on disk, or in memory without a disk cache.
  package internal(set) var partialByteCount = 0
  /// The uses of existing caches that the request excludes; see ``ImageRequest/cacheAccess``.
  package internal(set) var unusedCaches = CacheAccess.none

  /// The running work that would be shared; `nil` for none.
  package internal(set) var sharing: Sharing?
  /// The request to a server that this load would send.
  public internal(set) var transfer = Transfer.none
  /// The server that would be asked, by its host and, unless it is the scheme's, its port; of an object, its bucket;
  /// `nil` for none.
  package internal(set) var server: String?
  /// The header fields by which that request would be conditional, or would ask for the rest.
  package internal(set) var conditions = HTTPFields()
  /// The origin of the image; `nil` if the load fails, is shared, or depends on a server's response.
  public internal(set) var origin: ImageResponse.Origin?
  /// A Boolean value that indicates whether a stale image would be served.
  public internal(set) var isStale = false
  /// A Boolean value that indicates whether bytes would be decoded; `nil` if only changed bytes would be.
  package internal(set) var decodes: Bool? = false
  /// The number of processors that would run; if ``decodes`` is `nil`, all of them run if the bytes have changed.
  package internal(set) var processorCount = 0
  /// A Boolean value that indicates whether an image would be encoded; `nil` if only a changed image would be, or if
  /// that depends on bytes that have yet to arrive.
  package internal(set) var encodes: Bool? = false
  /// The reason for a failure; `nil` if none is foreseen.
  public internal(set) var failure: String?

  /// The number of interceptors, each of which may change the outcome.
  package internal(set) var interceptorCount = 0

  /// A Boolean value that indicates whether the original's bytes are served if its header shows that nothing has to
  /// change.
  var mayServeOriginal = false
  /// The reason why no request would be sent now.
  var refusal: LoadError?
  /// A Boolean value that indicates whether `cachedImage(for:)` would find the image.
  var isHit = false
  let now: Date

  init(_ request: ImageRequest, now: Date) {
    (source, policy, dynamicRange, self.now) = (request.name, request.cachePolicy, request.dynamicRange, now)
  }
}

// MARK: - Description

extension Explanation: CustomStringConvertible {
  /// The outcome in the first line, then the findings, one place per line.
  public var description: String {
    (["\(source): \(conclusion)", "policy: \(policy)"] + findings).joined(separator: "\n  ")
  }

  /// The findings, one place per line.
  package var findings: [String] {
    var lines: [String] = []
    if dynamicRange != .standard { lines.append("dynamic range: \(dynamicRange.rawValue)") }
    func add(_ place: String, _ find: Find) {
      if let words = words(of: find) { lines.append("\(place): \(words)") }
    }
    add("in memory", memory)
    if let stepsInMemory { lines.append("in memory after \(Self.count(stepsInMemory, "processor")): yes") }
    if let larger = largerVariant { lines.append("in memory, larger: \(larger.width)x\(larger.height)") }
    add("encoded image on disk", encoded)
    add("finished image on disk", finished)
    add("original on disk", original)
    if partialByteCount > 0 { lines.append("partial download: \(partialByteCount) bytes") }
    let ways: [(CacheAccess, String)] = [
      (.memoryReads, "in memory: skipped"), (.diskReads, "on disk: skipped"),
      (.memoryWrites, "stored in memory: no"), (.diskWrites, "stored on disk: no"),
    ]
    for (use, words) in ways where unusedCaches.contains(use) { lines.append("\(words) (excluded by the request)") }
    if let refusal, failure == nil { lines.append("no request is sent: \(refusal.detail)") }
    if interceptorCount > 0 {
      lines.append("\(Self.count(interceptorCount, "interceptor")) may change the outcome")
    }
    if let until = usableOnErrorUntil, transfer != .none {
      lines.append("if the server cannot be reached: served for another \(span(until))")
    }
    return lines
  }

  /// The outcome.
  package var conclusion: String {
    if let failure { return "fails: \(failure)" }
    let bytes =
      switch (sharing, transfer) {
      case (.encoded, _): "shares a running load of the same encoded image"
      case (.image, _): "shares a running load of the same image"
      case (.bytes, _): "shares a running load of its bytes"
      case (nil, .none): place
      case (nil, .behind): "\(place), stale; revalidated in the background"
      case (nil, .full): "fetched from the server" + because
      case (nil, .conditional): "revalidated with the server" + because
      case (nil, .rest): "the rest is fetched from the server, after \(partialByteCount) bytes"
      }
    return bytes + work
  }

  private var place: String {
    let isLate = isStale && transfer == .none ? ", stale" : ""
    switch origin {
    case .memory: return (largerVariant == nil ? "from memory" : "made from a larger variant in memory") + isLate
    case .disk: return "from disk" + isLate + (transfer == .none ? ", no request is sent" : "")
    case .local: return "from a local source"
    case .revalidated, .network, nil: return "from the server"
    }
  }

  private var because: String { reason.map { " (\($0))" } ?? "" }

  private var work: String {
    let processors = processorCount > 0 ? Self.count(processorCount, "processor") : nil
    let encoding = encodes == true ? "encoded" : nil
    if mayServeOriginal { return "; decoded and encoded if anything has to change" }
    // Changed bytes are also processed and encoded.
    guard let decodes else { return "; decoded if it has changed" + list([processors, encoding]) }
    guard decodes || processors != nil || encoding != nil else { return "" }
    return ";" + list([decodes ? "decoded" : nil, processors, encoding]).dropFirst()
  }

  private func list(_ parts: [String?]) -> String { parts.compactMap { $0 }.map { ", \($0)" }.joined() }

  private func words(of find: Find) -> String? {
    switch find {
    case .notAsked: nil
    case .missing: "no"
    case .fresh(nil): "fresh, never expires"
    case .fresh(let until?) where until <= now: "fresh by the policy; expired \(span(until)) ago"
    case .fresh(let until?): "fresh for \(span(until))"
    case .stale(let since): "stale for \(span(since))"
    case .unusable(let reason): "unusable: \(reason)"
    }
  }

  private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

  /// The time between now and a date, in either direction.
  private func span(_ date: Date) -> String {
    let seconds = Int(clamping: abs(date.timeIntervalSince(now)).rounded())
    return switch seconds {
    case ..<120: "\(seconds) s"
    case ..<7200: "\(seconds / 60) min"
    case ..<172_800: "\(seconds / 3600) h"
    default: "\(seconds / 86_400) days"
    }
  }
}
