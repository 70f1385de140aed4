import Foundation
import VitrineRuntime

/// A program that is to be started.
///
/// It is started with `posix_spawn`. Foundation's `Process` lists the open files of the test process first, and reads
/// past the end of that list when there are more than about 1,360, as there are when all tests run at once.
struct Launch {
  enum Stream {
    case nothing
    case file(FileHandle)
    /// The end that the program does not have stays open; the other one is closed once it has started.
    case pipe(Pipe)
  }

  var executable: URL
  var arguments: [String]
  var folder: URL
  var environment: [String: String]
  var input = Stream.nothing
  var output = Stream.nothing
  var errors = Stream.nothing
}

/// A program while it runs.
final class Running: Sendable {
  let processIdentifier: pid_t
  private let outcome = Lock<(reason: Process.TerminationReason, status: Int32)?>(nil)
  private let ended = Deferred<Void>()

  init(_ launch: Launch) throws {
    let null = try FileHandle(forUpdating: URL(filePath: "/dev/null"))
    func descriptor(_ stream: Launch.Stream, reads: Bool) -> Int32 {
      switch stream {
      case .nothing: null.fileDescriptor
      case .file(let handle): handle.fileDescriptor
      case .pipe(let pipe): (reads ? pipe.fileHandleForReading : pipe.fileHandleForWriting).fileDescriptor
      }
    }
    let streams = [
      descriptor(launch.input, reads: true), descriptor(launch.output, reads: false),
      descriptor(launch.errors, reads: false),
    ]
    processIdentifier = try Self.spawn(launch, streams)
    for (stream, reads) in [(launch.input, true), (launch.output, false), (launch.errors, false)] {
      guard case .pipe(let pipe) = stream else { continue }
      try (reads ? pipe.fileHandleForReading : pipe.fileHandleForWriting).close()
    }
    try null.close()
    let hasThread = startThread(named: "wait") { [processIdentifier, outcome, ended] in
      var status: Int32 = 0
      // `status` is local to this thread.
      while unsafe waitpid(processIdentifier, &status, 0) < 0, errno == EINTR {}
      let signal = status & 0x7F
      outcome.withLock { $0 = signal == 0 ? (.exit, (status >> 8) & 0xFF) : (.uncaughtSignal, signal) }
      ended.resolve(())
    }
    if !hasThread { throw POSIXError(.EAGAIN) }
  }

  /// The status after the end, or the number of the signal that ended it.
  var terminationStatus: Int32 { outcome.withLock { $0?.status } ?? -1 }
  var terminationReason: Process.TerminationReason { outcome.withLock { $0?.reason } ?? .exit }

  /// Waits, once, without keeping one of the few threads that all tests share.
  func waitUntilExit() async { await ended.value() }

  /// Starts it with these files as its standard streams, no other file, and every signal as it is by default.
  private static func spawn(_ launch: Launch, _ streams: [Int32]) throws -> pid_t {
    // Everything here is released below, after the call that uses it.
    var actions = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawnattr_init(&attributes)
    defer {
      unsafe posix_spawn_file_actions_destroy(&actions)
      unsafe posix_spawnattr_destroy(&attributes)
    }
    // Above the standard ones, so that none is overwritten before it is copied.
    let copies = streams.map { fcntl($0, F_DUPFD_CLOEXEC, 3) }
    defer { copies.forEach { close($0) } }
    guard !copies.contains(-1) else { throw POSIXError(.EMFILE) }
    for (number, copy) in copies.enumerated() {
      unsafe posix_spawn_file_actions_adddup2(&actions, copy, Int32(number))
    }
    // Both are newer than the C library's module for Swift.
    typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
    typealias ChangeFolder =
      @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, UnsafePointer<CChar>) -> Int32
    let closeFrom = unsafe function("posix_spawn_file_actions_addclosefrom_np", as: CloseFrom.self)
    let changeFolder = unsafe function("posix_spawn_file_actions_addchdir_np", as: ChangeFolder.self)
    guard let closeFrom = unsafe closeFrom, let changeFolder = unsafe changeFolder else { throw POSIXError(.ENOSYS) }
    _ = unsafe closeFrom(&actions, 3)
    _ = unsafe changeFolder(&actions, launch.folder.path)
    var (none, all) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    let words = [launch.executable.path] + launch.arguments
    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    var environment = unsafe launch.environment.map { unsafe strdup("\($0)=\($1)") } + [nil]
    defer { unsafe (arguments + environment).forEach { unsafe free($0) } }
    var process: pid_t = 0
    let status = unsafe posix_spawn(&process, launch.executable.path, &actions, &attributes, &arguments, &environment)
    guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: status) ?? .EIO) }
    return process
  }

  /// A function of the C library by its name; it has the type that the manual says.
  private static func function<Function>(_ name: String, as type: Function.Type) -> Function? {
    unsafe dlsym(nil, name).map { unsafe unsafeBitCast($0, to: type) }
  }
}
