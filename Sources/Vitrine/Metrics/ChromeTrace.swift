public import VitrineRuntime

extension RequestMetrics {
  /// Encodes requests in the format of Chrome's trace events, which ui.perfetto.dev and `chrome://tracing` show.
  ///
  /// Every stage and every phase of it is a span; requests that do not overlap share a row. The times begin with the first
  /// request. Complexity: O(n) over the stages.
  public static func chromeTrace(of requests: [RequestMetrics]) -> Data {
    chromeTrace(of: requests, since: requests.map(\.began).min() ?? .zero)
  }

  static func chromeTrace(of requests: [RequestMetrics], since start: Duration) -> Data {
    var events: [ChromeTrace.Event] = []
    var rows: [Duration] = []
    for request in requests.sorted(by: { $0.began < $1.began }) {
      let end = request.root.extent
      let row = rows.firstIndex { $0 <= request.began } ?? rows.count
      if row == rows.count { rows.append(end) } else { rows[row] = end }
      ChromeTrace.append(request.root, row: row + 1, since: start, to: &events)
    }
    let names = rows.indices.map { ChromeTrace.Event(naming: "requests \($0 + 1)", row: $0 + 1) }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let trace = ChromeTrace(traceEvents: names + events, displayTimeUnit: "ms")
    // Numbers and texts can always be encoded.
    return (try? encoder.encode(trace)) ?? Data()
  }
}

private struct ChromeTrace: Encodable {
  struct Event: Encodable {
    let name: String
    let ph: String
    var cat: String?
    /// Microseconds.
    var ts: Double?
    var dur: Double?
    let pid = 1
    let tid: Int
    let args: [String: RequestMetrics.Fact]

    /// Names a row.
    init(naming name: String, row: Int) {
      (self.name, ph, tid, args) = ("thread_name", "M", row, ["name": .text(name)])
    }

    /// A span.
    init(_ name: String, _ category: String, _ span: Range<Duration>, row: Int, _ args: [String: RequestMetrics.Fact]) {
      (self.name, ph, cat, tid, self.args) = (name, "X", category, row, args)
      (ts, dur) = (span.lowerBound / .microseconds(1), (span.upperBound - span.lowerBound) / .microseconds(1))
    }

    // `pid` has its value already.
    private enum CodingKeys: CodingKey { case name, ph, cat, ts, dur, pid, tid, args }
  }

  let traceEvents: [Event]
  let displayTimeUnit: String

  /// A stage before what is within it, as spans that begin at once are nested in the order given.
  static func append(_ stage: RequestMetrics.Stage, row: Int, since start: Duration, to events: inout [Event]) {
    func span(_ began: Duration, _ ended: Duration) -> Range<Duration> {
      (began - start)..<(max(began, ended) - start)
    }
    let end = stage.extent
    let facts = stage.facts.merging(["source": .text(stage.source)]) { fact, _ in fact }
    events.append(Event(stage.kind.rawValue, "stage", span(stage.began, end), row: row, facts))
    for phase in stage.phases {
      let name: RequestMetrics.Fact = .text(stage.kind.rawValue)
      events.append(Event(phase.name, "phase", span(phase.began, phase.ended ?? end), row: row, ["stage": name]))
    }
    for child in stage.stages {
      if child.isShared {
        let span = span(child.since, min(end, child.extent))
        events.append(Event("shared \(child.kind)", "shared", span, row: row, [:]))
      } else {
        append(child, row: row, since: start, to: &events)
      }
    }
  }
}

extension RequestMetrics.Fact: Encodable {
  /// Encodes the words, the number or the truth value alone.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .text(let text): try container.encode(text)
    case .number(let number): try container.encode(number)
    case .flag(let flag): try container.encode(flag)
    }
  }
}
