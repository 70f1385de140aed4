import Vitrine
import VitrineRuntime

/// The times of the stages that made an image, for `Server-Timing`.
struct StageTimes: Sendable {
  /// The stages in the order of their work; stages of one kind are added up.
  private static let kinds: [StageKind] = [.fetch, .decode, .resample, .process, .encode]

  /// An entry for each stage, each after a comma; empty if there was no work.
  let text: String

  init(_ metrics: RequestMetrics) {
    var times: [StageKind: Duration] = [:]
    Self.add(metrics.stages, to: &times)
    var text = Self.kinds.compactMap { kind in times[kind].map { Self.entry("\(kind)", $0) } }.joined()
    if !times.isEmpty, metrics.queueWait > .zero { text += Self.entry("queue", metrics.queueWait) }
    self.text = text
  }

  private static func add(_ stages: [RequestMetrics.Stage], to times: inout [StageKind: Duration]) {
    for stage in stages {
      add(stage.stages, to: &times)
      // A stage that did no work, such as the look-up of a file that was found, is left out.
      let hasWorked = stage.kind == .fetch || stage.phases.contains { $0.name == "work" }
      guard hasWorked, let duration = stage.duration else { continue }
      times[stage.kind, default: .zero] += duration
    }
  }

  private static func entry(_ name: String, _ time: Duration) -> String {
    ", \(name);dur=\(JSONText.milliseconds(time))"
  }
}
