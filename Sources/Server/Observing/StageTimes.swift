import Vitrine
import VitrineRuntime

/// The times of the stages that made an image, for `Server-Timing`.
struct StageTimes: Sendable {
  /// The stages in the order of their work; stages of one kind are added up.
  private static let kinds: [StageKind] = [.fetch, .decode, .resample, .process, .encode]

  /// An entry for each stage, each after a comma; empty if there was no work.
  let text: String
  /// Each stage that did work, with readings of the clock.
  let stages: [(kind: StageKind, began: Duration, duration: Duration)]

  init(_ metrics: RequestMetrics) {
    stages = Self.working(metrics.stages)
    let times = Dictionary(stages.map { ($0.kind, $0.duration) }, uniquingKeysWith: +)
    var text = Self.kinds.compactMap { kind in times[kind].map { Self.entry("\(kind)", $0) } }.joined()
    if !times.isEmpty, metrics.queueWait > .zero { text += Self.entry("queue", metrics.queueWait) }
    self.text = text
  }

  private static func working(
    _ stages: [RequestMetrics.Stage]
  ) -> [(kind: StageKind, began: Duration, duration: Duration)] {
    stages.flatMap { stage in
      // A stage that did no work, such as the look-up of a file that was found, is left out.
      let hasWorked = stage.kind == .fetch || stage.phases.contains { $0.name == "work" }
      let own = hasWorked ? stage.duration.map { [(kind: stage.kind, began: stage.began, duration: $0)] } : nil
      return working(stage.stages) + (own ?? [])
    }
  }

  private static func entry(_ name: String, _ time: Duration) -> String {
    ", \(name);dur=\(JSONText.milliseconds(time))"
  }
}
