public import Vitrine

extension ImageTask {
  /// Waits until some of the bytes that a test has sent are on their way to this task, or until it ends.
  ///
  /// A task that looks on disk first joins a load of another a moment after it was made. Once it knows of bytes, it has
  /// joined, and the load goes on for it when the other leaves:
  ///
  /// ```swift
  /// load.send(file.prefix(100))
  /// await second.hasBytes()
  /// first.cancel()
  /// ```
  ///
  /// At least one byte must have been sent, or this waits until the task ends. Returns early if the awaiting task is
  /// cancelled, as by a test's time limit.
  public func hasBytes() async {
    // No event tells, since a task with a listener would make previews.
    while state == .running, progress.completed == 0, !Task.isCancelled { await Task.yield() }
  }
}
