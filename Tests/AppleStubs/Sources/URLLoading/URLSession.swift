public import Foundation
import Synchronization

// Sendable, since a lock guards what changes.
/// A group of loads with common settings and a common delegate.
///
/// It loads plain HTTP/1.1 only, follows no redirects, and has neither caches nor cookies. It keeps its delegate and its
/// running tasks until it is invalidated. Releasing it without that closes its connections, which is kinder than Apple's.
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

  private struct Values {
    var delegate: (any URLSessionDataDelegate)?
    var tasks: [Int: URLSessionDataTask] = [:]
    var nextIdentifier = 1
    var isInvalid = false
  }

  private let queue: OperationQueue
  private let engine: Engine
  private let values: Mutex<Values>

  /// Creates a session, whose delegate is called on a serial queue.
  public init(
    configuration: URLSessionConfiguration,
    delegate: (any URLSessionDelegate)?,
    delegateQueue queue: OperationQueue?,
  ) {
    engine = Engine(connectionsPerHost: configuration.httpMaximumConnectionsPerHost)
    values = Mutex(Values(delegate: delegate as? any URLSessionDataDelegate))
    self.queue = queue ?? OperationQueue()
    if queue == nil { self.queue.maxConcurrentOperationCount = 1 }
  }

  deinit { engine.close() }

  /// Creates a suspended task.
  ///
  /// It traps after the session was invalidated, where Apple's raises an exception.
  open func dataTask(with request: URLRequest) -> URLSessionDataTask {
    values.withLock { values in
      precondition(!values.isInvalid, "Task created in a session that has been invalidated")
      let task = URLSessionDataTask(request, identifier: values.nextIdentifier, session: self)
      values.nextIdentifier += 1
      values.tasks[task.taskIdentifier] = task
      return task
    }
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

  // MARK: For tasks

  /// Makes the engine look at a task whose state changed.
  func poke(_ task: URLSessionDataTask) { engine.poke(task) { Job(task, self) } }

  /// Calls the delegate on its queue.
  func tell(_ body: @escaping @Sendable (any URLSessionDataDelegate) -> Void) {
    queue.addOperation { [self] in
      guard let delegate = values.withLock({ $0.delegate }) else {
        preconditionFailure("a session calls its delegate")
      }
      body(delegate)
    }
  }

  /// Completes a task.
  func complete(_ task: URLSessionDataTask, _ transactions: [Transaction], _ failure: Failure?) {
    tell { [self] delegate in
      let error = task.settle(failure)
      engine.forget(task)
      delegate.urlSession(
        self,
        task: task,
        didFinishCollecting: URLSessionTaskMetrics(transactions),
      )
      delegate.urlSession(self, task: task, didCompleteWithError: error)
      // Released without the lock.
      let last = values.withLock { $0.tasks.removeValue(forKey: task.taskIdentifier) }
      last?.release()
      endIfDone()
    }
  }

  /// Lets the delegate go after the last task of a session that is invalidated.
  private func endIfDone() {
    guard values.withLock({ $0.isInvalid && $0.tasks.isEmpty }) else { return }
    engine.close()
    queue.addOperation { [self] in
      // Released without the lock.
      let delegate = values.withLock { $0.delegate.take() }
      _ = delegate
    }
  }
}
