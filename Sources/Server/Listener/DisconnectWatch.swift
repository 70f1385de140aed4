import CVitrineMHD
import VitrineRuntime

/// Notices that clients close suspended connections, which libmicrohttpd does not look at.
@safe
final class DisconnectWatch: Sendable {
  private let exchanges = Lock([CInt: Exchange]())
  private let poll: CInt
  /// An eventfd that ends the thread.
  private let end: CInt

  /// Starts a thread; `nil` if the system refuses it.
  init?() {
    let poll = epoll_create1(CInt(EPOLL_CLOEXEC))
    guard poll >= 0 else { return nil }
    let end = eventfd(0, CInt(EFD_CLOEXEC) | CInt(EFD_NONBLOCK))
    guard end >= 0 else {
      close(poll)
      return nil
    }
    (self.poll, self.end) = (poll, end)
    var event = unsafe Self.event(EPOLLIN.rawValue, end)
    // The event outlives the call, and the kernel copies it.
    guard unsafe epoll_ctl(poll, EPOLL_CTL_ADD, end, &event) == 0,
      startThread(
        named: "disconnects",
        stackSize: 256 << 10,
        { [weak self] in
          Self.watch(poll, end) { self?.left($0) }
        },
      )
    else {
      close(poll)
      close(end)
      return nil
    }
  }

  deinit {
    // The thread closes both.
    _ = eventfd_write(end, 1)
  }

  /// Watches a socket; `left()` of the exchange is called once if its client closes it.
  func add(_ socket: CInt, _ exchange: Exchange) {
    exchanges.withLock { $0[socket] = exchange }
    let events = EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue | EPOLLONESHOT.rawValue
    var event = unsafe Self.event(events, socket)
    _ = unsafe epoll_ctl(poll, EPOLL_CTL_ADD, socket, &event)
  }

  /// Stops watching; must be called while the socket is open.
  func remove(_ socket: CInt) {
    _ = epoll_ctl(poll, EPOLL_CTL_DEL, socket, nil)
    // Released without the lock.
    let exchange = exchanges.withLock { $0.removeValue(forKey: socket) }
    withExtendedLifetime(exchange) {}
  }

  /// An event whose data is a descriptor; the kernel does not read it.
  private static func event(_ events: UInt32, _ descriptor: CInt) -> epoll_event {
    var event = unsafe epoll_event()
    unsafe event.events = events
    unsafe event.data.fd = descriptor
    return unsafe event
  }

  private func left(_ socket: CInt) {
    // An exchange that has ended meanwhile ignores it.
    let exchange = exchanges.withLock { $0[socket] }
    exchange?.left()
  }

  private static func watch(_ poll: CInt, _ end: CInt, _ left: (CInt) -> Void) {
    var events = unsafe [epoll_event](repeating: epoll_event(), count: 64)
    while true {
      let count = unsafe epoll_wait(poll, &events, 64, -1)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { break }
      let sockets = unsafe events[..<Int(count)].map { unsafe $0.data.fd }
      if sockets.contains(end) { break }
      for socket in sockets { left(socket) }
    }
    close(poll)
    close(end)
  }
}
