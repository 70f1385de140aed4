/// Opens a TCP socket for IPv4 that programs started later do not inherit; nil if the system refuses.
package func openStreamSocket() -> CInt? {
  // Glibc has the type as an enumeration, the others as a number.
  #if canImport(Glibc)
  let socket = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
  #else
  let socket = socket(AF_INET, SOCK_STREAM, 0)
  #endif
  guard socket >= 0 else { return nil }
  _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
  return socket
}
