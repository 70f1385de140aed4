import Foundation

/// An address with its port.
struct Address: Sendable {
  var name: String
  var port: Int

  /// Reads an address of a socket.
  fileprivate init?(_ read: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32) {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    var service = [CChar](repeating: 0, count: Int(NI_MAXSERV))
    let result = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard read(address, &length) == 0 else { return Int32(-1) }
        let flags = NI_NUMERICHOST | NI_NUMERICSERV
        return getnameinfo(
          address,
          length,
          &host,
          socklen_t(host.count),
          &service,
          socklen_t(service.count),
          flags,
        )
      }
    }
    guard result == 0 else { return nil }
    func text(_ characters: [CChar]) -> String {
      String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    name = text(host)
    port = Int(text(service)) ?? 0
  }
}

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

  var remote: Address? { Address { getpeername(descriptor, $0, $1) } }
  var local: Address? { Address { getsockname(descriptor, $0, $1) } }

  /// Connects to the first address that answers.
  static func open(to origin: Origin, _ watch: Watch, _ transaction: inout Transaction) throws(Failure) -> Connection {
    transaction.lookupStart = Date()
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(origin.host, String(origin.port), &hints, &list) == 0 else { throw Failure(.cannotFindHost) }
    defer { freeaddrinfo(list) }
    transaction.lookupEnd = Date()
    transaction.connectStart = Date()
    var number = ECONNREFUSED
    var entry = list
    while let info = entry?.pointee {
      entry = info.ai_next
      let kind = info.ai_socktype | Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
      let descriptor = socket(info.ai_family, kind, 0)
      guard descriptor >= 0 else {
        number = errno
        continue
      }
      let connection = Connection(descriptor)
      number = try connection.connect(info, watch)
      guard number == 0 else { continue }
      var one: Int32 = 1
      setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
      transaction.connectEnd = Date()
      return connection
    }
    throw Failure(.cannotConnectToHost, number: number)
  }

  /// Returns the system's error number, which is 0 if all is well.
  private func connect(_ info: addrinfo, _ watch: Watch) throws(Failure) -> Int32 {
    if Foundation.connect(descriptor, info.ai_addr, info.ai_addrlen) == 0 { return 0 }
    guard errno == EINPROGRESS else { return errno }
    try watch.wait(for: descriptor, POLLOUT)
    var number: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &length)
    return number
  }

  /// Sends bytes, and tells their number piece by piece.
  func send(_ bytes: [UInt8], _ watch: Watch, _ progress: (Int) -> Void) throws(Failure) {
    var sent = 0
    while sent < bytes.count {
      try watch.check()
      watch.touch()
      let count = bytes[sent...].withUnsafeBytes {
        Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count >= 0 {
        sent += count
        progress(count)
      } else if errno == EAGAIN {
        try watch.wait(for: descriptor, POLLOUT)
      } else if errno != EINTR {
        throw Failure(.networkConnectionLost, number: errno)
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
      if errno != EAGAIN, errno != EINTR { throw Failure(.networkConnectionLost, number: errno) }
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
