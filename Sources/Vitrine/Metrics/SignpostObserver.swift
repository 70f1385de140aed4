import VitrineRuntime

/// Shows each request and each of its stages as an interval in Instruments, under the subsystem `vitrine`.
///
/// ```swift
/// let pipeline = ImagePipeline { $0.observer = SignpostObserver() }
/// ```
/// For Apple's systems; on others it does nothing. An interval is shown from when the observer is told, which on a busy
/// machine is a little later than it was.
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
