import VitrineImaging
import VitrineRuntime

/// A decoder that does what its file says, as one that a file has taken over.
///
/// A file is `qoif`, the name of an ``Action`` and what that needs, separated by spaces. If the process is still there
/// afterwards, the picture has 8x8 pixels whose red is the error of the system, or 0.
struct RogueDecoder: ImageDecoder {
  enum Action: String, CaseIterable {
    case nothing, read, write, remove, connect, fork, exec, signal, trace, newCode, raiseLimits, allocate
    case spin, spinOnThreads, sleep, crash, abort, exit
  }

  let formats: [ImageFormat] = [.qoi]

  func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    ImageInfo(format: .qoi, storedWidth: 8, storedHeight: 8)
  }

  func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    let words = unsafe String(decoding: bytes, as: UTF8.self).split(separator: " ").map(String.init)
    let action = words.count > 1 ? Action(rawValue: words[1]) : nil
    return Rows(red: run(action ?? .nothing, words.count > 2 ? words[2] : ""))
  }

  func run(_ action: Action, _ path: String) -> Int32 {
    switch action {
    case .nothing: return 0
    case .read: return code(unsafe Glibc.open(path, O_RDONLY))
    case .write: return code(unsafe Glibc.open(path, O_WRONLY | O_CREAT, 0o600))
    case .remove: return code(unsafe unlink(path))
    case .connect: return code(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    case .fork: return code(Glibc.fork())
    case .exec:
      var arguments: [UnsafeMutablePointer<CChar>?] = unsafe [strdup("/bin/true"), nil]
      return code(unsafe execv("/bin/true", &arguments))
    case .signal: return code(kill(getppid(), SIGUSR1))
    case .trace: return trace(getppid())
    case .newCode: return map(PROT_READ | PROT_WRITE | PROT_EXEC)
    case .raiseLimits:
      var limit = rlimit(rlim_cur: rlim_t.max, rlim_max: rlim_t.max)
      return code(unsafe setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limit))
    case .allocate: return allocate()
    case .spin: while true { _ = time(nil) }
    case .spinOnThreads:
      for _ in 0..<4 { _ = JoinableThread(named: "spin") { while true { _ = time(nil) } } }
      while true { _ = time(nil) }
    case .sleep: while true { _ = poll(nil, 0, 1000) }
    case .crash: return unsafe UnsafePointer<Int32>(bitPattern: 8).map { unsafe $0.pointee } ?? 0
    case .abort: Glibc.abort()
    case .exit: Glibc.exit(0)
    }
  }

  private func code(_ status: Int32) -> Int32 { status >= 0 ? 0 : errno }

  /// Attaches itself to a process.
  private func trace(_ process: pid_t) -> Int32 {
    // C's function has variable arguments, which Swift does not call; the first four are passed alike.
    typealias Trace = @convention(c) (Int, pid_t, Int, Int) -> Int
    guard let symbol = unsafe dlsym(nil, "ptrace") else { return ENOSYS }
    return code(Int32(unsafe unsafeBitCast(symbol, to: Trace.self)(16, process, 0, 0)))
  }

  private func map(_ protection: Int32) -> Int32 {
    let memory = unsafe mmap(nil, 1 << 20, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    return unsafe memory == MAP_FAILED ? errno : 0
  }

  /// Takes up to 16 GB in pieces of 16 MB.
  private func allocate() -> Int32 {
    for _ in 0..<1024 {
      let memory = unsafe mmap(nil, 16 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      if unsafe memory == MAP_FAILED { return errno }
    }
    return 0
  }

  private final class Rows: RowSource {
    let (width, height, hasAlpha) = (8, 8, false)
    private let red: UInt8
    private var row = 0

    init(red: Int32) { self.red = UInt8(clamping: red) }

    func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
      let count = min(count, height - row)
      for y in 0..<count {
        for x in 0..<width {
          let offset = y * bytesPerRow + 4 * x
          unsafe rows.storeBytes(of: SIMD4(red, 0, 0, 255), toByteOffset: offset, as: SIMD4<UInt8>.self)
        }
      }
      row += count
      return count
    }
  }
}
