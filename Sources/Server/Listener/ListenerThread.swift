import CLibMicroHTTPD
import CVitrineMHD
import Synchronization
import VitrineRuntime

/// One thread that reads requests and writes answers, with connections of its own.
///
/// libmicrohttpd has threads, too. But where exactly 128 events come at once, the threads of version 0.9.75 wait for
/// another one before they look at them, and a rush of connections stands still until a time-out. So this one waits
/// itself.
@safe
final class ListenerThread: @unchecked Sendable {
  // Sendable: `daemon` changes only before the thread begins and after it has ended, which `stop` waits for.

  /// The owner, which stops the thread before it is released.
  unowned let listener: Listener
  /// An eventfd that ends the wait.
  private let bell: CInt
  private var daemon: OpaquePointer?
  private let isDraining = Atomic(false)
  private let isEnding = Atomic(false)
  private let thread = Lock(JoinableThread?.none)

  /// Makes a thread that does not run yet; `nil` if the system has no descriptors to spare.
  init?(of listener: Listener) {
    bell = eventfd(0, CInt(EFD_CLOEXEC) | CInt(EFD_NONBLOCK))
    self.listener = listener
    guard bell >= 0 else { return nil }
  }

  deinit { Glibc.close(bell) }

  /// Begins to answer the connections of a listening socket, of which it has a descriptor of its own; called once.
  ///
  /// - Returns: `false` if the system has no thread or descriptors to spare.
  func start(on socket: CInt, _ options: inout vitrine_mhd_options, number: Int) -> Bool {
    let own = fcntl(socket, F_DUPFD_CLOEXEC, 0)
    guard own >= 0 else { return false }
    unsafe options.listening_socket = own
    // The owner retains it until it has been stopped.
    unsafe options.context = Unmanaged.passUnretained(self).toOpaque()
    guard let daemon = unsafe vitrine_mhd_start(&options) else {
      Glibc.close(own)
      return false
    }
    unsafe self.daemon = daemon
    let descriptor = unsafe vitrine_mhd_descriptor(daemon)
    guard let thread = JoinableThread(named: "listener \(number)", { self.run(descriptor) }) else {
      stop()
      return false
    }
    self.thread.withLock { $0 = thread }
    return true
  }

  /// Stops accepting connections, a moment later.
  func drain() {
    isDraining.store(true, ordering: .releasing)
    ring()
  }

  /// Ends the thread and its connections, of which none may be suspended.
  func stop() {
    guard let daemon = unsafe daemon else { return }
    isEnding.store(true, ordering: .releasing)
    ring()
    thread.withLock { $0.take() }?.join()
    unsafe MHD_stop_daemon(daemon)
    unsafe self.daemon = nil
  }

  /// Has the thread look at connections that have been resumed.
  func ring() { _ = eventfd_write(bell, 1) }

  private func run(_ descriptor: CInt) {
    guard let daemon = unsafe daemon else { return }
    var isListening = true
    var descriptors = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: bell, events: Int16(POLLIN), revents: 0),
    ]
    while !isEnding.load(ordering: .acquiring) {
      if isListening, isDraining.load(ordering: .acquiring) {
        isListening = false
        let socket = unsafe MHD_quiesce_daemon(daemon)
        if socket >= 0 { Glibc.close(socket) }
      }
      // The array outlives the call.
      unsafe poll(&descriptors, nfds_t(descriptors.count), vitrine_mhd_patience(daemon))
      if descriptors[1].revents != 0 {
        var count = eventfd_t()
        unsafe eventfd_read(bell, &count)
      }
      unsafe MHD_run(daemon)
    }
  }
}
