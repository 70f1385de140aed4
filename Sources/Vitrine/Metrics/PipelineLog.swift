import VitrineHTTP
import VitrineRuntime

/// An observer that turns events into log entries.
final class PipelineLog: PipelineObserver {
  private let write: @Sendable (LogEntry) -> Void
  private let clock: any TimeSource
  /// The beginning of each running request.
  private let began = Lock<[Int: Duration]>([:])

  init(_ write: @escaping @Sendable (LogEntry) -> Void, clock: any TimeSource) {
    (self.write, self.clock) = (write, clock)
  }

  private func say(_ level: LogEntry.Level, _ message: String, _ source: String?) {
    write(LogEntry(level: level, source: source?.onOneLine, message: message.onOneLine, time: clock.now))
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
    say(.warning, "attempt \(attempt.number) failed, \(again)", attempt.error.url)
  }

  // MARK: Events

  func requestBegan(_ request: ImageRequest, _ event: PipelineEvent) {
    began.withLock { $0[event.request] = event.time }
  }

  func stageBegan(_ event: PipelineEvent) {
    switch event.kind {
    case .revalidate: say(.debug, "cached, but stale; revalidating", event.source)
    case .resample: say(.debug, "made from a larger variant in memory", event.source)
    default: break
    }
  }

  func stageJoined(by request: Int, _ event: PipelineEvent) {
    say(.debug, "shares a \(event.kind) that is under way", event.source)
  }

  func noted(_ fact: String, _ event: PipelineEvent) {
    guard let value = event.facts[fact] else { return }
    switch fact {
    case "found" where value == .flag(true): say(.debug, "finished image on disk", event.source)
    case "decision": say(.debug, Self.words(of: "\(value)"), event.source)
    case "rate limited": say(.debug, "waiting: the rate limit is reached", event.source)
    case "fallback": say(.warning, "revalidation failed, serving the stale copy: \(value)", event.source)
    default: break
    }
  }

  func requestEnded(_ outcome: PipelineOutcome, _ event: PipelineEvent) {
    let began = began.withLock { $0.removeValue(forKey: event.request) } ?? event.time
    let time = "\((event.time - began).inMilliseconds) ms"
    switch outcome {
    case .failure(let error):
      let level: LogEntry.Level = error.isCancellation ? .debug : .error
      say(
        level,
        error.isCancellation ? "cancelled after \(time)" : "\(error.stage) failed: \(error.detail)",
        event.source,
      )
    case .image(let response):
      let size = "\(response.image.width)x\(response.image.height)"
      let bytes = response.byteCount > 0 ? " of \(Self.size(response.byteCount))" : ""
      ended("\(size)\(bytes) \(Self.words(of: response.origin)) in \(time)", isStale: response.isStale, event.source)
    case .data(let byteCount):
      let origin = event.facts["from"].flatMap { ImageResponse.Origin(rawValue: "\($0)") }
      let place = origin.map { " " + Self.words(of: $0) } ?? ""
      let purpose = Self.prefix(event.facts["purpose"])
      let isStale = event.facts["stale"] == .flag(true)
      ended("\(purpose)\(Self.size(byteCount))\(place) in \(time)", isStale: isStale, event.source)
    }
  }

  func requestsMissed(_ count: Int) {
    say(.warning, "\(count) requests are missing from this log: it is written too slowly", nil)
  }

  private func ended(_ message: String, isStale: Bool, _ source: String) {
    say(isStale ? .warning : .info, isStale ? "\(message), stale" : message, source)
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
