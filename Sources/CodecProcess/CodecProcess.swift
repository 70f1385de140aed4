import VitrineImaging
import VitrineRuntime

/// A running codec process, used by one thread at a time.
final class CodecProcess: Sendable {
  private let process: pid_t
  let wire: Wire

  /// Starts the program at `path` with one end of a socket as its input and output.
  init?(_ path: ByteString) {
    var ends: [Int32] = [-1, -1]
    guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      return nil
    }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    // `actions` lives in this function; each call copies its arguments. Standard error is discarded, because some
    // codecs write their diagnostics of damaged files to it.
    unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    var process: pid_t = 0
    // A copy that outlives the call, in an array that ends in a null pointer.
    let name = unsafe path.withCString { unsafe strdup($0) }
    defer { unsafe free(name) }
    var arguments: [UnsafeMutablePointer<CChar>?] = unsafe [name, nil]
    let status = unsafe path.withCString { unsafe posix_spawn(&process, $0, &actions, nil, &arguments, environ) }
    close(ends[1])
    guard status == 0 else {
      close(ends[0])
      return nil
    }
    self.process = process
    wire = Wire(ends[0])
  }

  /// Kills the process, whatever it does, and waits until it is gone, which takes no time.
  deinit {
    close(wire.socket)
    kill(process, SIGKILL)
    while waitpid(process, nil, 0) < 0, errno == EINTR {}
  }
}
