import VitrineRuntime

/// A listening socket that the starter of the program has opened (sd_listen_fds(3)), such as systemd or s6.
package enum PassedSocket {
  /// Returns the socket that was passed, and removes the variables that name it; `nil` for none.
  ///
  /// Called before the process has a second thread.
  ///
  /// - Throws: ``ServerError`` for several sockets, or for a descriptor that is no listening stream socket.
  package static func take(environment: [String: String], from first: CInt = 3) throws(ServerError) -> CInt? {
    guard environment["LISTEN_PID"] == "\(getpid())", let text = environment["LISTEN_FDS"], text != "0" else {
      return nil
    }
    // The texts outlive the calls, and no other thread reads the environment yet.
    for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsafe unsetenv(name) }
    guard text == "1" else { throw ServerError("LISTEN_FDS=\(text): one socket can be passed, and not several") }
    guard option(SO_ACCEPTCONN, of: first) == 1, option(SO_TYPE, of: first) == streamSocketType else {
      throw ServerError("LISTEN_FDS: descriptor \(first) is no stream socket that listens")
    }
    _ = fcntl(first, F_SETFD, FD_CLOEXEC)
    _ = fcntl(first, F_SETFL, fcntl(first, F_GETFL) | O_NONBLOCK)
    return first
  }

  private static func option(_ name: CInt, of socket: CInt) -> CInt? {
    var (value, size) = (CInt(0), socklen_t(MemoryLayout<CInt>.size))
    // Both outlive the call.
    return unsafe getsockopt(socket, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
  }
}
