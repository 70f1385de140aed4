/// Metrics in the text format of Prometheus.
struct MetricsText {
  private(set) var text = ""

  /// Begins a metric, whose lines follow.
  mutating func begin(_ name: String, _ type: String, _ help: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }

  /// Adds a metric of one line, unless its value is unknown.
  mutating func single(_ name: String, _ type: String, _ help: String, _ value: (some Numeric)?) {
    guard let value else { return }
    begin(name, type, help)
    text += "\(name) \(value)\n"
  }

  /// Adds a counter with a line for each value of a label, in their order.
  mutating func counter<Label: Comparable>(_ name: String, _ help: String, by label: String, _ counts: [Label: Int]) {
    begin(name, "counter", help)
    for (value, count) in counts.sorted(by: { $0.key < $1.key }) { text += "\(name){\(label)=\"\(value)\"} \(count)\n" }
  }

  mutating func add(_ lines: String) { text += lines }
}
