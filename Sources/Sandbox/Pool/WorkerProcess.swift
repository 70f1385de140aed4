import CVitrineSandbox
import VitrineImaging
import VitrineRuntime

/// A running worker, used by one thread at a time.
@safe
final class WorkerProcess: Sendable {
  /// The reason why a worker could not be started.
  enum StartFailure: Error {
    /// The system refused a process or a socket.
    case system(Int32)
    /// The program ended, or is not a worker.
    case noWorker
    case version(Int)
    case memory
  }

  /// The mappings that the worker has, and what it has done.
  struct State {
    var input: SharedMapping?
    var output: SharedMapping?
    /// The bytes of the last input.
    var inputByteCount = 0
    /// The longest input or output of this image, in bytes.
    var usedByteCount = 0
    /// The longest input or output of recent images; older ones count less and less.
    var recentByteCount = 0
    var imageCount = 0
    /// The animation of which it decoded a frame last.
    var session: FrameSession?
    /// The limits that the worker has now, in bytes and in seconds of processor time.
    var memoryLimit = 0
    var timeLimit = 0.0
    /// The processor time that it had used before this image, in seconds.
    var earlierTime = 0.0
    /// The status with which it ended, once it has been waited for.
    var status: Int32?
    var hasEnded = false
  }

  let kind: WorkerKind
  let channel: Channel
  let control: SharedMapping
  /// The worker's first message.
  let hello: Hello
  let identifier: pid_t
  /// The private memory that the worker had when it was ready, in bytes.
  private let initialByteCount: Int
  let state: Lock<State>

  /// Starts the program at `path`, and waits until it is ready.
  ///
  /// `check` is called now and then meanwhile; it throws to stop.
  static func start(
    _ path: ByteString,
    _ kind: WorkerKind,
    check: () throws(ImageError) -> Void,
  ) throws(ImageError) -> Result<WorkerProcess, StartFailure> {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
    // The call writes two descriptors.
    guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { return .failure(.system(errno)) }
    let (own, other) = (ends[0], ends[1])
    let started = spawn(path, kind, other)
    close(other)
    let channel = Channel(own)
    channel.limitWaits()
    guard case .success(let identifier) = started else {
      close(own)
      return started.flatMap { _ in .failure(.noWorker) }
    }
    do throws(ImageError) {
      let answer = try channel.receive(check: check)
      switch hello(in: answer).flatMap({ WorkerProcess.make(kind, channel, identifier, $0) }) {
      case .success(let process): return .success(process)
      case .failure(let failure):
        end(identifier, own)
        return .failure(failure)
      }
    } catch {
      end(identifier, own)
      throw error
    }
  }

  private static func hello(in answer: Result<Message, Channel.Failure>) -> Result<Hello, StartFailure> {
    guard case .success(var message) = answer else { return .failure(.noWorker) }
    var (kind, hello) = (Reply.done, Hello())
    do throws(Malformed) {
      try message.code(kind: &kind)
      try message.code(&hello)
      if hello.version == Hello.version { try message.end() }
    } catch {
      return .failure(.noWorker)
    }
    guard kind == .hello else { return .failure(.noWorker) }
    return hello.version == Hello.version ? .success(hello) : .failure(.version(hello.version))
  }

  private static func make(
    _ kind: WorkerKind,
    _ channel: Channel,
    _ identifier: pid_t,
    _ hello: Hello,
  ) -> Result<WorkerProcess, StartFailure> {
    guard let control = share(.control, 4096, channel) else { return .failure(.memory) }
    return .success(WorkerProcess(kind, channel, identifier, control, hello))
  }

  private init(
    _ kind: WorkerKind,
    _ channel: Channel,
    _ identifier: pid_t,
    _ control: SharedMapping,
    _ hello: Hello,
  ) {
    (self.kind, self.channel, self.identifier) = (kind, channel, identifier)
    (self.control, self.hello) = (control, hello)
    // Without /proc, more than any has.
    initialByteCount = ProcessMemory(identifier)?.data ?? 128 << 20
    state = Lock(State())
  }

  /// Kills the process, whatever it does, and waits until it is gone, which takes no time.
  deinit {
    if !state.withLock({ $0.hasEnded }) { Self.end(identifier, channel.socket) }
  }

  /// Kills the process unless it has ended, and returns at once.
  func kill() {
    // Not waited for yet, so that the identifier is no other process's.
    state.withLock { state in
      if !state.hasEnded { _ = VitrineRuntime.kill(identifier, SIGKILL) }
    }
  }

  /// Kills the process unless it has ended; returns the status with which it ended, if the system still knows it.
  func end() -> Int32? {
    let known = state.withLock { state -> (Bool, Int32?) in
      defer { state.hasEnded = true }
      return (state.hasEnded, state.status)
    }
    guard !known.0 else { return known.1 }
    let status = Self.end(identifier, channel.socket)
    state.withLock { $0.status = status }
    return status
  }

  @discardableResult
  private static func end(_ identifier: pid_t, _ socket: Int32) -> Int32? {
    close(socket)
    _ = VitrineRuntime.kill(identifier, SIGKILL)
    var status: Int32 = 0
    while true {
      // The kernel writes only into `status`.
      let result = unsafe waitpid(identifier, &status, 0)
      if result == identifier { return status }
      // A program that reaps all its children has the status.
      if result < 0, errno != EINTR { return nil }
    }
  }

  // MARK: Memory

  /// Makes a mapping and passes it to a worker; `nil` if the system refuses, or the worker is gone.
  private static func share(_ role: MemoryRole, _ byteCount: Int, _ channel: Channel) -> SharedMapping? {
    var isSent = false
    let mapping = SharedMapping(byteCount: byteCount) { isSent = send($0, role, byteCount, channel) }
    return isSent ? mapping : nil
  }

  /// Passes a descriptor to a worker; returns `false` if the worker is gone.
  private static func send(_ descriptor: Int32, _ role: MemoryRole, _ byteCount: Int, _ channel: Channel) -> Bool {
    var (message, command, role, byteCount) = (Message(), Command.memory, role, byteCount)
    do throws(Malformed) {
      try message.code(kind: &command)
      try message.code(&role, byteCount: &byteCount)
    } catch {
      return false
    }
    // The first messages to a worker that is ready: there is room for them.
    guard case .success = channel.send(message, descriptor, check: {}) else { return false }
    return true
  }

  /// Gives the worker a file as its next input; returns `false` if the worker is gone.
  func lend(_ file: LargeFile) throws(FileError) -> Bool {
    // The worker drops the mapping that it has.
    let old = state.withLock { state in
      defer { state.input = nil }
      return state.input
    }
    return try withExtendedLifetime(old) { () throws(FileError) in
      try file.opened { Self.send($0, .file, file.byteCount, channel) }
    }
  }

  /// Returns the input or output with room for `count` bytes; `nil` if the system has no memory, or the worker is gone.
  ///
  /// Mappings are used again. They grow in steps, so that few are made.
  func mapping(_ role: MemoryRole, _ count: Int) -> SharedMapping? {
    guard count <= SharedMapping.limit else { return nil }
    let (known, earlier) = state.withLock { state in
      state.usedByteCount = max(state.usedByteCount, count)
      guard role == .input else { return (state.output, 0) }
      defer { state.inputByteCount = count }
      return (state.input, state.inputByteCount)
    }
    if let known, known.byteCount >= count {
      // What the last image left behind the end of this one; the worker clears the output.
      if earlier > count { known.clear(count..<earlier) }
      return known
    }
    // The next power of two, or the next eighth of it.
    let power = max(1 << 20, 1 << (Int.bitWidth - max(1, count - 1).leadingZeroBitCount))
    let step = max(1 << 16, power / 8)
    let mapping = Self.share(role, (max(count, 1 << 20) + step - 1) / step * step, channel)
    state.withLock { if role == .input { $0.input = mapping } else { $0.output = mapping } }
    return mapping
  }

  /// Counts an image, and gives back mappings that are much larger than recent images need.
  ///
  /// `session` is the animation of which it was a frame.
  func finishImage(_ session: FrameSession?) {
    // Unmapped when the lock is free again.
    _ = state.withLock { state -> [SharedMapping] in
      if let session { state.session = session }
      state.imageCount += 1
      state.recentByteCount = max(state.usedByteCount, state.recentByteCount - state.recentByteCount / 8)
      state.usedByteCount = 0
      let most = max(1 << 22, 4 * state.recentByteCount)
      var released: [SharedMapping] = []
      if let input = state.input, input.byteCount > most {
        released.append(input)
        state.input = nil
      }
      if let output = state.output, output.byteCount > most {
        released.append(output)
        state.output = nil
      }
      return released
    }
  }

  /// The private memory that is in use, in bytes.
  var residentByteCount: Int { ProcessMemory(identifier)?.resident ?? 0 }

  /// Returns `true` if a worker ended with this status because it was refused memory.
  static func isOutOfMemory(_ status: Int32?) -> Bool { status == VITRINE_OUT_OF_MEMORY << 8 }

  // MARK: Limits

  /// The memory that threads and libraries need beside that of the decode, in bytes.
  private static let overhead = (64 << 20) + (coreCount + min(coreCount, DecodeThreads.limit)) * (10 << 20)
  // Asking for it reads files.
  private static let coreCount = CoreBudget.machine.count

  /// The processor time that it has used, in seconds.
  private var processorTime: Double { Double(max(0, vitrine_processor_time(identifier))) / 1e9 }

  /// The processor time of this image, in seconds.
  var imageTime: Double { processorTime - state.withLock { $0.earlierTime } }

  /// Limits the memory of the next image, and the processor time of the next ones.
  ///
  /// `isEstimate` says that threads and libraries need memory beside that of the decode.
  func limit(memory: Int, isEstimate: Bool, time: Duration) {
    let most = initialByteCount.addingSaturating(memory).addingSaturating(isEstimate ? Self.overhead : 0)
    let used = processorTime
    let needed = Double(Self.coreCount) * (time / .seconds(1)) + 2
    let (isNewMemory, newTime) = state.withLock { state -> (Bool, Double?) in
      defer { (state.memoryLimit, state.earlierTime) = (most, used) }
      var newTime: Double?
      // For several images, so that the system is rarely asked.
      if state.timeLimit < used + needed || state.timeLimit > used + 3 * needed { newTime = used + 2 * needed }
      if let newTime { state.timeLimit = newTime }
      return (state.memoryLimit != most, newTime)
    }
    // The process may already be gone; then the image fails anyway.
    if isNewMemory { _ = vitrine_limit_memory(identifier, UInt64(most)) }
    if let newTime { _ = vitrine_limit_processor_time(identifier, UInt64(min(newTime.rounded(.up), 1e9))) }
  }
}

// MARK: -

extension WorkerProcess {
  /// Memory that an image needed is kept for the next one, which needs as much: getting it anew from the system costs
  /// more than decoding a small image.
  private static let allocatorSettings =
    "GLIBC_TUNABLES=glibc.malloc.trim_threshold=33554432:glibc.malloc.mmap_threshold=8388608"

  private static func spawn(_ path: ByteString, _ kind: WorkerKind, _ socket: Int32) -> Result<pid_t, StartFailure> {
    var actions = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    // Both live in this function, and each call copies its arguments.
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawnattr_init(&attributes)
    defer {
      unsafe posix_spawn_file_actions_destroy(&actions)
      unsafe posix_spawnattr_destroy(&attributes)
    }
    unsafe posix_spawn_file_actions_adddup2(&actions, socket, 0)
    // Some codecs write their diagnostics of damaged files.
    unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    // A group of its own, so that an interrupt at the terminal is the program's to handle. No signal is blocked or
    // ignored.
    var (none, all) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    unsafe posix_spawnattr_setflags(
      &attributes,
      Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF),
    )
    // Copies that outlive the call, in arrays that end in a null pointer. Nothing else of the environment is needed.
    let settings = Self.allocatorSettings
    let words = unsafe [path.withCString { unsafe strdup($0) }, strdup(kind.description), strdup(settings)]
    defer { unsafe words.forEach { unsafe free($0) } }
    var (arguments, environment) = unsafe ([words[0], words[1], nil], [words[2], nil])
    var identifier: pid_t = 0
    let status = unsafe path.withCString {
      unsafe posix_spawn(&identifier, $0, &actions, &attributes, &arguments, &environment)
    }
    return status == 0 ? .success(identifier) : .failure(.system(status))
  }
}

/// The memory of a process, in bytes.
private struct ProcessMemory {
  /// Private memory that is in use.
  let resident: Int
  /// Private memory that may be written, in use or not.
  let data: Int

  /// Reads `/proc/PID/statm`, see proc(5); `nil` if the process is gone.
  init?(_ identifier: pid_t) {
    let file = unsafe open("/proc/\(identifier)/statm", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 256)
    // Within the bytes.
    let count = unsafe read(file, &bytes, bytes.count)
    let numbers = bytes[..<max(0, count)].split { $0 == 32 || $0 == 10 }.compactMap {
      Int(String(decoding: $0, as: UTF8.self))
    }
    guard numbers.count >= 6 else { return nil }
    let page = sysconf(Int32(_SC_PAGESIZE))
    (resident, data) = ((numbers[1] - numbers[2]) * page, numbers[5] * page)
  }
}
