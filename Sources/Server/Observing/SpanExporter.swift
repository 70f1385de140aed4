import VitrineHTTP
import VitrineRuntime

/// A finished piece of work within a trace.
struct Span: Sendable {
  var trace: TraceContext
  var name: String
  var began: Date
  var duration: Duration
  /// True for the work on a request of a client, of which the others are parts.
  var isServer = true
  var isError = false
  var attributes: [(String, String)] = []
}

extension ExchangeOutcome {
  /// Returns the spans of an exchange: the request's own, and one for each stage of its work.
  ///
  /// OpenTelemetry's conventions for HTTP servers give the names.
  func spans(_ exchange: Exchange, _ trace: TraceContext, endedAt now: Date) -> [Span] {
    let start = now.addingTimeInterval(-(duration / .seconds(1)))
    var span = Span(trace: trace, name: "\(method) thumbnail", began: start, duration: duration)
    span.attributes = [
      ("http.request.method", method), ("url.path", exchange.target),
      ("http.response.status_code", "\(answer.status)"), ("vitrine.request.id", exchange.id),
    ]
    // A client of a unix socket has none.
    if !client.isEmpty { span.attributes.append(("client.address", client)) }
    if let tier = answer.tier { span.attributes.append(("vitrine.tier", tier)) }
    if let code = answer.errorCode { span.attributes.append(("error.type", code)) }
    span.isError = answer.status >= 500
    let stages = (answer.times?.stages ?? []).map { stage in
      let began = start.addingTimeInterval((stage.began - exchange.began) / .seconds(1))
      return Span(
        trace: trace.child,
        name: "\(stage.kind)",
        began: began,
        duration: stage.duration,
        isServer: false,
      )
    }
    return [span] + stages
  }
}

/// Sends spans to a collector, as JSON of OpenTelemetry's protocol (OTLP/HTTP 1.0).
///
/// Spans are sent together, 5 s after the first one or once there are 512. A collector that is slow or away delays no answer:
/// beyond 4,096 spans the new ones are dropped and counted. No batch is sent twice.
final class SpanExporter: Sendable {
  private struct State {
    var waiting: [Span] = []
    /// The action that sends the waiting spans.
    var timer: ScheduledAction?
    /// The transfer that is under way.
    var sending: Task<Void, Never>?
    /// The time at which the exporter gives up; `nil` before ``SpanExporter/beginEnd()``.
    var end: Duration?
  }

  static let limit = 4096
  static let batch = 512
  private static let delay = Duration.seconds(5)
  /// The time for one transfer, and for all that are left at the end.
  private static let patience = Duration.seconds(5)

  private let url: String
  private let loader: any DataLoader
  private let clock: any TimeSource
  private let metrics: ServerMetrics
  private let state = Lock(State())

  /// Makes an exporter to a collector, to whose URL `/v1/traces` is added.
  init(_ endpoint: String, _ loader: any DataLoader, _ clock: any TimeSource, _ metrics: ServerMetrics) {
    url = (endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint) + "/v1/traces"
    (self.loader, self.clock, self.metrics) = (loader, clock, metrics)
  }

  /// Takes the spans of one request.
  func add(_ spans: [Span]) {
    let isDropped = state.withLock { state in
      guard state.waiting.count + spans.count <= Self.limit else { return true }
      state.waiting += spans
      if state.waiting.count >= Self.batch {
        send(&state)
      } else if state.timer == nil {
        state.timer = clock.schedule(after: Self.delay) { [weak self] in self?.flush() }
      }
      return false
    }
    if isDropped { metrics.change { $0.droppedSpans += spans.count } }
  }

  /// Sends the waiting spans, unless a batch is under way, after which it is sent.
  func flush() { state.withLock { send(&$0) } }

  /// Sends the rest within five seconds, and drops the spans that are left then.
  func beginEnd() {
    state.withLock { $0.end = $0.end ?? clock.uptime + Self.patience }
    flush()
  }

  /// Waits until the rest is sent or dropped.
  func end() async {
    beginEnd()
    while let sending = state.withLock({ $0.sending }) { await sending.value }
  }

  private func send(_ state: inout State) {
    guard state.sending == nil, !state.waiting.isEmpty else { return }
    state.timer?.cancel()
    state.timer = nil
    let spans = Array(state.waiting.prefix(Self.batch))
    state.waiting.removeFirst(spans.count)
    let time = state.end.map { min($0 - clock.uptime, Self.patience) } ?? Self.patience
    state.sending = Task { [self] in
      if await !transfer(spans, within: time) { metrics.change { $0.droppedSpans += spans.count } }
      let waits = self.state.withLock { state in
        state.sending = nil
        return !state.waiting.isEmpty
      }
      if waits { flush() }
    }
  }

  private func transfer(_ spans: [Span], within time: Duration) async -> Bool {
    guard time > .zero else { return false }
    do throws(HTTPError) {
      var request = try HTTPRequest(url, headers: ["Content-Type": "application/json"])
      (request.method, request.body) = (.post, Data(Self.json(spans).utf8))
      (request.timeouts.connect, request.timeouts.total) = (min(time, .seconds(2)), time)
      return (200..<300).contains(try await loader.data(for: request).0.status)
    } catch {
      return false
    }
  }

  /// Returns the body of a request.
  static func json(_ spans: [Span]) -> String {
    let resource = attributes([("service.name", "vitrine-server"), ("service.version", vitrineVersion)])
    let texts = spans.map(json).joined(separator: ",")
    return "{\"resourceSpans\":[{\"resource\":{\"attributes\":\(resource)},\"scopeSpans\":[{\"scope\":{\"name\":"
      + "\"vitrine-server\"},\"spans\":[\(texts)]}]}]}"
  }

  private static func json(_ span: Span) -> String {
    let start = Int64(span.began.timeIntervalSince1970 * 1e6) * 1000
    var text = "{\"traceId\":\"\(span.trace.trace)\",\"spanId\":\"\(span.trace.span)\""
    if let parent = span.trace.parent { text += ",\"parentSpanId\":\"\(parent)\"" }
    text += ",\"name\":\(JSONText.quoted(span.name)),\"kind\":\(span.isServer ? 2 : 1)"
    text += ",\"startTimeUnixNano\":\"\(start)\",\"endTimeUnixNano\":\"\(start + span.duration.nanoseconds)\""
    if span.isError { text += ",\"status\":{\"code\":2}" }
    return text + ",\"attributes\":\(attributes(span.attributes))}"
  }

  private static func attributes(_ values: [(String, String)]) -> String {
    let texts = values.map { name, value in
      "{\"key\":\"\(name)\",\"value\":{\"stringValue\":\(JSONText.quoted(value))}}"
    }
    return "[\(texts.joined(separator: ","))]"
  }
}
