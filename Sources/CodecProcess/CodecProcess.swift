import VitrineImaging
import VitrineRuntime

/// A running codec process, used by one thread at a time.
final class CodecProcess: Sendable {
  /// The kind of files that a process decodes, which decides what it can read.
  enum Kind: String {
    /// All formats but SVG; no file can be read.
    case pictures
    /// SVG; fonts can be read, for text.
    case drawings

    init(_ format: ImageFormat) { self = format == .svg ? .drawings : .pictures }
  }

  let kind: Kind
  private let process: pid_t
  let wire: Wire

  /// Starts the program at `path` with one end of a socket as its input and output.
  init?(_ path: ByteString, _ kind: Kind) {
    self.kind = kind
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
    // Copies that outlive the call, in arrays that end in a null pointer. Nothing of the environment is needed.
    let words = unsafe [path.withCString { unsafe strdup($0) }, strdup(kind.rawValue)]
    defer { unsafe words.forEach { unsafe free($0) } }
    var (arguments, environment) = unsafe (words + [nil], [UnsafeMutablePointer<CChar>?.none])
    let status = unsafe path.withCString {
      unsafe posix_spawn(&process, $0, &actions, nil, &arguments, &environment)
    }
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
