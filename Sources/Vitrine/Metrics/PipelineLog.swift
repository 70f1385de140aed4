import VitrineHTTP
import VitrineRuntime

/// An observer that turns events into log entries.
final class PipelineLog: PipelineObserver {
  private let write: @Sendable (LogEntry) -> Void
  private let clock: any TimeSource

  init(_ write: @escaping @Sendable (LogEntry) -> Void, clock: any TimeSource) {
    (self.write, self.clock) = (write, clock)
  }

  private func say(
    _ level: LogEntry.Level,
    _ message: String,
    _ source: String?,
    _ stage: StageKind? = nil,
    _ setFields: (inout LogEntry) -> Void = { _ in },
  ) {
    var entry = LogEntry(level: level, source: source?.onOneLine, message: message.onOneLine, time: clock.now)
    entry.stage = stage
    setFields(&entry)
    write(entry)
  }

  /// Logs that a decode does not return.
  func decodeIsStuck(_ format: String) {
    say(.warning, "the \(format) decoder does not return: another thread takes its place", nil)
  }

  /// Logs a problem of the disk cache.
  func warn(_ trouble: String) { say(.warning, "disk cache: \(trouble)", nil) }

  /// Logs a retry of a transfer.
  func retry(_ attempt: RetryAttempt, after delay: Duration) {
    let again = "retrying in \(delay.inMilliseconds) ms: \(attempt.error.detail)"
    say(.warning, "attempt \(attempt.number) failed, \(again)", attempt.error.url, .fetch) { $0.error = attempt.error }
  }

  // MARK: Events

  func observe(_ event: PipelineEvent) {
    switch event {
    case .stageBegan(let stage) where stage.kind == .revalidate:
      say(.trace, "cached, but stale; revalidating", stage.source, stage.kind)
    case .stageBegan(let stage) where stage.kind == .resample:
      say(.trace, "made from a larger variant in memory", stage.source, stage.kind)
    case .stageJoined(let stage, _): say(.trace, "shares a \(stage.kind) that is under way", stage.source, stage.kind)
    case .noted(let fact, let stage): noted(fact, stage)
    case .requestEnded(let outcome, let request): ended(outcome, request)
    case .requestsMissed(let count):
      say(.warning, "\(count) requests are missing from this log: it is written too slowly", nil)
    default: break
    }
  }

  private func noted(_ fact: String, _ stage: RequestMetrics.Stage) {
    guard let value = stage.facts[fact] else { return }
    let (level, message): (LogEntry.Level, String)
    switch fact {
    case "found" where value == .flag(true): (level, message) = (.trace, "finished image on disk")
    case "decision": (level, message) = (.trace, Self.words(of: "\(value)"))
    case "rate limited": (level, message) = (.trace, "waiting: the rate limit is reached")
    case "fallback": (level, message) = (.warning, "revalidation failed, serving the stale copy: \(value)")
    default: return
    }
    say(level, message, stage.source, stage.kind)
  }

  private func ended(_ outcome: PipelineOutcome, _ request: RequestMetrics.Stage) {
    let time = "\((request.duration ?? .zero).inMilliseconds) ms"
    switch outcome {
    case .failure(let error):
      let message = error.isCancellation ? "cancelled after \(time)" : "\(error.stage) failed: \(error.detail)"
      say(Self.level(of: error), message, request.source, StageKind(error.stage.rawValue)) {
        ($0.duration, $0.error) = (request.duration, error)
      }
    case .image(let response):
      let size = "\(response.image.width)x\(response.image.height)"
      let bytes = response.byteCount > 0 ? " of \(Self.size(response.byteCount))" : ""
      let message = "\(size)\(bytes) \(Self.words(of: response.origin)) in \(time)"
      ended(message, request, response.origin, response.byteCount, isStale: response.isStale)
    case .data(let byteCount):
      let origin = request.facts["from"].flatMap { ImageResponse.Origin(rawValue: "\($0)") }
      let place = origin.map { " " + Self.words(of: $0) } ?? ""
      let message = "\(Self.prefix(request.facts["purpose"]))\(Self.size(byteCount))\(place) in \(time)"
      ended(message, request, origin, byteCount, isStale: request.facts["stale"] == .flag(true))
    }
  }

  private func ended(
    _ message: String,
    _ request: RequestMetrics.Stage,
    _ origin: ImageResponse.Origin?,
    _ byteCount: Int,
    isStale: Bool,
  ) {
    say(isStale ? .notice : .debug, isStale ? "\(message), stale" : message, request.source, .request) {
      ($0.origin, $0.byteCount, $0.duration) = (origin, byteCount > 0 ? byteCount : nil, request.duration)
    }
  }

  private static func level(of error: LoadError) -> LogEntry.Level {
    switch error.code {
    case .cancelled: .trace
    case .notCached, .offline: .notice
    case .badStatus where [404, 410].contains(error.status): .notice
    default: .error
    }
  }

  // MARK: Words

  private static func words(of origin: ImageResponse.Origin) -> String {
    switch origin {
    case .memory: "from memory"
    case .disk: "from disk"
    case .revalidated: "from disk, revalidated"
    case .network: "from the network"
    case .local: "from a local source"
    }
  }

  /// Describes a decision from the trace, which is an action and its reason.
  private static func words(of decision: String) -> String {
    let parts = decision.split(separator: ": ", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { return decision }
    let (action, reason) = (parts[0], parts[1])
    let isNothing = reason == Freshness.Reason.nothingStored.description
    switch action {
    case "serve": return "on disk, fresh (\(reason))"
    case "serveAndRevalidate": return "on disk, stale; served while revalidating (\(reason))"
    case "revalidate": return "on disk, stale; revalidating (\(reason))"
    case "fetch": return isNothing ? "not on disk; fetching" : "on disk, but fetched again (\(reason))"
    case "fail": return "not on disk, and the network may not be used"
    default: return decision
    }
  }

  /// Describes the purpose of a request without pixels.
  private static func prefix(_ purpose: StageTrace.Fact?) -> String {
    switch purpose {
    case "revalidation": "revalidation: "
    case "encoded": "encoded: "
    default: ""
    }
  }

  private static func size(_ count: Int) -> String {
    switch count {
    case ..<1000: return "\(count) bytes"
    case ..<1_000_000: return "\((count + 500) / 1000) KB"
    default:
      let tenths = (count + 50_000) / 100_000
      return "\(tenths / 10).\(tenths % 10) MB"
    }
  }
}

extension String {
  /// The string without line breaks and other control characters, with which a server or URL could forge lines.
  fileprivate var onOneLine: String {
    guard unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return self }
    return String(String.UnicodeScalarView(unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
  }
}
