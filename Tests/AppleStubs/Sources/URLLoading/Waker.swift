import Foundation
import Synchronization

/// The means to wake a thread that waits for a socket.
final class Waker: Sendable {
  enum Event {
    case ready
    case woken
    case timedOut
  }

  /// Two connected sockets, to read from and to write to, or none after the end.
  private let pipe: Mutex<[Int32]>

  init() {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    pipe = Mutex(socketpair(AF_UNIX, kind, 0, &ends) == 0 ? ends : [])
  }

  deinit { close() }

  /// Ends the current wait, or the next one.
  func wake() {
    pipe.withLock { pipe in
      var one: UInt8 = 1
      // A full pipe wakes as well.
      if let end = pipe.last { _ = send(end, &one, 1, Int32(MSG_NOSIGNAL)) }
    }
  }

  func close() {
    pipe.withLock { pipe in
      for end in pipe { _ = Foundation.close(end) }
      pipe = []
    }
  }

  /// Waits until a socket is ready, unless it is -1, or until somebody wakes this thread.
  func wait(
    for socket: Int32 = -1,
    _ events: Int32 = POLLIN,
    atMost seconds: TimeInterval = .infinity,
  ) -> Event {
    let own = pipe.withLock { $0.first ?? -1 }
    var list = [
      pollfd(fd: own, events: Int16(POLLIN), revents: 0),
      pollfd(fd: socket, events: Int16(events), revents: 0),
    ]
    let milliseconds = seconds < 1e6 ? Int32((max(0, seconds) * 1000).rounded(.up)) : -1
    guard poll(&list, 2, milliseconds) > 0 else { return .timedOut }
    if list[0].revents != 0 {
      var bytes = [UInt8](repeating: 0, count: 64)
      while read(own, &bytes, bytes.count) == bytes.count {}
      return .woken
    }
    return .ready
  }
}
