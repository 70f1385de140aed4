/// Opens a TCP socket for IPv4 that child processes do not inherit; returns `nil` if the system refuses.
package func openStreamSocket() -> CInt? {
  // In Glibc the type is an enumeration, elsewhere a number.
  #if canImport(Glibc)
  let socket = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
  #else
  let socket = socket(AF_INET, SOCK_STREAM, 0)
  #endif
  guard socket >= 0 else { return nil }
  _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
  return socket
}
