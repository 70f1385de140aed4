import Foundation

/// The eye on a task's wishes and time-outs while a thread works for it.
///
/// It belongs to one thread.
final class Watch {
  private let task: URLSessionTask
  private let waker: Waker
  private let idle: TimeInterval
  private var last: TimeInterval
  private var resumes: Int

  init(_ job: Job, _ waker: Waker) {
    task = job.task
    self.waker = waker
    idle = job.request.timeoutInterval
    last = ProcessInfo.processInfo.systemUptime
    resumes = job.task.control.resumes
  }

  /// Notes progress, from which the idle time-out counts.
  func touch() { last = ProcessInfo.processInfo.systemUptime }

  /// Waits while the task is suspended.
  func check() throws(Failure) {
    while true {
      let control = task.control
      if control.isCancelled { throw Failure(.cancelled) }
      guard control.isSuspended else { return renew(control) }
      _ = waker.wait()
    }
  }

  /// Waits until a socket is ready.
  func wait(for socket: Int32, _ events: Int32) throws(Failure) {
    while true {
      try check()
      let left = last + idle - ProcessInfo.processInfo.systemUptime
      switch waker.wait(for: socket, events, atMost: max(0, left)) {
      case .ready: return
      case .woken: continue
      case .timedOut: if left <= 0 { throw Failure(.timedOut) }
      }
    }
  }

  private func renew(_ control: URLSessionTask.Control) {
    guard control.resumes != resumes else { return }
    resumes = control.resumes
    touch()
  }
}
