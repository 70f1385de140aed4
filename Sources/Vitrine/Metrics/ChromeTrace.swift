public import VitrineRuntime

extension RequestMetrics {
  /// Encodes requests in Chrome's trace event format, which ui.perfetto.dev and `chrome://tracing` show.
  ///
  /// Each stage and each of its phases is a span; requests that do not overlap share a row. Times are relative to the
  /// first request. Complexity: O(n) in the number of stages.
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
    let names = rows.indices.map {
      ChromeTrace.Event(name: "thread_name", ph: "M", tid: $0 + 1, args: ["name": .text("requests \($0 + 1)")])
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let trace = ChromeTrace(traceEvents: names + events)
    // Numbers and strings can always be encoded.
    return (try? encoder.encode(trace)) ?? Data()
  }
}

private struct ChromeTrace: Encodable {
  typealias Fact = RequestMetrics.Fact

  struct Event: Encodable {
    let name: String
    let ph: String
    var cat: String?
    /// The time in microseconds.
    var ts: Double?
    var dur: Double?
    let pid = 1
    let tid: Int
    let args: [String: Fact]
  }

  let traceEvents: [Event]
  let displayTimeUnit = "ms"

  /// Adds a stage before its children, since spans that begin together nest in the order given.
  static func append(_ stage: RequestMetrics.Stage, row: Int, since start: Duration, to events: inout [Event]) {
    func add(
      _ name: String,
      _ category: String,
      from began: Duration,
      to ended: Duration,
      _ args: [String: Fact] = [:],
    ) {
      let (time, length) = ((began - start) / .microseconds(1), max(.zero, ended - began) / .microseconds(1))
      events.append(Event(name: name, ph: "X", cat: category, ts: time, dur: length, tid: row, args: args))
    }
    let end = stage.extent
    let facts = stage.facts.merging(["source": .text(stage.source)]) { fact, _ in fact }
    add(stage.kind.name, "stage", from: stage.began, to: end, facts)
    for phase in stage.phases {
      let owner: [String: Fact] = ["stage": .text(stage.kind.name)]
      add(phase.name, "phase", from: phase.began, to: phase.ended ?? end, owner)
    }
    for child in stage.stages {
      if child.isShared {
        add("shared \(child.kind)", "shared", from: child.since, to: min(end, child.extent))
      } else {
        append(child, row: row, since: start, to: &events)
      }
    }
  }
}

extension RequestMetrics.Fact: Encodable {
  /// Encodes only the string, the number or the Boolean.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .text(let text): try container.encode(text)
    case .number(let number): try container.encode(number)
    case .flag(let flag): try container.encode(flag)
    }
  }
}
