/// A type that is notified of the events of a pipeline's requests.
///
/// ```swift
/// struct Counting: PipelineObserver {
///   func requestEnded(_ outcome: PipelineOutcome, _ event: PipelineEvent) { counter.add(event.facts["from"]) }
/// }
/// let pipeline = ImagePipeline { $0.observers = [Counting()] }
/// ```
/// Every method has a default that does nothing. Calls come one at a time, on a thread of their own and never under a
/// lock, so they may block and may use the pipeline. Events of one stage come in order, a stage begins after the stage
/// that waits for it, and every end follows its beginning. An event has its own time, which may precede the call.
///
/// Hits of `ImagePipeline.cachedImage(for:)` are not reported.
public protocol PipelineObserver: Sendable {
  /// A request was made.
  func requestBegan(_ request: ImageRequest, _ event: PipelineEvent)
  /// A stage of a request began.
  func stageBegan(_ event: PipelineEvent)
  /// Another request waits for a stage that is under way, or has just ended.
  func stageJoined(by request: Int, _ event: PipelineEvent)
  /// A stage entered a phase, and so ended the previous one.
  func phaseBegan(_ phase: String, _ event: PipelineEvent)
  /// A fact became known; it is in the event's facts.
  func noted(_ fact: String, _ event: PipelineEvent)
  /// A stage ended. The fact `error` shows that it failed or was abandoned by all requests.
  func stageEnded(_ event: PipelineEvent)
  /// A request ended; its caller is notified at the same time.
  func requestEnded(_ outcome: PipelineOutcome, _ event: PipelineEvent)
  /// This number of requests was left out, from beginning to end, because 10,000 events were waiting for slow
  /// observers.
  func requestsMissed(_ count: Int)
}

extension PipelineObserver {
  /// Does nothing.
  public func requestBegan(_ request: ImageRequest, _ event: PipelineEvent) {}
  /// Does nothing.
  public func stageBegan(_ event: PipelineEvent) {}
  /// Does nothing.
  public func stageJoined(by request: Int, _ event: PipelineEvent) {}
  /// Does nothing.
  public func phaseBegan(_ phase: String, _ event: PipelineEvent) {}
  /// Does nothing.
  public func noted(_ fact: String, _ event: PipelineEvent) {}
  /// Does nothing.
  public func stageEnded(_ event: PipelineEvent) {}
  /// Does nothing.
  public func requestEnded(_ outcome: PipelineOutcome, _ event: PipelineEvent) {}
  /// Does nothing.
  public func requestsMissed(_ count: Int) {}
}

/// An event of a request or of one of its stages.
public struct PipelineEvent: Sendable, Hashable {
  /// The id of the request; a shared stage has the id of the request that began it.
  public let request: Int
  /// The id of the stage; the request itself has the id ``request``.
  public let stage: Int
  /// The kind of the stage.
  public let kind: StageKind
  /// The URL, path or id of the image.
  public let source: String
  /// The time of the event, by the clock of ``RequestMetrics``.
  public let time: Duration
  /// The facts known about the stage so far.
  public let facts: [String: RequestMetrics.Fact]
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

/// A list of observers that is one observer and notifies each in turn.
struct PipelineObserverList: PipelineObserver {
  private let observers: [any PipelineObserver]

  init(_ observers: [any PipelineObserver]) { self.observers = observers }

  func requestBegan(_ request: ImageRequest, _ event: PipelineEvent) {
    each { $0.requestBegan(request, event) }
  }
  func stageBegan(_ event: PipelineEvent) { each { $0.stageBegan(event) } }
  func stageJoined(by request: Int, _ event: PipelineEvent) { each { $0.stageJoined(by: request, event) } }
  func phaseBegan(_ phase: String, _ event: PipelineEvent) { each { $0.phaseBegan(phase, event) } }
  func noted(_ fact: String, _ event: PipelineEvent) { each { $0.noted(fact, event) } }
  func stageEnded(_ event: PipelineEvent) { each { $0.stageEnded(event) } }
  func requestEnded(_ outcome: PipelineOutcome, _ event: PipelineEvent) {
    each { $0.requestEnded(outcome, event) }
  }
  func requestsMissed(_ count: Int) { each { $0.requestsMissed(count) } }

  private func each(_ tell: (any PipelineObserver) -> Void) {
    for observer in observers { tell(observer) }
  }
}
