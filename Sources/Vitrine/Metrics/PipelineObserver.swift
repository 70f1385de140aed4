/// Is told what the requests of a pipeline go through, as it happens.
///
/// ```swift
/// struct Counting: PipelineObserver {
///   func requestEnded(_ outcome: PipelineOutcome, _ event: PipelineEvent) { counter.add(event.facts["from"]) }
/// }
/// let pipeline = ImagePipeline { $0.observer = Counting() }
/// ```
/// Implement what you want to know of; the rest does nothing. Calls come one at a time, on a thread of their own and never
/// under a lock, so they may take their time and may use the pipeline. What happens to one stage is told in order, a stage
/// begins after what waits for it, and every end follows its beginning. An event says when it happened, which may be some
/// time before it is told.
///
/// What `ImagePipeline.cachedImage(for:)` finds is not told of.
public protocol PipelineObserver: Sendable {
  /// A request was made.
  func requestBegan(_ request: ImageRequest, _ event: PipelineEvent)
  /// A stage of a request began.
  func stageBegan(_ event: PipelineEvent)
  /// Another request waits for a stage that is under way, or has just ended.
  func stageJoined(by request: Int, _ event: PipelineEvent)
  /// A stage began with something else, and so ended what it did before.
  func phaseBegan(_ phase: String, _ event: PipelineEvent)
  /// Something is known now; it is among the event's facts.
  func noted(_ fact: String, _ event: PipelineEvent)
  /// A stage ended; the fact `error` says that it failed, or that nobody waits any more.
  func stageEnded(_ event: PipelineEvent)
  /// A request ended; whoever made it is told at the same time.
  func requestEnded(_ outcome: PipelineOutcome, _ event: PipelineEvent)
  /// So many requests were not told of, beginning to end, since observers were too slow: 10,000 events waited for them.
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

/// Something that happened to a request or to one of its stages.
public struct PipelineEvent: Sendable, Hashable {
  /// The request; of a stage that several wait for, the one that began it.
  public let request: Int
  /// The stage; the request itself has the same number in both.
  public let stage: Int
  /// What the stage does.
  public let kind: StageKind
  /// The address, path or id of what is loaded.
  public let source: String
  /// When it happened, by the clock that ``RequestMetrics`` has its times from.
  public let time: Duration
  /// What is known about the stage by then.
  public let facts: [String: RequestMetrics.Fact]
}

/// What came of a request.
public enum PipelineOutcome: Sendable {
  /// An image.
  case image(ImageResponse)
  /// Bytes, where no more was asked for.
  case data(byteCount: Int)
  /// An error, that of a cancelled request among them.
  case failure(LoadError)
}

/// Several observers as one; each is told in turn.
public struct PipelineObserverList: PipelineObserver {
  private let observers: [any PipelineObserver]

  /// Creates an observer of observers, the one to be told first in front.
  public init(_ observers: [any PipelineObserver]) { self.observers = observers }

  /// Tells each.
  public func requestBegan(_ request: ImageRequest, _ event: PipelineEvent) {
    each { $0.requestBegan(request, event) }
  }
  /// Tells each.
  public func stageBegan(_ event: PipelineEvent) { each { $0.stageBegan(event) } }
  /// Tells each.
  public func stageJoined(by request: Int, _ event: PipelineEvent) { each { $0.stageJoined(by: request, event) } }
  /// Tells each.
  public func phaseBegan(_ phase: String, _ event: PipelineEvent) { each { $0.phaseBegan(phase, event) } }
  /// Tells each.
  public func noted(_ fact: String, _ event: PipelineEvent) { each { $0.noted(fact, event) } }
  /// Tells each.
  public func stageEnded(_ event: PipelineEvent) { each { $0.stageEnded(event) } }
  /// Tells each.
  public func requestEnded(_ outcome: PipelineOutcome, _ event: PipelineEvent) {
    each { $0.requestEnded(outcome, event) }
  }
  /// Tells each.
  public func requestsMissed(_ count: Int) { each { $0.requestsMissed(count) } }

  private func each(_ tell: (any PipelineObserver) -> Void) {
    for observer in observers { tell(observer) }
  }
}
