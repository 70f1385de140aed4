import VitrineRuntime

/// Durations, counted by size.
struct Histogram: Sendable {
  /// The upper bounds of the buckets, in seconds.
  static let bounds = [
    0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
  ]

  private(set) var buckets = [Int](repeating: 0, count: Histogram.bounds.count)
  private(set) var count = 0
  private(set) var sum = 0.0

  mutating func add(_ duration: Duration) {
    let seconds = duration / .seconds(1)
    count += 1
    sum += seconds
    if let index = Self.bounds.firstIndex(where: { seconds <= $0 }) { buckets[index] += 1 }
  }

  func adding(_ other: Histogram) -> Histogram {
    var sum = self
    for index in buckets.indices { sum.buckets[index] += other.buckets[index] }
    sum.count += other.count
    sum.sum += other.sum
    return sum
  }

  /// Writes it as Prometheus' text format has it.
  func write(_ name: String, labels: String = "", to text: inout MetricsText) {
    let prefix = labels.isEmpty ? "" : labels + ","
    var total = 0
    for (bound, bucket) in zip(Self.bounds, buckets) {
      total += bucket
      text.add("\(name)_bucket{\(prefix)le=\"\(bound)\"} \(total)\n")
    }
    text.add("\(name)_bucket{\(prefix)le=\"+Inf\"} \(count)\n")
    let suffix = labels.isEmpty ? "" : "{\(labels)}"
    text.add("\(name)_sum\(suffix) \(sum)\n\(name)_count\(suffix) \(count)\n")
  }
}
