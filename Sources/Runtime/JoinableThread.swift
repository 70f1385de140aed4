/// A thread that must be joined exactly once.
///
/// It suits work that must end before the process continues, such as at exit. Everything else uses
/// ``startThread(named:stackSize:_:)``.
@safe
package struct JoinableThread: @unchecked Sendable {
  // Sendable, because a `pthread_t` names a thread and is only read.
  private let thread: pthread_t

  /// Starts a thread with a stack of 1 MB that runs `body` and then ends.
  ///
  /// Returns `nil` if the system refuses to create one.
  package init?(named label: String, _ body: @escaping @Sendable () -> Void) {
    // `attributes` outlives the calls, and `pthread_create` copies it.
    var attributes = pthread_attr_t()
    guard unsafe pthread_attr_init(&attributes) == 0 else { return nil }
    defer { unsafe pthread_attr_destroy(&attributes) }
    unsafe pthread_attr_setstacksize(&attributes, 1 << 20)
    // The start is retained here, and released by the thread, or here if there is none.
    let start = unsafe Unmanaged.passRetained(ThreadStart(label: label, body: body))
    #if canImport(Glibc)
    var thread = pthread_t()
    #else
    var thread: pthread_t?
    #endif
    guard unsafe pthread_create(&thread, &attributes, runThread, start.toOpaque()) == 0 else {
      unsafe start.release()
      return nil
    }
    #if canImport(Glibc)
    self.thread = thread
    #else
    guard let thread = unsafe thread else { return nil }
    unsafe self.thread = thread
    #endif
  }

  /// Blocks until the thread has ended.
  ///
  /// Call it only once, and not on the thread itself.
  package func join() {
    // By contract the thread is joined only once.
    #if canImport(Glibc)
    pthread_join(thread, nil)
    #else
    unsafe pthread_join(thread, nil)
    #endif
  }
}
