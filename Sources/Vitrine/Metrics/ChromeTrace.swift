import VitrineRuntime

extension TraceRecorder {
  /// All requests in the format of Chrome's trace events, which Perfetto and `chrome://tracing` show.
  ///
  /// Every stage and every phase of it is a span; requests that do not overlap share a row.
  ///
  /// Complexity: O(n) over the stages.
  package var chromeTrace: Data {
    var events: [ChromeTrace.Event] = []
    var rows: [Duration] = []
    for request in requests {
      let end = request.extent
      let row = rows.firstIndex { $0 <= request.began } ?? rows.count
      if row == rows.count { rows.append(end) } else { rows[row] = end }
      ChromeTrace.append(request, row: row + 1, to: &events)
    }
    let names = rows.indices.map { ChromeTrace.Event(naming: "requests \($0 + 1)", row: $0 + 1) }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let trace = ChromeTrace(traceEvents: names + events, displayTimeUnit: "ms")
    // Numbers and texts can always be encoded.
    return (try? encoder.encode(trace)) ?? Data()
  }
}

extension StageTrace {
  /// When the last of what belongs to the stage ended.
  fileprivate var extent: Duration {
    let record = record
    let phases = record.phases.map { $0.ended ?? $0.began }.max() ?? began
    let children = record.children.filter { !$0.isShared }.map(\.stage.extent).max() ?? began
    return max(record.ended ?? began, phases, children)
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
    let args: [String: StageTrace.Fact]

    /// Names a row.
    init(naming name: String, row: Int) {
      (self.name, ph, tid, args) = ("thread_name", "M", row, ["name": .text(name)])
    }

    /// A span.
    init(_ name: String, _ category: String, _ span: (Duration, Duration), row: Int, _ args: [String: StageTrace.Fact])
    {
      (self.name, ph, cat, tid, self.args) = (name, "X", category, row, args)
      (ts, dur) = (span.0 / .microseconds(1), max(.zero, span.1 - span.0) / .microseconds(1))
    }

    // `pid` has its value already.
    private enum CodingKeys: CodingKey { case name, ph, cat, ts, dur, pid, tid, args }
  }

  let traceEvents: [Event]
  let displayTimeUnit: String

  /// A stage before what is within it, as spans that begin at once are nested in the order given.
  static func append(_ stage: StageTrace, row: Int, to events: inout [Event]) {
    let (record, end) = (stage.record, stage.extent)
    let facts = record.facts.merging(["source": .text(stage.source)]) { fact, _ in fact }
    events.append(Event(stage.name, "stage", (stage.began, end), row: row, facts))
    for phase in record.phases {
      events.append(
        Event(phase.name, "phase", (phase.began, phase.ended ?? end), row: row, ["stage": .text(stage.name)])
      )
    }
    for child in record.children {
      if child.isShared {
        let end = min(end, child.stage.extent)
        events.append(Event("shared \(child.stage.name)", "shared", (child.since, end), row: row, [:]))
      } else {
        append(child.stage, row: row, to: &events)
      }
    }
  }
}

extension StageTrace.Fact: Encodable {
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .text(let text): try container.encode(text)
    case .number(let number): try container.encode(number)
    case .flag(let flag): try container.encode(flag)
    }
  }
}
