/// Starts a thread of our own that runs `body` and ends with it.
///
/// What blocks runs on such threads: Swift's cooperative threads are as few as the cores, and one that
/// blocks delays every other task of the program. Does not wait for the thread, and nobody joins it.
///
/// - Parameters:
///   - label: The name that debuggers and `top -H` show; Linux keeps its first 15 bytes.
///   - stackSize: In bytes; 1 MB by default, where Musl would give 128 KB and Glibc 8 MB.
///   - body: What the thread does.
/// - Returns: Whether the system had a thread to give.
package func startThread(
  named label: String,
  stackSize: Int = 1 << 20,
  _ body: @escaping @Sendable () -> Void,
) -> Bool {
  // `attributes` outlives the calls, and `pthread_create` copies it.
  var attributes = pthread_attr_t()
  guard unsafe pthread_attr_init(&attributes) == 0 else { return false }
  defer { unsafe pthread_attr_destroy(&attributes) }
  unsafe pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
  // Too small a size is refused, and the thread then has the system's own.
  unsafe pthread_attr_setstacksize(&attributes, stackSize)

  // Retained here, released by the thread, or here if there is none.
  let start = unsafe Unmanaged.passRetained(ThreadStart(label: label, body: body))
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
  let body: @Sendable () -> Void

  init(label: String, body: @escaping @Sendable () -> Void) {
    self.label = label
    self.body = body
  }

  func run() {
    nameThread()
    body()
  }

  private func nameThread() {
    #if canImport(Darwin)
    unsafe pthread_setname_np(label)
    #else
    // Swift sees neither `pthread_setname_np`, a GNU extension, nor `prctl`, which is variadic. The kernel
    // cuts the name; where there is no /proc the thread has the program's.
    guard let file = unsafe fopen("/proc/thread-self/comm", "we") else { return }
    // Just opened, and closed once.
    unsafe fputs(label, file)
    unsafe fclose(file)
    #endif
  }
}

#if canImport(Darwin)
func runThread(_ start: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
  // `startThread` retained it for us.
  unsafe Unmanaged<ThreadStart>.fromOpaque(start).takeRetainedValue().run()
  return nil
}
#else
func runThread(_ start: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let start = unsafe start else { return nil }
  // `startThread` retained it for us.
  unsafe Unmanaged<ThreadStart>.fromOpaque(start).takeRetainedValue().run()
  return nil
}
#endif
