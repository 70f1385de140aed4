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
      guard let time = time(of: stage) else { continue }
      times[stage.kind, default: .zero] += time
    }
  }

  /// Returns the time of the work itself; `nil` for a stage that did none.
  private static func time(of stage: RequestMetrics.Stage) -> Duration? {
    guard stage.kind != .fetch else { return stage.duration }
    let work = stage.phases.filter { $0.name == "work" }.compactMap(\.duration)
    return work.isEmpty ? nil : work.reduce(.zero, +)
  }

  private static func entry(_ name: String, _ time: Duration) -> String {
    ", \(name);dur=\(JSONText.milliseconds(time))"
  }
}
