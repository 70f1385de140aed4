import CVitrineSandbox
import VitrineRuntime

/// One end of the socket between a program and its worker, which keeps messages apart.
package struct Channel: Sendable {
  /// The reason why a message was not sent or received.
  package enum Failure: Error, Equatable {
    /// The other end is gone.
    case ended
    /// It is longer than any message.
    case malformed
  }

  /// The interval at which a waiting thread calls `check`, in milliseconds.
  private static let interval: Int32 = 25

  package let socket: Int32

  /// `socket` must be a socket of messages that stays open for the life of the channel.
  package init(_ socket: Int32) { self.socket = socket }

  /// Makes ``receive(check:)`` call its `check` now and then.
  package func limitWaits() {
    var interval = timeval(tv_sec: 0, tv_usec: suseconds_t(Self.interval) * 1000)
    // The call only reads the interval.
    unsafe setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &interval, socklen_t(MemoryLayout<timeval>.size))
  }

  /// Sends a message, and with it a descriptor unless that is -1.
  ///
  /// Waits while the other end does not receive; `check` is called now and then meanwhile, and throws to stop.
  package func send<Stop: Error>(
    _ message: Message,
    _ descriptor: Int32 = -1,
    check: () throws(Stop) -> Void,
  ) throws(Stop) -> Result<Void, Failure> {
    guard message.bytes.count <= Message.limit else { return .failure(.malformed) }
    while true {
      // The call only reads the bytes.
      let sent = unsafe vitrine_send_message(socket, message.bytes, message.bytes.count, descriptor)
      if sent >= 0 { return .success(()) }
      guard errno == EAGAIN || errno == EWOULDBLOCK else { return .failure(.ended) }
      try check()
      var entry = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
      // The kernel writes only into `entry`.
      _ = unsafe poll(&entry, 1, Self.interval)
    }
  }

  /// Receives a message; a descriptor that comes with it is closed.
  ///
  /// Waits until there is one; `check` is called now and then meanwhile, and throws to stop.
  package func receive<Stop: Error>(check: () throws(Stop) -> Void) throws(Stop) -> Result<Message, Failure> {
    while true {
      try check()
      if let result = unsafe receiveOnce({ bytes in
        // Within the bytes. The system closes descriptors for which there is no place.
        unsafe recv(socket, bytes.baseAddress, bytes.count, Int32(MSG_TRUNC))
      }) {
        return result
      }
    }
  }

  /// Receives a message and the descriptor that came with it, or -1; waits until there is one.
  package func receiveWithDescriptor() -> Result<(message: Message, descriptor: Int32), Failure> {
    while true {
      var descriptor: Int32 = -1
      // Within the bytes.
      if let result = unsafe receiveOnce({ bytes in
        unsafe vitrine_receive_message(socket, bytes.baseAddress, bytes.count, &descriptor)
      }) {
        return result.map { ($0, descriptor) }
      }
    }
  }

  /// A Boolean value that indicates whether the other end is gone.
  package var isEnded: Bool {
    var entry = pollfd(fd: socket, events: 0, revents: 0)
    // The kernel writes only into `entry`.
    return unsafe poll(&entry, 1, 0) > 0
  }

  /// Returns `nil` if there was no message within the interval.
  private func receiveOnce(_ call: (UnsafeMutableRawBufferPointer) -> Int) -> Result<Message, Failure>? {
    var received = -1
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Message.limit) { buffer, count in
      received = unsafe call(UnsafeMutableRawBufferPointer(buffer))
      count = max(0, min(received, Message.limit))
    }
    if received > Message.limit { return .failure(.malformed) }
    if received > 0 { return .success(Message(reading: bytes)) }
    // No message of ours is empty, and a socket whose other end is closed gives empty ones.
    if received == 0 { return .failure(isEnded ? .ended : .malformed) }
    if errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR { return nil }
    return .failure(errno == EMSGSIZE ? .malformed : .ended)
  }
}
