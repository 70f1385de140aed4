import VitrineRuntime

/// The state shared by the threads of a ``LoopbackServer``, which outlive it for a moment.
final class LoopbackState: Sendable {
  struct Shared: Sendable {
    var routes: [String: LoopbackServer.Route] = [:]
    var counts = LoopbackServer.Counts()
    var requests: [LoopbackRequest] = []
    var gates: [LoopbackGate] = []
    var sockets: Set<CInt> = []
    var isStopped = false
  }

  let shared = Watched(Shared())
  let port: Int
  private let listener: CInt

  init() throws {
    guard let listener = openStreamSocket() else { throw POSIXError(.EMFILE) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    // The address outlives the calls, and a `sockaddr_in` may be read as a `sockaddr` by its family.
    let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard unsafe bind(listener, address, size) == 0, listen(listener, 1024) == 0 else { return CInt(-1) }
        return unsafe getsockname(listener, address, &size)
      }
    }
    guard status == 0 else {
      close(listener)
      throw POSIXError(.EADDRNOTAVAIL)
    }
    self.listener = listener
    port = Int(UInt16(bigEndian: address.sin_port))
  }

  func acceptConnections() {
    while true {
      // The peer's address is not needed.
      let socket = accept(listener, nil, nil)
      guard socket >= 0 else {
        if errno == EINTR || errno == ECONNABORTED { continue }
        break
      }
      _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
      let number: Int? = shared.change { state in
        guard !state.isStopped else { return nil }
        state.sockets.insert(socket)
        state.counts.connections += 1
        state.counts.openConnections += 1
        return state.counts.connections
      }
      guard let number else {
        close(socket)
        break
      }
      let connection = LoopbackConnection(socket: socket, number: number, state: self)
      if !startThread(named: "loopback", stackSize: 256 << 10, { connection.serve() }) { connection.end() }
    }
    close(listener)
  }

  func stop() {
    let gates = shared.change { state in
      guard !state.isStopped else { return [LoopbackGate]() }
      state.isStopped = true
      // Wakes the threads that read or accept; they close. Within the lock, because they close within it too.
      for socket in state.sockets { shutdown(socket, CInt(SHUT_RDWR)) }
      shutdown(listener, CInt(SHUT_RDWR))
      defer { state.gates = [] }
      return state.gates
    }
    for gate in gates { gate.open() }
  }
}
