import Synchronization
import UmbrellaForTests

/// A server on 127.0.0.1 whose connections each follow a script.
///
/// The scripts run on threads of their own and block.
final class LoopbackServer: Sendable {
  typealias Script = @Sendable (Peer) -> Void

  let port: Int
  private let listener: Int32
  private let scripts: Mutex<[Script]>
  private let threads = DispatchGroup()

  /// Creates a server that serves each connection with the next script, and refuses more.
  convenience init(_ scripts: Script...) throws {
    try self.init(scripts)
  }

  init(_ scripts: [Script]) throws {
    self.scripts = Mutex(scripts)
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, length) == 0 && listen(listener, 64) == 0
          && getsockname(listener, address, &length) == 0
      }
    }
    guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
    port = Int(UInt16(bigEndian: address.sin_port))
    run { $0.acceptAll() }
  }

  /// Ends the server after its scripts.
  func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    threads.wait()
    close(listener)
  }

  func url(_ path: String = "/") throws -> URL {
    guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { throw URLError(.badURL) }
    return url
  }

  private func acceptAll() {
    while true {
      let socket = accept(listener, nil, nil)
      guard socket >= 0 else { return }
      let script = scripts.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      let peer = Peer(socket)
      run { _ in
        script?(peer)
        peer.end()
      }
    }
  }

  private func run(_ body: @escaping @Sendable (LoopbackServer) -> Void) {
    threads.enter()
    Thread {
      body(self)
      self.threads.leave()
    }.start()
  }
}

/// A server's side of a connection.
final class Peer: Sendable {
  struct Request: Sendable {
    var line: String
    var fields: [String: String]
    var body: String
  }

  private let socket: Int32
  private let buffer = Mutex<[UInt8]>([])

  init(_ socket: Int32) { self.socket = socket }

  /// Reads a request, or returns `nil` if the client closed.
  @discardableResult
  func read() -> Request? {
    let mark = Array("\r\n\r\n".utf8)
    while true {
      let bytes = buffer.withLock { $0 }
      if let start = bytes.indices.first(where: { bytes[$0...].starts(with: mark) }) {
        let lines = String(decoding: bytes[..<start], as: UTF8.self).components(separatedBy: "\r\n")
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
          guard let colon = line.firstIndex(of: ":") else { continue }
          fields[String(line[..<colon])] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        let length = fields["Content-Length"].flatMap { Int($0) } ?? 0
        let end = start + 4 + length
        if bytes.count >= end {
          buffer.withLock { $0.removeFirst(end) }
          return Request(
            line: lines.first ?? "",
            fields: fields,
            body: String(decoding: bytes[(start + 4)..<end], as: UTF8.self),
          )
        }
      }
      guard fill() else { return nil }
    }
  }

  /// Waits until the client closed.
  func readToEnd() {
    while fill() {}
  }

  /// Sends text, and returns `false` if the client closed.
  @discardableResult
  func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Foundation.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// Sends a response with a length.
  @discardableResult
  func respond(_ status: String = "200 OK", _ fields: String = "", body: String = "") -> Bool {
    send("HTTP/1.1 \(status)\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
  }

  /// Sends as much as fits without waiting, and returns the number of bytes.
  func flood() -> Int {
    let piece = [UInt8](repeating: 120, count: 1 << 16)
    var total = 0
    while true {
      let count = Foundation.send(socket, piece, piece.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      guard count > 0 else { return total }
      total += count
    }
  }

  fileprivate func end() { close(socket) }

  private func fill() -> Bool {
    var space = [UInt8](repeating: 0, count: 1 << 16)
    let count = recv(socket, &space, space.count, 0)
    guard count > 0 else { return false }
    buffer.withLock { $0 += space[..<count] }
    return true
  }
}
