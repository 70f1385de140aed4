import Vitrine
import VitrineRuntime

/// The numbers of a server, as Prometheus reads them.
final class ServerMetrics: Sendable {
  /// The counters.
  struct Counts: Sendable {
    var byStatus: [Int: Int] = [:]
    var byTier: [String: Int] = [:]
    var bytes = 0
    var refused = 0
    var joined = 0
    var left = 0
    var damaged = 0
    var purges = 0
    var requests = Histogram()
    /// By the name of the stage.
    var stages: [String: Histogram] = [:]
    /// Events that were not counted, since too many came.
    var missed = 0
  }

  /// The numbers of the moment.
  struct Gauges: Sendable {
    var connections = 0
    var running = 0
    var waiting = 0
    var memoryEntries = 0
    var memoryBytes = 0
    var sourceBytes = 0
    var bodyBytes = 0
    var isReady = true
    var tiers: [TierMetrics.Tier] = []
  }

  private let counted = Lock(Counts())

  var counts: Counts { counted.withLock { $0 } }

  /// The number of stages of a kind that have ended.
  func count(of stage: StageKind) -> Int { counted.withLock { $0.stages[stage.name]?.count ?? 0 } }

  func change(_ body: (inout Counts) -> Void) { counted.withLock { body(&$0) } }

  func text(_ gauges: Gauges) -> String {
    let counts = counts
    var text = ""
    func begin(_ name: String, _ type: String, _ help: String) {
      text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }
    func single(_ name: String, _ type: String, _ help: String, _ value: Int) {
      begin(name, type, help)
      text += "\(name) \(value)\n"
    }
    begin("vitrine_requests_total", "counter", "Answered requests by status.")
    for (status, count) in counts.byStatus.sorted(by: { $0.key < $1.key }) {
      text += "vitrine_requests_total{status=\"\(status)\"} \(count)\n"
    }
    begin("vitrine_images_total", "counter", "Answered images by the tier that had them.")
    for (tier, count) in counts.byTier.sorted(by: { $0.key < $1.key }) {
      text += "vitrine_images_total{tier=\"\(tier)\"} \(count)\n"
    }
    single("vitrine_sent_bytes_total", "counter", "Bytes of bodies that were sent.", counts.bytes)
    single("vitrine_refused_total", "counter", "Requests that were refused because of overload.", counts.refused)
    single("vitrine_joined_total", "counter", "Requests that joined work under way.", counts.joined)
    single("vitrine_left_total", "counter", "Clients that left before their answer.", counts.left)
    single("vitrine_damaged_total", "counter", "Images of damaged sources, without those from memory.", counts.damaged)
    single("vitrine_purges_total", "counter", "Purged sources.", counts.purges)
    single("vitrine_missed_events_total", "counter", "Events of stages that were not counted.", counts.missed)
    begin("vitrine_request_duration_seconds", "histogram", "Time from the request line to the end of sending.")
    counts.requests.write("vitrine_request_duration_seconds", to: &text)
    begin("vitrine_stage_duration_seconds", "histogram", "Time of each stage of making an image.")
    for (stage, histogram) in counts.stages.sorted(by: { $0.key < $1.key }) {
      histogram.write("vitrine_stage_duration_seconds", labels: "stage=\"\(stage)\"", to: &text)
    }
    single("vitrine_connections", "gauge", "Open connections.", gauges.connections)
    single("vitrine_running", "gauge", "Images that are being made.", gauges.running)
    single("vitrine_waiting", "gauge", "Images that wait for their source or for their turn.", gauges.waiting)
    single("vitrine_memory_answers", "gauge", "Answers in memory.", gauges.memoryEntries)
    single("vitrine_memory_answer_bytes", "gauge", "Bytes of answers in memory.", gauges.memoryBytes)
    single("vitrine_source_bytes", "gauge", "Bytes of sources that are being worked on.", gauges.sourceBytes)
    single("vitrine_body_bytes", "gauge", "Bytes of images that are sent or kept in memory.", gauges.bodyBytes)
    single("vitrine_ready", "gauge", "1 if new requests are welcome.", gauges.isReady ? 1 : 0)
    text += TierMetrics.text(gauges.tiers)
    if let resident = Self.residentBytes {
      single("process_resident_memory_bytes", "gauge", "Resident memory of the process.", resident)
    }
    return text
  }

  /// The resident memory of the process, without its workers.
  static var residentBytes: Int? {
    guard let text = (try? FileContents.at("/proc/self/statm")).map({ String(decoding: $0, as: UTF8.self) }) else {
      return nil
    }
    let fields = text.split(separator: " ")
    guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
    return pages * sysconf(Int32(_SC_PAGESIZE))
  }
}

/// Measures the stages of a pipeline.
struct StageMeter: PipelineObserver {
  let metrics: ServerMetrics

  private static let kinds: Set<StageKind> = [.fetch, .transfer, .decode, .process, .encode]

  func observe(_ event: PipelineEvent) {
    switch event {
    case .stageEnded(let stage) where Self.kinds.contains(stage.kind): count(stage)
    case .requestsMissed(let count): metrics.change { $0.missed += count }
    default: break
    }
  }

  private func count(_ stage: RequestMetrics.Stage) {
    let hasWorked = stage.phases.contains { $0.name == "work" }
    // Of an encoded image that was found there was no work.
    guard let duration = stage.duration, stage.kind != .encode || hasWorked else { return }
    let queue = stage.phases.first { $0.name == "queue" }?.duration
    metrics.change { counts in
      counts.stages[stage.kind.name, default: Histogram()].add(duration)
      if hasWorked, let queue { counts.stages["queue", default: Histogram()].add(queue) }
    }
  }
}
