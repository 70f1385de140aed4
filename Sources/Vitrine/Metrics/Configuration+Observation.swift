/// What of a configuration is about watching requests.
struct ObservationParts: Sendable {
  var collectsMetrics = false
  var observer: (any PipelineObserver)?
  var log: (@Sendable (LogEntry) -> Void)?
  var recorder: TraceRecorder?
}

extension ImagePipeline.Configuration {
  /// Whether each task records what it goes through, for ``ImageTask/metrics``; `false` by default, which costs nothing.
  public var collectsMetrics: Bool {
    get { observation.collectsMetrics }
    set { observation.collectsMetrics = newValue }
  }

  /// Who is told what every request goes through; `nil`, the default, for nobody, which costs nothing.
  public var observer: (any PipelineObserver)? {
    get { observation.observer }
    set { observation.observer = newValue }
  }

  /// Where lines for a log go; `nil`, the default, for nowhere, which costs nothing.
  ///
  /// ```swift
  /// $0.log = { entry in
  ///   if entry.level > .debug { print(entry.level, entry) }
  /// }
  /// ```
  /// Called for every level, one line at a time, on a thread of its own: it may block.
  public var log: (@Sendable (LogEntry) -> Void)? {
    get { observation.log }
    set { observation.log = newValue }
  }

  /// Where the stages of all requests are kept; `nil`, the default, for nowhere.
  package var recorder: TraceRecorder? {
    get { observation.recorder }
    set { observation.recorder = newValue }
  }
}

extension ImagePipeline {
  /// Waits until ``Configuration/observer`` and ``Configuration/log`` have been told everything that has happened so far.
  ///
  /// A program that ends by itself calls it before. Returns at once where nobody listens.
  public func flushEvents() async {
    guard let feed = context.recorder?.feed else { return }
    await withCheckedContinuation { continuation in feed.afterAll { continuation.resume() } }
  }
}
