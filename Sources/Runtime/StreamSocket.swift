/// Opens a TCP socket for IPv4 that child processes do not inherit; returns `nil` if the system refuses.
package func openStreamSocket() -> CInt? {
  let socket = socket(AF_INET, streamSocketType, 0)
  guard socket >= 0 else { return nil }
  _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
  return socket
}

// The type of `SOCK_STREAM` is an enumeration in Glibc, and a number elsewhere.
#if canImport(Glibc)
/// The type of a TCP socket.
package let streamSocketType = CInt(SOCK_STREAM.rawValue)
#else
/// The type of a TCP socket.
package let streamSocketType = SOCK_STREAM
#endif
