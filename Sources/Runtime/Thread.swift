/// Starts a thread that runs `body` and then ends.
///
/// Blocking work runs on such threads: there are only as many cooperative threads of Swift as cores, and a blocked
/// one delays every other task of the program. Does not wait for the thread, which cannot be joined.
///
/// - Parameters:
///   - label: The name in debuggers and `top -H`; Linux keeps its first 15 bytes.
///   - stackSize: The size of the stack in bytes. Defaults to 1 MB, between Musl's 128 KB and Glibc's 8 MB.
///   - niceness: The niceness of the thread, from 0 to 19: higher values yield more to the program's other threads. Has
///     an effect on Linux only. Defaults to 0.
///   - body: The work.
/// - Returns: `true` if the system started a thread.
package func startThread(
  named label: String,
  stackSize: Int = 1 << 20,
  niceness: CInt = 0,
  _ body: @escaping @Sendable () -> Void,
) -> Bool {
  // `attributes` outlives the calls, and `pthread_create` copies it.
  var attributes = pthread_attr_t()
  guard unsafe pthread_attr_init(&attributes) == 0 else { return false }
  defer { unsafe pthread_attr_destroy(&attributes) }
  unsafe pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
  // If the size is too small, the call fails, and the thread has the system's default.
  unsafe pthread_attr_setstacksize(&attributes, stackSize)

  // The start is retained here, and released by the thread, or here if there is none.
  let start = unsafe Unmanaged.passRetained(ThreadStart(label: label, niceness: niceness, body: body))
  #if canImport(Glibc)
  var thread = pthread_t()
  #else
  var thread: pthread_t?
  #endif
  let status = unsafe pthread_create(&thread, &attributes, runThread, start.toOpaque())
  if status != 0 { unsafe start.release() }
  return status == 0
}

final class ThreadStart: Sendable {
  let label: String
  let niceness: CInt
  let body: @Sendable () -> Void

  init(label: String, niceness: CInt = 0, body: @escaping @Sendable () -> Void) {
    self.label = label
    self.niceness = niceness
    self.body = body
  }

  func run() {
    nameThread()
    #if os(Linux)
    // Linux applies `nice` to this thread alone, unlike POSIX (nice(2)). A lower priority is always permitted.
    if niceness > 0 { _ = nice(niceness) }
    #endif
    body()
  }

  private func nameThread() {
    #if canImport(Darwin)
    unsafe pthread_setname_np(label)
    #else
    // Swift sees neither `pthread_setname_np`, a GNU extension, nor `prctl`, which is variadic. The kernel truncates
    // the name. Without /proc the thread has the program's name.
    guard let file = unsafe fopen("/proc/thread-self/comm", "we") else { return }
    // The file has just been opened, and is closed once.
    unsafe fputs(label, file)
    unsafe fclose(file)
    #endif
  }
}

#if canImport(Darwin)
func runThread(_ start: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
  // `startThread` retained it for this function.
  unsafe Unmanaged<ThreadStart>.fromOpaque(start).takeRetainedValue().run()
  return nil
}
#else
func runThread(_ start: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let start = unsafe start else { return nil }
  // `startThread` retained it for this function.
  unsafe Unmanaged<ThreadStart>.fromOpaque(start).takeRetainedValue().run()
  return nil
}
#endif
