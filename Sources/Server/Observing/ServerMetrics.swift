import Vitrine
import VitrineCaching
import VitrineRuntime

/// The numbers of a server, as Prometheus reads them.
final class ServerMetrics: Sendable {
  /// The counters.
  struct Counts: Sendable {
    var byStatus: [Int: Int] = [:]
    var byTier: [String: Int] = [:]
    /// By the code of the error.
    var byError: [String: Int] = [:]
    /// Troubles of the cache on disk, such as a full disk.
    var cacheWarnings = 0
    var bytes = 0
    var refused = 0
    var joined = 0
    var left = 0
    var damaged = 0
    var purges = 0
    var requests = Histogram()
    /// By the name of the stage.
    var stages: [String: Histogram] = [:]
    /// Spans that the collector did not get.
    var droppedSpans = 0
    /// Events that were not counted, since too many came.
    var missed = 0

    mutating func add(_ other: Counts) {
      byStatus.merge(other.byStatus, uniquingKeysWith: +)
      byTier.merge(other.byTier, uniquingKeysWith: +)
      byError.merge(other.byError, uniquingKeysWith: +)
      stages.merge(other.stages) { $0.adding($1) }
      requests = requests.adding(other.requests)
      cacheWarnings += other.cacheWarnings
      bytes += other.bytes
      refused += other.refused
      joined += other.joined
      left += other.left
      damaged += other.damaged
      purges += other.purges
      missed += other.missed
      droppedSpans += other.droppedSpans
    }
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
    /// The cache on disk; `nil` without one.
    var cache: DataCacheStatistics?
  }

  /// Each thread of the listener counts for itself: one lock for all would be what they wait for.
  private let parts: [Lock<Counts>]

  init(threads: Int = 1) { parts = (0..<max(1, threads)).map { _ in Lock(Counts()) } }

  var counts: Counts {
    parts.dropFirst().reduce(into: parts[0].withLock { $0 }) { sum, part in sum.add(part.withLock { $0 }) }
  }

  /// The number of stages of a kind that have ended.
  func count(of stage: StageKind) -> Int { counts.stages[stage.name]?.count ?? 0 }

  /// Counts, for a thread of the listener or, without one, for all others.
  func change(of thread: Int = 0, _ body: (inout Counts) -> Void) {
    parts[thread % parts.count].withLock { body(&$0) }
  }

  func text(_ gauges: Gauges) -> String {
    let counts = counts
    var text = MetricsText()
    text.counter("vitrine_requests_total", "Answered requests by status.", by: "status", counts.byStatus)
    text.counter("vitrine_images_total", "Answered images by the tier that had them.", by: "tier", counts.byTier)
    let errors = "Answers that are errors by the code that the log names."
    text.counter("vitrine_errors_total", errors, by: "code", counts.byError)
    text.single("vitrine_sent_bytes_total", "counter", "Bytes of bodies that were sent.", counts.bytes)
    text.single("vitrine_refused_total", "counter", "Requests that were refused because of overload.", counts.refused)
    text.single("vitrine_joined_total", "counter", "Requests that joined work under way.", counts.joined)
    text.single("vitrine_left_total", "counter", "Clients that left before their answer.", counts.left)
    let damaged = "Images of damaged sources, without those from memory."
    text.single("vitrine_damaged_total", "counter", damaged, counts.damaged)
    text.single("vitrine_purges_total", "counter", "Purged sources.", counts.purges)
    text.single("vitrine_missed_events_total", "counter", "Events of stages that were not counted.", counts.missed)
    let spans = "Spans that the collector of VITRINE_OTLP_ENDPOINT did not get."
    text.single("vitrine_dropped_spans_total", "counter", spans, counts.droppedSpans)
    text.begin("vitrine_request_duration_seconds", "histogram", "Time from the request line to the end of sending.")
    counts.requests.write("vitrine_request_duration_seconds", to: &text)
    text.begin("vitrine_stage_duration_seconds", "histogram", "Time of each stage of making an image.")
    for (stage, histogram) in counts.stages.sorted(by: { $0.key < $1.key }) {
      histogram.write("vitrine_stage_duration_seconds", labels: "stage=\"\(stage)\"", to: &text)
    }
    text.single("vitrine_connections", "gauge", "Open connections.", gauges.connections)
    text.single("vitrine_running", "gauge", "Images that are being made.", gauges.running)
    text.single("vitrine_waiting", "gauge", "Images that wait for their source or for their turn.", gauges.waiting)
    text.single("vitrine_memory_answers", "gauge", "Answers in memory.", gauges.memoryEntries)
    text.single("vitrine_memory_answer_bytes", "gauge", "Bytes of answers in memory.", gauges.memoryBytes)
    text.single("vitrine_source_bytes", "gauge", "Bytes of sources that are being worked on.", gauges.sourceBytes)
    text.single("vitrine_body_bytes", "gauge", "Bytes of images that are sent or kept in memory.", gauges.bodyBytes)
    text.single("vitrine_ready", "gauge", "1 if new requests are welcome.", gauges.isReady ? 1 : 0)
    if let cache = gauges.cache { Self.add(cache, warnings: counts.cacheWarnings, to: &text) }
    TierMetrics.add(gauges.tiers, to: &text)
    text.begin("vitrine_build_info", "gauge", "The version of the server.")
    text.add("vitrine_build_info{version=\"\(vitrineVersion)\"} 1\n")
    ProcessMetrics.add(to: &text)
    return text.text
  }

  private static func add(_ cache: DataCacheStatistics, warnings: Int, to text: inout MetricsText) {
    text.single("vitrine_cache_entries", "gauge", "Entries of the cache on disk.", cache.entries)
    text.single("vitrine_cache_bytes", "gauge", "Bytes of the cache on disk.", cache.bytes)
    text.single("vitrine_cache_limit_bytes", "gauge", "Bytes that the cache on disk may have.", cache.limit)
    text.single("vitrine_cache_evictions_total", "counter", "Entries that gave way to others.", cache.evictions)
    text.single("vitrine_cache_damaged_total", "counter", "Entries that were damaged, and dropped.", cache.damaged)
    let warned = "Troubles of the cache on disk, such as a full disk."
    text.single("vitrine_cache_warnings_total", "counter", warned, warnings)
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
