import VitrineRuntime

/// An observer that shows requests and their stages as intervals in Instruments, under the subsystem `vitrine`.
///
/// ```swift
/// let pipeline = ImagePipeline { $0.observers = [SignpostObserver()] }
/// ```
/// It works on Apple platforms and does nothing elsewhere. An interval begins and ends when the observer is notified,
/// which is slightly late on a busy machine.
public struct SignpostObserver: PipelineObserver {
  private let intervals = SignpostIntervals()

  /// Creates an observer.
  public init() {}

  /// Begins or ends the interval of a request or a stage.
  public func observe(_ event: PipelineEvent) {
    switch event {
    case .requestBegan(_, let stage), .stageBegan(let stage):
      intervals.begin(stage.id, "\(stage.kind) \(stage.source)")
    case .requestEnded(_, let stage), .stageEnded(let stage):
      intervals.end(stage.id, "\(stage.facts["error"] ?? "done")")
    default: break
    }
  }
}
