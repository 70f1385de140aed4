import CLibMicroHTTPD
import CVitrineMHD
import Synchronization
import VitrineRuntime

/// Accepts connections on a thread of its own, and gives each to the listener's thread that has the fewest.
///
/// With one socket for all threads, the kernel wakes any of them, and with a socket for each it deals by a hash: of the few
/// connections that a proxy keeps open, one thread could have most.
@safe
final class Acceptor: @unchecked Sendable {
  // Sendable: the properties never change, and the socket is closed by the thread alone.

  private let threads: [ListenerThread]
  private let limit: Int
  /// An eventfd that ends the wait.
  private let bell: CInt
  private let isEnding = Atomic(false)
  private let thread = Lock(JoinableThread?.none)

  /// Begins to accept the connections of a socket, which it takes over; `nil` if the system has no thread or descriptors.
  ///
  /// At the limit of open connections the next ones wait in the kernel.
  init?(_ socket: CInt, limit: Int, _ threads: [ListenerThread]) {
    bell = eventfd(0, CInt(EFD_CLOEXEC) | CInt(EFD_NONBLOCK))
    (self.threads, self.limit) = (threads, limit)
    guard bell >= 0 else { return nil }
    // The thread is joined before the object ends.
    unowned let acceptor = self
    guard let thread = JoinableThread(named: "acceptor", { acceptor.run(socket) }) else { return nil }
    self.thread.withLock { $0 = thread }
  }

  deinit { if bell >= 0 { close(bell) } }

  /// Closes the socket and ends the thread; blocks until that is done.
  func stop() {
    isEnding.store(true, ordering: .releasing)
    eventfd_write(bell, 1)
    thread.withLock { $0.take() }?.join()
  }

  private func run(_ socket: CInt) {
    defer { close(socket) }
    while !isEnding.load(ordering: .acquiring) {
      var descriptors = [pollfd(fd: bell, events: Int16(POLLIN), revents: 0)]
      let isFull = threads.reduce(0) { $0 + $1.connectionCount } >= limit
      if !isFull { descriptors.append(pollfd(fd: socket, events: Int16(POLLIN), revents: 0)) }
      // The array outlives the call. A place becomes free without a bell.
      unsafe poll(&descriptors, nfds_t(descriptors.count), isFull ? 20 : -1)
      guard !isFull, !isEnding.load(ordering: .acquiring) else { continue }
      accept(from: socket)
    }
  }

  /// Accepts the connections that wait, at most 16, since the limit is looked at before.
  private func accept(from socket: CInt) {
    for _ in 0..<16 {
      if let connection = AcceptedConnection(from: socket) {
        threads.min { $0.connectionCount < $1.connectionCount }?.add(connection)
        continue
      }
      // There are no descriptors or no memory. The connection waits in the kernel's queue until there are some.
      if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) {
        var bell = pollfd(fd: bell, events: Int16(POLLIN), revents: 0)
        // The value outlives the call.
        unsafe poll(&bell, 1, 20)
        return
      }
      // A client that has gone again is no reason to stop.
      guard [ECONNABORTED, EINTR, EPROTO].contains(errno) else { return }
    }
  }
}

/// A connection that no daemon has yet, with the address of its client.
@safe
struct AcceptedConnection: @unchecked Sendable {
  // Sendable, because one thread after the other has it.
  private let handle: OpaquePointer

  /// Accepts a connection; `nil` if there is none, and `errno` says why.
  init?(from socket: CInt) {
    guard let handle = unsafe vitrine_mhd_accept(socket) else { return nil }
    unsafe self.handle = handle
  }

  /// Closes it, instead of ``give(to:)``; called once.
  func refuse() { unsafe vitrine_mhd_refuse(handle) }

  /// Gives it to a daemon, on the daemon's thread, once; returns `false` if the daemon has closed it instead.
  func give(to daemon: OpaquePointer) -> Bool { unsafe vitrine_mhd_add(daemon, handle) != 0 }
}
