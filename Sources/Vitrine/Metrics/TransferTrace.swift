import VitrineHTTP
import VitrineRuntime

extension StageTrace {
  /// Adds what a transfer took as a stage that has just ended; a load that is redirected or tried again has several.
  func add(_ metrics: LoadMetrics) {
    var phases: [(name: String, end: Duration)] = []
    // The times of a connection that was there already are those of its look-up in a list.
    if !metrics.isConnectionReused {
      if let end = metrics.nameLookup { phases.append(("name look-up", end)) }
      if let end = metrics.connected { phases.append(("connect", end)) }
      if let end = metrics.secured { phases.append(("TLS", end)) }
    }
    if let end = metrics.firstByte {
      phases.append(("first byte", end))
      phases.append(("body", metrics.total))
    }
    // What comes before something ends no later.
    for index in phases.indices.dropLast().reversed() {
      phases[index].end = min(phases[index].end, phases[index + 1].end)
    }
    let stage = addStage("transfer", lasting: metrics.total, phases: phases)
    stage.note("url", .text(metrics.url.string))
    stage.note("bytes", .number(metrics.bytesReceived))
    stage.note("reused", .flag(metrics.isConnectionReused))
    stage.note("queued µs", .number(Int(metrics.queued / .microseconds(1))))
    if let status = metrics.status { stage.note("status", .number(status)) }
    if let version = metrics.httpVersion { stage.note("version", .text(version)) }
    if let address = metrics.remoteAddress { stage.note("address", .text("\(address)")) }
  }
}
