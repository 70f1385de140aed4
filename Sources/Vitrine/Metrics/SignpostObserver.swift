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

  /// Begins the interval of a request.
  public func requestBegan(_ request: ImageRequest, _ event: PipelineEvent) { begin(event) }

  /// Begins the interval of a stage.
  public func stageBegan(_ event: PipelineEvent) { begin(event) }

  /// Ends the interval of a stage.
  public func stageEnded(_ event: PipelineEvent) { end(event) }

  /// Ends the interval of a request.
  public func requestEnded(_ outcome: PipelineOutcome, _ event: PipelineEvent) { end(event) }

  private func begin(_ event: PipelineEvent) { intervals.begin(event.stage, "\(event.kind) \(event.source)") }

  private func end(_ event: PipelineEvent) { intervals.end(event.stage, "\(event.facts["error"] ?? "done")") }
}
