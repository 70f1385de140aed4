import Foundation

/// A connected socket with its read bytes, closed when it is released.
///
/// It belongs to one thread.
final class Connection {
  let descriptor: Int32
  /// The received bytes that nobody has taken.
  var buffer: [UInt8] = []
  /// Whether it carried a whole exchange.
  var isUsed = false

  private init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Whether there are bytes, or the end.
  var hasSomethingToRead: Bool {
    var list = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
    return poll(&list, 1, 0) > 0
  }

  /// The server's address.
  private(set) var remoteAddress: String?

  /// Connects to the first address that answers.
  static func open(
    to origin: Origin,
    _ watch: Watch,
    _ transaction: inout Transaction,
  )
    throws(Failure) -> Connection
  {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(origin.host, String(origin.port), &hints, &list) == 0 else {
      throw Failure(.cannotFindHost)
    }
    defer { freeaddrinfo(list) }
    transaction.lookupEnd = Date()
    var entry = list
    while let info = entry?.pointee {
      entry = info.ai_next
      let kind = info.ai_socktype | Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
      let descriptor = socket(info.ai_family, kind, 0)
      guard descriptor >= 0 else { continue }
      let connection = Connection(descriptor)
      guard try connection.connect(info, watch) else { continue }
      var one: Int32 = 1
      setsockopt(
        descriptor,
        Int32(IPPROTO_TCP),
        TCP_NODELAY,
        &one,
        socklen_t(MemoryLayout<Int32>.size),
      )
      transaction.connectEnd = Date()
      connection.remoteAddress = Self.name(of: info)
      return connection
    }
    throw Failure(.cannotConnectToHost)
  }

  private static func name(of info: addrinfo) -> String {
    var host = [UInt8](repeating: 0, count: Int(NI_MAXHOST))
    host.withUnsafeMutableBytes { host in
      let start = host.baseAddress?.assumingMemoryBound(to: CChar.self)
      _ = getnameinfo(
        info.ai_addr,
        info.ai_addrlen,
        start,
        socklen_t(host.count),
        nil,
        0,
        NI_NUMERICHOST,
      )
    }
    return String(decoding: host.prefix { $0 != 0 }, as: UTF8.self)
  }

  private func connect(_ info: addrinfo, _ watch: Watch) throws(Failure) -> Bool {
    if Foundation.connect(descriptor, info.ai_addr, info.ai_addrlen) == 0 { return true }
    guard errno == EINPROGRESS else { return false }
    try watch.wait(for: descriptor, POLLOUT)
    var number: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &length)
    return number == 0
  }

  /// Sends bytes.
  func send(_ bytes: [UInt8], _ watch: Watch) throws(Failure) {
    var sent = 0
    while sent < bytes.count {
      try watch.check()
      watch.touch()
      let count = bytes[sent...].withUnsafeBytes {
        Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count >= 0 {
        sent += count
      } else if errno == EAGAIN {
        try watch.wait(for: descriptor, POLLOUT)
      } else if errno != EINTR {
        throw Failure(.networkConnectionLost)
      }
    }
  }

  /// Waits for more bytes, and returns `false` at the end.
  func fill(_ watch: Watch) throws(Failure) -> Bool {
    var space = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      try watch.wait(for: descriptor, POLLIN)
      let count = recv(descriptor, &space, space.count, 0)
      if count > 0 {
        watch.touch()
        buffer += space[..<count]
        return true
      }
      if count == 0 { return false }
      if errno != EAGAIN, errno != EINTR { throw Failure(.networkConnectionLost) }
    }
  }

  /// Takes bytes from the front of the buffer.
  func take(_ count: Int) -> [UInt8] {
    let taken = Array(buffer.prefix(count))
    buffer.removeFirst(taken.count)
    return taken
  }

  /// Takes a line without its end, waiting for it, or returns `nil` if the connection ends before.
  func takeLine(atMost limit: Int, _ watch: Watch) throws(Failure) -> [UInt8]? {
    var searched = 0
    while true {
      if let end = buffer[searched...].firstIndex(of: 10) {
        var line = take(end + 1).dropLast()
        if line.last == 13 { line.removeLast() }
        return Array(line)
      }
      searched = buffer.count
      guard searched <= limit else { throw Failure(.badServerResponse) }
      guard try fill(watch) else { return nil }
    }
  }
}
