import VitrineHTTP
import VitrineRuntime

extension StageTrace {
  /// Adds a transfer as a stage that has just ended; a load with redirects or retries has several.
  func add(_ metrics: LoadMetrics) {
    // The phases and their ends, relative to the beginning.
    var phases: [(name: String, end: Duration)] = []
    // For a reused connection, these times belong to its look-up in the pool.
    if !metrics.isConnectionReused {
      if let end = metrics.nameLookup { phases.append(("name look-up", end)) }
      if let end = metrics.connected { phases.append(("connect", end)) }
      if let end = metrics.secured { phases.append(("TLS", end)) }
    }
    if let end = metrics.firstByte {
      phases.append(("first byte", end))
      phases.append(("body", metrics.total))
    }
    // A phase ends no later than the next.
    for index in phases.indices.dropLast().reversed() {
      phases[index].end = min(phases[index].end, phases[index + 1].end)
    }
    let stage = stage(.transfer, at: recorder.now - metrics.total)
    var began = stage.began
    for phase in phases {
      stage.enter(phase.name, at: began)
      began = stage.began + phase.end
    }
    var facts: [String: Fact] = [
      "url": .text(metrics.url.string), "bytes": .number(metrics.bytesReceived),
      "reused": .flag(metrics.isConnectionReused),
      "queued µs": .number(Int(clamping: metrics.queued / .microseconds(1))),
    ]
    facts["status"] = metrics.status.map(Fact.number)
    facts["version"] = metrics.httpVersion.map(Fact.text)
    facts["address"] = metrics.remoteAddress.map { .text("\($0)") }
    stage.end(facts, at: stage.began + metrics.total)
  }
}
