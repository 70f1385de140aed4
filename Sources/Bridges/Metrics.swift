#if Metrics
import Metrics
public import Vitrine
import VitrineRuntime

/// An observer that times requests and their stages in the metrics system of swift-metrics.
///
/// The timer `vitrine_request_duration` has the dimension `outcome`, which is an origin such as `memory`, or the code of an
/// error; its count is the number of requests. The timer `vitrine_stage_duration` has the dimension `stage`, and the time
/// of the stage's own work.
public final class MetricsObserver: PipelineObserver {
  private let timers = Lock([String: Timer]())

  /// Creates an observer over the metrics system that the program has set up before.
  public init() {}

  /// Records the time of a request or a stage that has ended.
  public func observe(_ event: PipelineEvent) {
    switch event {
    case .stageEnded(let stage): record(stage, "vitrine_stage_duration", ("stage", "\(stage.kind)"))
    case .requestEnded(let outcome, let stage):
      record(stage, "vitrine_request_duration", ("outcome", outcome.name))
    default: break
    }
  }

  private func record(_ stage: RequestMetrics.Stage, _ label: String, _ dimension: (String, String)) {
    let key = "\(label) \(dimension.1)"
    let known = timers.withLock { $0[key] }
    // The metrics system makes the timer, so no lock is held.
    let timer = known ?? Timer(label: label, dimensions: [dimension])
    if known == nil { timers.withLock { $0[key] = timer } }
    let parts = (stage.duration ?? .zero).components
    timer.recordNanoseconds(parts.seconds * 1_000_000_000 + parts.attoseconds / 1_000_000_000)
  }
}

extension PipelineOutcome {
  fileprivate var name: String {
    switch self {
    case .image(let response): response.origin.rawValue
    case .data: "data"
    case .failure(let error): "\(error.code)"
    }
  }
}
#endif
