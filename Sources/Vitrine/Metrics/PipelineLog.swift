import VitrineHTTP
import VitrineRuntime

/// Puts events into words.
final class PipelineLog: PipelineObserver {
  private let write: @Sendable (LogEntry) -> Void
  private let clock: any TimeSource
  /// When each request under way began.
  private let began = Lock<[Int: Duration]>([:])

  init(_ write: @escaping @Sendable (LogEntry) -> Void, clock: any TimeSource) {
    (self.write, self.clock) = (write, clock)
  }

  private func say(_ level: LogEntry.Level, _ message: String, _ source: String?) {
    write(LogEntry(level: level, source: source?.onOneLine, message: message.onOneLine, time: clock.now))
  }

  /// Says that the cache of bytes has trouble.
  func warn(_ trouble: String) { say(.warning, "disk cache: \(trouble)", nil) }

  /// Says that a transfer is tried again.
  func retry(_ attempt: RetryAttempt, after delay: Duration) {
    let again = "trying again in \(delay.inMilliseconds) ms: \(attempt.error.detail)"
    say(.warning, "attempt \(attempt.number) failed, \(again)", attempt.error.url)
  }

  // MARK: Events

  func requestBegan(_ request: ImageRequest, _ event: PipelineEvent) {
    began.withLock { $0[event.request] = event.time }
  }

  func stageBegan(_ event: PipelineEvent) {
    switch event.kind {
    case .confirm: say(.debug, "at hand, but not for longer; finding out whether it is still the same", event.source)
    case .resample: say(.debug, "made of a larger one in memory", event.source)
    default: break
    }
  }

  func stageJoined(by request: Int, _ event: PipelineEvent) {
    say(.debug, "waits for a \(event.kind) that is under way", event.source)
  }

  func noted(_ fact: String, _ event: PipelineEvent) {
    guard let value = event.facts[fact] else { return }
    switch fact {
    case "found" where value == .flag(true): say(.debug, "on disk as it was shown before", event.source)
    case "decision": say(.debug, Self.words(of: "\(value)"), event.source)
    case "rate limited": say(.debug, "waits: as many requests were sent as the rate limit allows", event.source)
    case "fallback": say(.warning, "could not be asked for anew, so an older one is shown: \(value)", event.source)
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
      let purpose = event.facts["purpose"] == "revalidation" ? "asked anew, " : ""
      let isStale = event.facts["stale"] == .flag(true)
      ended("\(purpose)\(Self.size(byteCount))\(place) in \(time)", isStale: isStale, event.source)
    }
  }

  func requestsMissed(_ count: Int) {
    say(.warning, "\(count) requests are not in this log: it is written too slowly", nil)
  }

  private func ended(_ message: String, isStale: Bool, _ source: String) {
    say(isStale ? .warning : .info, isStale ? "\(message), although its time is over" : message, source)
  }

  // MARK: Words

  private static func words(of origin: ImageResponse.Origin) -> String {
    switch origin {
    case .memory: "from memory"
    case .disk: "from disk"
    case .revalidated: "from disk, still the same by its server"
    case .network: "from its server"
    case .local: "from this machine"
    }
  }

  /// Of a decision as the trace has it, an action and its reason.
  private static func words(of decision: String) -> String {
    let parts = decision.split(separator: ": ", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { return decision }
    let (action, reason) = (parts[0], parts[1])
    let isNothing = reason == Freshness.Reason.nothingStored.description
    switch action {
    case "serve": return "on disk, and fresh (\(reason))"
    case "serveAndRevalidate": return "on disk, and stale; shown while its server is asked (\(reason))"
    case "revalidate": return "on disk, and stale; asking its server whether it has changed (\(reason))"
    case "fetch": return isNothing ? "not on disk; fetching it" : "on disk, but fetched anew (\(reason))"
    case "fail": return "not on disk, and no server may be asked"
    default: return decision
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
  /// Without line ends and other control characters, with which a server, or an address, could write lines of its own.
  fileprivate var onOneLine: String {
    guard unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return self }
    return String(String.UnicodeScalarView(unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
  }
}
