/// An executor that runs each part of a task, between two waits, on the thread that starts or resumes it.
///
/// A task on it costs no change of thread, like a callback: a new task runs within `Task.init` until its first wait, and
/// a continuation runs the next part within `resume`. So a continuation must be resumed with no lock held. What may block
/// must run in another task.
package final class InlineExecutor: TaskExecutor {
  package static let shared = InlineExecutor()

  private init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // The part of the task is run once, here.
    unsafe job.runSynchronously(on: asUnownedTaskExecutor())
  }
}

extension TaskExecutor where Self == InlineExecutor {
  /// The executor that runs parts of tasks where they are resumed.
  package static var inline: InlineExecutor { InlineExecutor.shared }
}
