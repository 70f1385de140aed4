import VitrineRuntime

/// Sockets that are files, for proxies on the same machine.
///
/// Their clients have no addresses: who needs them has the proxy send `X-Forwarded-For`.
package enum UnixSocket {
  /// The prefix of their paths among addresses.
  package static let prefix = "unix:"

  /// The file of a socket, which its maker removes.
  struct File: Sendable, Equatable {
    let path: String
    let device: UInt64
    let number: UInt64
    /// The time at which it was made, in nanoseconds since 1970: numbers are used again.
    let made: Int

    /// Removes the file, unless it is another one by now.
    func remove() {
      guard UnixSocket.file(path) == self else { return }
      // The text outlives the call.
      unsafe unlink(path)
    }
  }

  /// Listens on a path, which the user and the group of the process may connect to.
  ///
  /// A file that a server has left behind is replaced; one on which a server listens is not, nor any other file.
  static func open(_ path: String, backlog: CInt) -> Result<(socket: CInt, file: File), FileError> {
    let descriptor = socket(AF_UNIX, streamSocketType | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { return .failure(FileError(code: errno)) }
    func failure(_ error: FileError = FileError(code: errno)) -> Result<(socket: CInt, file: File), FileError> {
      close(descriptor)
      return .failure(error)
    }
    func bound() -> CInt? { unsafe withAddress(path) { unsafe bind(descriptor, $0, $1) } }
    guard var status = bound() else { return failure(FileError("it has more bytes than a socket's path may have")) }
    if status != 0, errno == EADDRINUSE, file(path) != nil {
      if let other = connect(path) {
        close(other)
        return failure(FileError(code: EADDRINUSE))
      }
      // A refused connection says that the server is gone.
      guard errno == ECONNREFUSED else { return failure(FileError(code: EADDRINUSE)) }
      // The text outlives the call, as it does below.
      unsafe unlink(path)
      status = bound() ?? -1
    }
    guard status == 0 else { return failure() }
    guard unsafe chmod(path, 0o660) == 0, let file = file(path), listen(descriptor, backlog) == 0 else {
      defer { unsafe unlink(path) }
      return failure()
    }
    return .success((descriptor, file))
  }

  /// Connects to a path; returns `nil` and sets `errno` if that is refused.
  package static func connect(_ path: String) -> CInt? {
    let descriptor = socket(AF_UNIX, streamSocketType | CInt(SOCK_CLOEXEC.rawValue), 0)
    let status = unsafe withAddress(path) { unsafe Glibc.connect(descriptor, $0, $1) }
    if status == 0 { return descriptor }
    let code = status == nil ? ENAMETOOLONG : errno
    close(descriptor)
    errno = code
    return nil
  }

  /// Returns the socket at a path; `nil` for another kind of file, or none.
  private static func file(_ path: String) -> File? {
    var status = stat()
    // `status` outlives the call.
    guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
    // Nothing but its making changes the time of a socket's contents.
    let made = status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec
    return File(path: path, device: UInt64(status.st_dev), number: UInt64(status.st_ino), made: made)
  }

  /// Calls `body` with the address of a path, valid within the call; returns `nil` for a path that is too long.
  private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt? {
    var address = sockaddr_un()
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    address.sun_family = sa_family_t(AF_UNIX)
    // The path has room, and a zero byte behind it; a `sockaddr_un` may be read as a `sockaddr`.
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
