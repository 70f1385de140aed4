public import Foundation
import Synchronization

/// A load of any kind; there is one kind.
public typealias URLSessionTask = URLSessionDataTask

// Sendable, since a lock guards what changes.
/// A load in a session, which gives its body in pieces to the delegate.
///
/// All members may be used from any thread.
open class URLSessionDataTask: NSObject, @unchecked Sendable {
  /// What a working thread must know of the caller's wishes.
  struct Control {
    var isCancelled: Bool
    var isSuspended: Bool
    /// The number of calls to resume.
    var resumes: Int
  }

  private enum State { case live, canceling, completed }

  private struct Values {
    var state = State.live
    var suspensions = 1
    var resumes = 0
    var priority: Float = 0.5
    /// Kept until the end.
    var session: URLSession?
  }

  let request: URLRequest
  private let identifier: Int
  private let values: Mutex<Values>

  init(_ request: URLRequest, identifier: Int, session: URLSession) {
    (self.request, self.identifier) = (request, identifier)
    values = Mutex(Values(session: session))
  }

  /// The number of the task, unique in its session.
  open var taskIdentifier: Int { identifier }

  /// The priority from 0 to 1, by which tasks that wait for a connection are ordered.
  open var priority: Float {
    get { values.withLock { $0.priority } }
    set { values.withLock { $0.priority = newValue } }
  }

  /// Starts or continues the task.
  ///
  /// Each call takes back one suspension, of which a new task has one.
  open func resume() {
    change { values in
      values.suspensions = max(0, values.suspensions - 1)
      values.resumes += 1
    }
  }

  /// Stops the task for a while, during which it reads nothing and has no time-outs.
  open func suspend() { change { $0.suspensions += 1 } }

  /// Ends the task with `URLError.cancelled`, unless it has completed.
  open func cancel() {
    change { values in
      if values.state == .live { values.state = .canceling }
    }
  }

  // MARK: For the session

  var control: Control {
    values.withLock { values in
      Control(
        isCancelled: values.state == .canceling,
        isSuspended: values.state == .live && values.suspensions > 0,
        resumes: values.resumes,
      )
    }
  }

  /// Whether the delegate has heard of its end.
  var isCompleted: Bool { values.withLock { $0.state == .completed } }

  /// The session, until the end.
  var session: URLSession? { values.withLock { $0.session } }

  /// Completes the task, and returns its error.
  func settle(_ failure: Failure?) -> URLError? {
    values.withLock { values in
      let final = values.state == .canceling ? Failure(.cancelled) : failure
      values.state = .completed
      return final.map { URLError($0.code) }
    }
  }

  /// Lets the session go.
  func release() {
    // Released without the lock.
    let session = values.withLock { $0.session.take() }
    _ = session
  }

  private func change(_ body: (inout Values) -> Void) {
    let session = values.withLock { values in
      if values.state != .completed { body(&values) }
      return values.session
    }
    session?.poke(self)
  }
}
