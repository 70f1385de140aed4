import VitrineCaching
import VitrineTiers

/// The numbers of a cache's tiers, as Prometheus reads them.
enum TierMetrics {
  typealias Tier = TieredDataCache.TierStatistics

  private struct Metric {
    let name: String
    let type: String
    let help: String
    /// True if only remote tiers have it.
    var isRemote = true
    let value: @Sendable (Tier) -> Int
  }

  private static let metrics = [
    Metric(name: "hits_total", type: "counter", help: "Look-ups that found an entry.", isRemote: false) { $0.hits },
    Metric(name: "misses_total", type: "counter", help: "Look-ups that found none.", isRemote: false) { $0.misses },
    Metric(name: "head_hits_total", type: "counter", help: "Heads that were found.", isRemote: false) { $0.headHits },
    Metric(name: "head_misses_total", type: "counter", help: "Heads that were not there.", isRemote: false) {
      $0.headMisses
    },
    Metric(name: "promotions_total", type: "counter", help: "Entries from slower tiers.", isRemote: false) {
      $0.promotions
    },
    Metric(name: "writes_total", type: "counter", help: "Entries written.", isRemote: false) { $0.writes },
    Metric(name: "time_outs_total", type: "counter", help: "Operations that took too long.") { $0.timeOuts },
    Metric(name: "slow_total", type: "counter", help: "Operations that were slow.") { $0.slowCalls },
    Metric(name: "hedges_total", type: "counter", help: "Operations that were made a second time.") { $0.hedges },
    Metric(name: "errors_total", type: "counter", help: "Operations that failed.") { $0.errors },
    Metric(name: "refusals_total", type: "counter", help: "Operations that were refused.") { $0.refusals },
    Metric(name: "skipped_total", type: "counter", help: "Look-ups left out by the breaker.") { $0.skipped },
    Metric(name: "dropped_writes_total", type: "counter", help: "Entries that were not written.") {
      $0.droppedWrites
    },
    Metric(name: "dropped_removals_total", type: "counter", help: "Removals that were given up.") {
      $0.droppedRemovals
    },
    Metric(name: "queued_writes", type: "gauge", help: "Writes that wait or run.") { $0.queuedWrites },
    Metric(name: "queued_bytes", type: "gauge", help: "Bytes of these.") { $0.queuedBytes },
    Metric(name: "queued_removals", type: "gauge", help: "Removals that wait or run.") { $0.queuedRemovals },
    Metric(name: "breaker_openings_total", type: "counter", help: "Times that the breaker has opened.") {
      $0.openings
    },
    Metric(name: "breaker_open", type: "gauge", help: "1 while the tier is left alone.") {
      $0.breaker == .closed ? 0 : 1
    },
  ]

  /// Adds a line for each metric and tier; nothing without tiers.
  static func add(_ tiers: [Tier], to text: inout MetricsText) {
    guard !tiers.isEmpty else { return }
    for metric in metrics {
      let name = "vitrine_tier_\(metric.name)"
      text.begin(name, metric.type, metric.help)
      for tier in tiers where tier.isRemote || !metric.isRemote {
        text.add("\(name){tier=\"\(tier.name)\"} \(metric.value(tier))\n")
      }
    }
  }
}
