/// A type that is notified of the events of a pipeline's requests.
///
/// ```swift
/// struct Counting: PipelineObserver {
///   func observe(_ event: PipelineEvent) {
///     if case .requestEnded(_, let request) = event { counter.add(request.facts["from"]) }
///   }
/// }
/// let pipeline = ImagePipeline { $0.observers = [Counting()] }
/// ```
/// Calls come one at a time, on a thread of their own and never under a lock, so they may block and may use the
/// pipeline. Events of one stage come in order, a stage begins after the stage that waits for it, and every end follows
/// its beginning.
///
/// Hits of `ImagePipeline.cachedImage(for:)` are not reported.
public protocol PipelineObserver: Sendable {
  /// Receives an event, some time after it happened.
  func observe(_ event: PipelineEvent)
}

/// An event of a request or of one of its stages, with the stage as it was then.
///
/// The stages that a stage waits for have events of their own: ``RequestMetrics/Stage/stages`` is empty, and
/// ``RequestMetrics/Stage/request`` joins them. Later versions may add cases; a `switch` over them needs a default.
public enum PipelineEvent: Sendable {
  /// A request was made, which is a stage of kind ``StageKind/request``.
  case requestBegan(ImageRequest, RequestMetrics.Stage)
  /// A stage of a request began.
  case stageBegan(RequestMetrics.Stage)
  /// Another request, of this id, waits for a stage that is under way, or has just ended.
  case stageJoined(RequestMetrics.Stage, by: Int)
  /// A stage entered a phase, the last of its phases, and so ended the previous one.
  case phaseBegan(RequestMetrics.Stage)
  /// A fact of this name became known; it is in the stage's facts.
  case noted(String, RequestMetrics.Stage)
  /// A stage ended. The fact `error` shows that it failed or was abandoned by all requests.
  case stageEnded(RequestMetrics.Stage)
  /// A request ended; its caller is notified at the same time.
  case requestEnded(PipelineOutcome, RequestMetrics.Stage)
  /// This number of requests was left out, from beginning to end, because 10,000 events were waiting for slow
  /// observers.
  case requestsMissed(Int)
}

/// The outcome of a request.
public enum PipelineOutcome: Sendable {
  /// An image.
  case image(ImageResponse)
  /// The data of a request for data only.
  case data(byteCount: Int)
  /// An error; a cancelled request also ends with an error.
  case failure(LoadError)
}
