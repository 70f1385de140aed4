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
  // Sendable: `daemon` changes only before the thread begins and after it has ended, which `stop` waits for;
  // `exchangeCount` and `date` are the thread's own.

  /// The owner, which stops the thread before it is released.
  unowned let listener: Listener
  /// The place among the listener's threads, from 0, which its counters go by.
  let index: Int
  /// The exchanges of its connections.
  let open = OpenExchanges()
  /// An eventfd that ends the wait.
  private let bell: CInt
  private var daemon: OpaquePointer?
  /// The connections that the acceptor has added.
  private let added = Lock([AcceptedConnection]())
  private let connections = Atomic(0)
  private var exchangeCount: UInt64 = 0
  private var date = (second: -Double.infinity, text: "")
  private let isEnding = Atomic(false)
  private let thread = Lock(JoinableThread?.none)

  /// Makes a thread that does not run yet; `nil` if the system has no descriptors to spare.
  init?(of listener: Listener, at index: Int) {
    bell = eventfd(0, CInt(EFD_CLOEXEC) | CInt(EFD_NONBLOCK))
    (self.listener, self.index) = (listener, index)
    guard bell >= 0 else { return nil }
  }

  deinit { if bell >= 0 { Glibc.close(bell) } }

  /// Begins to answer connections; called once.
  ///
  /// - Returns: `false` if the system has no thread or descriptors to spare.
  func start(_ options: inout vitrine_mhd_options) -> Bool {
    // The owner retains it until it has been stopped.
    unsafe options.context = Unmanaged.passUnretained(self).toOpaque()
    guard let daemon = unsafe vitrine_mhd_start(&options) else { return false }
    unsafe self.daemon = daemon
    let descriptor = unsafe vitrine_mhd_descriptor(daemon)
    guard let thread = JoinableThread(named: "listener \(index + 1)", { self.run(descriptor) }) else {
      stop()
      return false
    }
    self.thread.withLock { $0 = thread }
    return true
  }

  /// The number of its connections.
  var connectionCount: Int { connections.load(ordering: .relaxed) }

  /// Takes a connection, from the thread that has accepted it.
  func add(_ connection: AcceptedConnection) {
    connections.wrappingAdd(1, ordering: .relaxed)
    added.withLock { $0.append(connection) }
    ring()
  }

  /// A connection has been closed; called on this thread.
  func removed() { connections.wrappingSubtract(1, ordering: .relaxed) }

  /// Returns a number that no other exchange of the listener's threads has; called on this thread.
  func nextNumber(of threads: Int) -> UInt64 {
    exchangeCount += 1
    return exchangeCount * UInt64(threads) + UInt64(index)
  }

  /// Returns the value of `Date` (RFC 9110, section 6.6.1), made once a second; called on this thread.
  ///
  /// libmicrohttpd's own would take a lock of the C library that all threads share.
  func dateText(at now: Date) -> String {
    let second = now.timeIntervalSince1970.rounded(.down)
    if second != date.second { date = (second, HTTPTime.http(now)) }
    return date.text
  }

  /// Ends the thread and its connections, of which none may be suspended.
  func stop() {
    guard let daemon = unsafe daemon else { return }
    isEnding.store(true, ordering: .releasing)
    ring()
    thread.withLock { $0.take() }?.join()
    for connection in takeAdded() { connection.refuse() }
    unsafe MHD_stop_daemon(daemon)
    unsafe self.daemon = nil
  }

  /// Has the thread look at connections that have been added or resumed.
  func ring() { _ = eventfd_write(bell, 1) }

  private func run(_ descriptor: CInt) {
    guard let daemon = unsafe daemon else { return }
    var descriptors = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: bell, events: Int16(POLLIN), revents: 0),
    ]
    while !isEnding.load(ordering: .acquiring) {
      // The array outlives the call.
      unsafe poll(&descriptors, nfds_t(descriptors.count), vitrine_mhd_patience(daemon))
      if descriptors[1].revents != 0 {
        var count = eventfd_t()
        unsafe eventfd_read(bell, &count)
        for connection in takeAdded() where unsafe !connection.give(to: daemon) { removed() }
      }
      unsafe MHD_run(daemon)
    }
  }

  private func takeAdded() -> [AcceptedConnection] {
    added.withLock { added in
      defer { added = [] }
      return added
    }
  }
}
