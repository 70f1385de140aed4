import VitrineRuntime

/// One connection to a ``LoopbackServer``, owned by its thread.
final class LoopbackConnection: @unchecked Sendable {
  // Sendable: passed to its thread once, and used only by that thread.

  let socket: CInt
  private let number: Int
  private let state: LoopbackState
  private var buffer: [UInt8] = []
  private(set) var isOpen = true
  private var isReset = false

  init(socket: CInt, number: Int, state: LoopbackState) {
    self.socket = socket
    self.number = number
    self.state = state
  }

  func serve() {
    blockBrokenPipes()
    while isOpen, let request = readRequest() {
      let route: LoopbackServer.Route? = state.shared.change { state in
        state.requests.append(request)
        state.counts.requests += 1
        state.counts.running += 1
        state.counts.mostRunning = max(state.counts.mostRunning, state.counts.running)
        return state.routes[request.path] ?? state.routes["*"]
      }
      let exchange = LoopbackExchange(request: request, connection: self)
      if let route { route(exchange) } else { exchange.respond(LoopbackResponse(status: 404)) }
      // After an incomplete response there cannot be another.
      if !exchange.isComplete || request["Connection"] == "close" { isOpen = false }
      state.shared.change { $0.counts.running -= 1 }
    }
    end()
  }

  func end() {
    if isReset {
      var option = linger(l_onoff: 1, l_linger: 0)
      // `option` outlives the call, which copies it. Closing with a linger time of zero sends a reset.
      unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }
    state.shared.change { [socket] state in
      state.sockets.remove(socket)
      state.counts.openConnections -= 1
      close(socket)
    }
  }

  func closeSoon(withReset: Bool) {
    isOpen = false
    isReset = withReset
  }

  /// Blocks until all bytes are written.
  ///
  /// Returns `false` if the client has gone.
  func write(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while isOpen, !rest.isEmpty {
      // The slice is valid during the call.
      let count = unsafe rest.withUnsafeBytes { unsafe send(socket, $0.baseAddress, $0.count, 0) }
      if count < 0 {
        if errno == EINTR { continue }
        isOpen = false
      } else {
        rest = rest.dropFirst(count)
      }
    }
    return isOpen
  }

  /// Blocks until the client closes the connection; keeps what it sends until then.
  func waitForEnd() {
    while readMore() {}
    isOpen = false
  }

  private func readMore() -> Bool {
    var chunk = [UInt8](repeating: 0, count: 16_384)
    while true {
      // The array has the given length, and is valid during the call.
      let count = unsafe chunk.withUnsafeMutableBytes { unsafe recv(socket, $0.baseAddress, $0.count, 0) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      buffer.append(contentsOf: chunk.prefix(count))
      return true
    }
  }

  private func readRequest() -> LoopbackRequest? {
    var searched = 0
    while true {
      if let first = buffer.first, !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) {
        // No method begins like this. It is probably a TLS handshake.
        buffer = []
        return LoopbackRequest(head: "", connection: number)
      }
      if let end = endOfHead(from: searched) {
        let head = String(decoding: buffer[..<end], as: UTF8.self)
        buffer.removeFirst(end + 4)
        var request = LoopbackRequest(head: head, connection: number)
        guard let body = readBody(of: request) else { return nil }
        request.body = body
        return request
      }
      searched = max(0, buffer.count - 3)
      guard readMore() else { return nil }
    }
  }

  /// Nil when the client leaves before its end.
  private func readBody(of request: LoopbackRequest) -> Data? {
    if request["Expect"]?.lowercased() == "100-continue" { _ = write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
    let count = max(0, request["Content-Length"].flatMap { Int($0) } ?? 0)
    while buffer.count < count {
      guard readMore() else { return nil }
    }
    defer { buffer.removeFirst(count) }
    return Data(buffer.prefix(count))
  }

  private func endOfHead(from start: Int) -> Int? {
    guard buffer.count >= 4 else { return nil }
    return (start...(buffer.count - 4)).first { buffer[$0..<($0 + 4)] == [13, 10, 13, 10] }
  }

  /// Makes a write to a closed connection fail instead of ending the tests with a signal.
  private func blockBrokenPipes() {
    var signals = sigset_t()
    // `signals` outlives the calls.
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGPIPE)
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
  }
}
