public import Foundation
import Synchronization

// Sendable, since a lock guards what changes.
/// A group of loads with common settings and a common delegate.
///
/// It loads plain HTTP only. It keeps its delegate and its running tasks until it is invalidated. Releasing it without
/// that closes its connections, which is kinder than Apple's.
open class URLSession: NSObject, @unchecked Sendable {
  /// What follows a response.
  public enum ResponseDisposition: Int, Sendable {
    /// The task ends as if cancelled.
    case cancel = 0
    /// The task loads the body.
    case allow = 1
    /// The task becomes a download, which cannot be done here and fails.
    case becomeDownload = 2
    /// The task becomes a stream, which cannot be done here and fails.
    case becomeStream = 3
  }

  /// What follows a challenge.
  public enum AuthChallengeDisposition: Int, Sendable {
    /// The given credential is sent.
    case useCredential = 0
    /// What the session would do by itself.
    case performDefaultHandling = 1
    /// The task ends as if cancelled.
    case cancelAuthenticationChallenge = 2
    /// The response that asked is the result.
    case rejectProtectionSpace = 3
  }

  private struct Values {
    var delegate: (any URLSessionDelegate)?
    var tasks: [Int: URLSessionDataTask] = [:]
    var nextIdentifier = 1
    var isInvalid = false
    var isEnding = false
    var text: String?
  }

  /// The settings at the creation.
  let settings: URLSessionConfiguration.Values
  private let queue: OperationQueue
  private let engine: Engine
  private let values: Mutex<Values>

  /// Creates a session.
  ///
  /// Without a queue it makes a serial one.
  public init(
    configuration: URLSessionConfiguration,
    delegate: (any URLSessionDelegate)?,
    delegateQueue queue: OperationQueue?,
  ) {
    settings = configuration.values
    engine = Engine(connectionsPerHost: settings.connectionsPerHost)
    values = Mutex(Values(delegate: delegate))
    self.queue = queue ?? OperationQueue()
    if queue == nil {
      self.queue.maxConcurrentOperationCount = 1
      self.queue.name = "URLSession's delegate"
    }
  }

  /// Creates a session without a delegate.
  public convenience init(configuration: URLSessionConfiguration) {
    self.init(configuration: configuration, delegate: nil, delegateQueue: nil)
  }

  deinit {
    engine.close(then: nil)
  }

  /// A copy of the configuration.
  open var configuration: URLSessionConfiguration { URLSessionConfiguration(settings) }
  /// The delegate, until the end of the session.
  open var delegate: (any URLSessionDelegate)? { values.withLock { $0.delegate } }
  /// The queue of the calls to the delegate.
  open var delegateQueue: OperationQueue { queue }

  /// A text for the program's own use.
  open var sessionDescription: String? {
    get { values.withLock { $0.text } }
    set { values.withLock { $0.text = newValue } }
  }

  /// Creates a suspended task.
  ///
  /// It traps after the session was invalidated, where Apple's raises an exception.
  open func dataTask(with request: URLRequest) -> URLSessionDataTask {
    let task: URLSessionDataTask? = values.withLock { values in
      guard !values.isInvalid else { return nil }
      let task = URLSessionDataTask(request, identifier: values.nextIdentifier, session: self)
      values.nextIdentifier += 1
      values.tasks[task.taskIdentifier] = task
      return task
    }
    guard let task else { preconditionFailure("Task created in a session that has been invalidated") }
    return task
  }

  /// Creates a suspended task that gets a URL.
  open func dataTask(with url: URL) -> URLSessionDataTask {
    dataTask(with: URLRequest(url: url))
  }

  /// Calls the handler on the delegate's queue with all tasks that have not completed.
  open func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
    let tasks = outstanding
    queue.addOperation { completionHandler(tasks) }
  }

  /// All tasks that have not completed.
  open var allTasks: [URLSessionTask] {
    get async { outstanding }
  }

  private var outstanding: [URLSessionTask] {
    values.withLock { $0.tasks.values.sorted { $0.taskIdentifier < $1.taskIdentifier } }
  }

  /// Cancels all tasks, and ends the session once they have completed.
  open func invalidateAndCancel() {
    let tasks = values.withLock { values in
      values.isInvalid = true
      return Array(values.tasks.values)
    }
    for task in tasks { task.cancel() }
    endIfDone()
  }

  /// Ends the session once its tasks have completed.
  open func finishTasksAndInvalidate() {
    values.withLock { $0.isInvalid = true }
    endIfDone()
  }

  // MARK: For tasks

  /// Makes the engine look at a task whose state changed.
  func poke(_ task: URLSessionTask) {
    engine.poke(task) { Job(task, self) }
  }

  /// Calls the delegate on its queue, or gives the standard answer if the delegate is not of this kind.
  func ask<Kind: Sendable, Value>(
    _ kind: Kind.Type,
    _ answer: Answer<Value>,
    else standard: Value,
    _ body: @escaping @Sendable (Kind) -> Void,
  ) {
    guard let delegate = delegate as? Kind else { return answer.give(standard) }
    queue.addOperation { body(delegate) }
  }

  /// Completes a task.
  func complete(_ task: URLSessionTask, transactions: [Transaction], redirects: Int, failure: Failure?) {
    queue.addOperation { [self] in
      let error = task.settle(failure)
      engine.forget(task)
      let metrics = URLSessionTaskMetrics(
        transactions: transactions,
        interval: DateInterval(start: task.created, end: max(task.created, Date())),
        redirects: redirects,
      )
      if let delegate = delegate as? any URLSessionTaskDelegate {
        delegate.urlSession(self, task: task, didFinishCollecting: metrics)
        delegate.urlSession(self, task: task, didCompleteWithError: error)
      }
      // Released without the lock.
      let last = values.withLock { $0.tasks.removeValue(forKey: task.taskIdentifier) }
      last?.release()
      endIfDone()
    }
  }

  private func endIfDone() {
    let ends = values.withLock { values in
      guard values.isInvalid, values.tasks.isEmpty, !values.isEnding else { return false }
      values.isEnding = true
      return true
    }
    guard ends else { return }
    engine.close { [self] in
      queue.addOperation { [self] in
        delegate?.urlSession(self, didBecomeInvalidWithError: nil)
        // Released without the lock.
        let delegate = values.withLock { $0.delegate.take() }
        _ = delegate
      }
    }
  }
}
