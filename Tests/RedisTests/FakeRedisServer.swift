import Foundation
import VitrineRuntime

/// A server on a free port that says what a test wants, whatever it is asked.
final class FakeRedisServer: Sendable {
  /// Returns what to reply to bytes that have come; `nil` closes the connection.
  typealias Reply = @Sendable (_ number: Int, _ request: Data) -> Data?

  let port: Int
  private let listener: CInt
  private let reply: Reply
  /// The connections that are not closed.
  private let connections = Lock(Set<CInt>())

  init(_ reply: @escaping Reply) throws {
    self.reply = reply
    guard let listener = openStreamSocket() else { throw POSIXError(.EMFILE) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe bind(listener, pointer, length) == 0 && listen(listener, 16) == 0
          && getsockname(listener, pointer, &length) == 0
      }
    }
    guard isBound else { throw POSIXError(.EADDRINUSE) }
    (self.listener, port) = (listener, Int(UInt16(bigEndian: address.sin_port)))
    let (reply, connections) = (reply, connections)
    // Each thread closes its own socket: a number that is closed may be somebody else's socket a moment later.
    _ = startThread(named: "fake-redis") {
      while case let connection = accept(listener, nil, nil), connection >= 0 {
        connections.withLock { _ = $0.insert(connection) }
        _ = startThread(named: "fake-redis") {
          Self.serve(connection, reply)
          connections.withLock { open in
            open.remove(connection)
            close(connection)
          }
        }
      }
      close(listener)
    }
  }

  deinit {
    shutdown(listener, CInt(SHUT_RDWR))
    connections.withLock { for connection in $0 { shutdown(connection, CInt(SHUT_RDWR)) } }
  }

  private static func serve(_ connection: CInt, _ reply: Reply) {
    var number = 0
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = unsafe recv(connection, &buffer, buffer.count, 0), count > 0 {
      guard let bytes = reply(number, Data(buffer.prefix(count))) else { break }
      number += 1
      var rest = bytes[...]
      while !rest.isEmpty {
        let sent = unsafe rest.withUnsafeBytes {
          unsafe send(connection, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
        }
        guard sent > 0 else { break }
        rest = rest.dropFirst(sent)
      }
    }
  }
}
