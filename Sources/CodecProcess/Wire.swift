import VitrineRuntime

/// One end of the socket between a program and its codec process.
package struct Wire {
  /// The error that the other end is gone.
  package struct Ended: Error {}

  /// The maximum length of a message.
  ///
  /// A longer one is invalid. Profiles are the longest.
  private static let messageLimit = 64 << 20

  package let socket: Int32

  /// `socket` must be a stream socket that stays open for the life of the wire.
  package init(_ socket: Int32) { self.socket = socket }

  package func send(_ message: Message) throws(Ended) {
    var whole = Message()
    whole.add(message.bytes)
    let result: Result<Void, Ended> = unsafe whole.bytes.withUnsafeBytes { bytes in
      Result { () throws(Ended) in try unsafe send(bytes) }
    }
    try result.get()
  }

  package func send(_ bytes: UnsafeRawBufferPointer) throws(Ended) {
    var sent = 0
    while sent < bytes.count {
      // Within `bytes` by the condition. If the process has ended, the call fails instead of raising a signal.
      let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[sent...])
      let count = unsafe VitrineRuntime.send(socket, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Ended() }
      sent += count
    }
  }

  package func receive() throws(Ended) -> Message {
    var length = Message(bytes: try receive(count: 8))
    // The other end sends no more that could be understood.
    guard let count = try? length.integer("length", in: 0...Self.messageLimit) else { throw Ended() }
    return Message(bytes: try receive(count: count))
  }

  package func receive(count: Int) throws(Ended) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let result: Result<Void, Ended> = unsafe bytes.withUnsafeMutableBytes { target in
      Result { () throws(Ended) in try unsafe receive(into: target) }
    }
    try result.get()
    return bytes
  }

  package func receive(into bytes: UnsafeMutableRawBufferPointer) throws(Ended) {
    var received = 0
    while received < bytes.count {
      // Within `bytes` by the condition.
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[received...])
      let count = unsafe recv(socket, rest.baseAddress, rest.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Ended() }
      received += count
    }
  }

  /// Waits until there is something to receive, or for `milliseconds`.
  ///
  /// Returns `true` if there is, or if the other end is gone.
  package func hasAnswer(within milliseconds: Int32) -> Bool {
    var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&entry, 1, milliseconds) > 0
  }
}
