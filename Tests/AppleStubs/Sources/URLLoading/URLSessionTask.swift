public import Foundation
import Synchronization

/// The size of a transfer that is not known.
public let NSURLSessionTransferSizeUnknown: Int64 = -1

// Sendable, since a lock guards what changes.
/// A load in a session.
///
/// All members may be used from any thread.
open class URLSessionTask: NSObject, NSCopying, @unchecked Sendable {
  /// The states of a task.
  public enum State: Int, Sendable {
    /// It loads, or waits for its turn.
    case running = 0
    /// It waits for ``URLSessionTask/resume()``.
    case suspended = 1
    /// It was cancelled, and is about to complete.
    case canceling = 2
    /// It ended.
    case completed = 3
  }

  /// What a working thread must know of the caller's wishes.
  struct Control {
    var isCancelled: Bool
    var isSuspended: Bool
    /// The number of calls to resume.
    var resumes: Int
  }

  private struct Values {
    var current: URLRequest
    var response: URLResponse?
    var error: URLError?
    var state = State.suspended
    var suspensions = 1
    var resumes = 0
    var priority: Float = 0.5
    var sent: Int64 = 0
    var received: Int64 = 0
    var expected: Int64 = 0
    var text: String?
    /// Kept until the end.
    var session: URLSession?
  }

  /// The priority of a task that got none.
  public class var defaultPriority: Float { 0.5 }
  /// A low priority.
  public class var lowPriority: Float { 0.25 }
  /// A high priority.
  public class var highPriority: Float { 0.75 }

  let created = Date()
  private let identifier: Int
  private let original: URLRequest
  private let values: Mutex<Values>

  init(_ request: URLRequest, identifier: Int, session: URLSession) {
    original = request
    self.identifier = identifier
    values = Mutex(Values(current: request, session: session))
  }

  /// The number of the task, unique in its session.
  open var taskIdentifier: Int { identifier }
  /// The request that the task was created with.
  open var originalRequest: URLRequest? { original }
  /// The request that is loaded now, which changes with redirects.
  open var currentRequest: URLRequest? { values.withLock { $0.current } }
  /// The response, as soon as there is one.
  open var response: URLResponse? { values.withLock { $0.response } }
  /// The state.
  open var state: URLSessionTask.State { values.withLock { $0.state } }
  /// The error that the task ended with.
  open var error: (any Error)? { values.withLock { $0.error } }
  /// The number of bytes of the body received so far.
  open var countOfBytesReceived: Int64 { values.withLock { $0.received } }
  /// The number of bytes of the request's body sent so far.
  open var countOfBytesSent: Int64 { values.withLock { $0.sent } }
  /// The number of bytes of the request's body.
  open var countOfBytesExpectedToSend: Int64 { Int64(original.httpBody?.count ?? 0) }
  /// The announced number of bytes of the body, or -1 if unknown.
  open var countOfBytesExpectedToReceive: Int64 { values.withLock { $0.expected } }

  /// The priority from 0 to 1, by which tasks that wait for a connection are ordered.
  open var priority: Float {
    get { values.withLock { $0.priority } }
    set { values.withLock { $0.priority = newValue } }
  }

  /// A text for the program's own use.
  open var taskDescription: String? {
    get { values.withLock { $0.text } }
    set { values.withLock { $0.text = newValue } }
  }

  /// Starts or continues the task.
  ///
  /// Each call takes back one suspension, of which a new task has one.
  open func resume() {
    change { values in
      guard values.state == .suspended || values.state == .running else { return }
      values.suspensions = max(0, values.suspensions - 1)
      values.resumes += 1
      if values.suspensions == 0 { values.state = .running }
    }
  }

  /// Stops the task for a while, during which it reads nothing and has no time-outs.
  open func suspend() {
    change { values in
      guard values.state == .suspended || values.state == .running else { return }
      values.suspensions += 1
      values.state = .suspended
    }
  }

  /// Ends the task with ``URLError/cancelled``, unless it has completed.
  open func cancel() {
    change { values in
      if values.state != .completed { values.state = .canceling }
    }
  }

  /// Returns the same task.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  // MARK: For the session

  var control: Control {
    values.withLock { values in
      Control(
        isCancelled: values.state == .canceling,
        isSuspended: values.state == .suspended,
        resumes: values.resumes,
      )
    }
  }

  /// The session, until the end.
  var session: URLSession? { values.withLock { $0.session } }

  func begin(_ request: URLRequest) {
    values.withLock { values in
      values.current = request
      values.sent = 0
    }
  }

  func note(_ response: URLResponse, expecting count: Int64) {
    values.withLock { values in
      values.response = response
      values.expected = count
    }
  }

  func note(received: Int) {
    values.withLock { $0.received += Int64(received) }
  }

  func note(sent: Int) {
    values.withLock { $0.sent += Int64(sent) }
  }

  /// Completes the task, and returns its error.
  func settle(_ failure: Failure?) -> URLError? {
    values.withLock { values in
      let final = values.state == .canceling ? Failure(.cancelled) : failure
      values.state = .completed
      values.error = final?.error(for: values.current.url)
      return values.error
    }
  }

  func release() {
    // Released without the lock.
    let session = values.withLock { $0.session.take() }
    _ = session
  }

  private func change(_ body: (inout Values) -> Void) {
    let session = values.withLock { values in
      body(&values)
      return values.session
    }
    session?.poke(self)
  }
}

// Sendable, as its superclass is.
/// A load that gives its body in pieces to the delegate.
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
