import CVitrineForgetting
import VitrineImaging
import VitrineRuntime

/// A decoder that does what its file says, as one that a file has taken over.
///
/// A file is `qoif`, the name of an ``Action`` and what that needs, separated by spaces. If the process is still there
/// afterwards, the picture has 8x8 pixels whose red is the error of the system, or 0.
struct RogueDecoder: ImageDecoder {
  enum Action: String, CaseIterable {
    case nothing, read, write, remove, connect, fork, exec, signal, trace, newCode, raiseLimits, allocate
    case remember, recall
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
    switch action {
    case .remember:
      remember()
      return Rows(red: 0x5A)
    case .recall: return Rows(red: unsafe recall(bytes), addsWhatIsThere: true)
    default: break
    }
    return Rows(red: run(action ?? .nothing, words.count > 2 ? words[2] : ""))
  }

  func run(_ action: Action, _ path: String) -> Int32 {
    switch action {
    case .nothing, .remember, .recall: return 0
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

  /// The sizes of the blocks in which an image is kept: of a few words, of rows, of pictures.
  private static let sizes = [24, 200, 1000, 5000, 60_000, 300_000, 600_000]

  /// Leaves an image in memory that is freed, moved and cut off.
  private func remember() {
    for size in Self.sizes {
      // They are filled before they are freed, and each is freed once.
      let blocks = unsafe (0..<20).compactMap { _ in unsafe malloc(size) }
      unsafe blocks.forEach { unsafe memset($0, 0x5A, size) }
      for index in unsafe blocks.indices {
        switch index % 5 {
        case 0: unsafe free(realloc(blocks[index], 2 * size))
        case 1: unsafe free(realloc(blocks[index], size / 2))
        case 2: _ = unsafe realloc(blocks[index], 0)
        default: unsafe free(blocks[index])
        }
      }
    }
  }

  /// Returns where another image can be read: 1 for the input, 4 for memory that was freed; the rows say 2 for the output.
  private func recall(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    var found: Int32 = 0
    // The rest of the input, whose mapping has a megabyte.
    let rest = unsafe UnsafeRawBufferPointer(start: bytes.baseAddress, count: 4096).dropFirst(bytes.count)
    if unsafe rest.contains(where: { $0 != 0 }) { found |= 1 }
    // The allocator leaves links of its own, which may have any byte.
    let remnant: UInt64 = 0x5A5A_5A5A_5A5A_5A5A
    for size in Self.sizes where vitrine_clears_freed_memory() {
      let blocks = unsafe (0..<40).compactMap { _ in unsafe malloc(size) }
      if unsafe blocks.contains(where: { unsafe words($0, size).contains(remnant) }) { found |= 4 }
      unsafe blocks.forEach { unsafe free($0) }
    }
    return found
  }

  /// The words of a block, which is aligned for them and used as nothing else.
  private func words(_ block: UnsafeMutableRawPointer, _ size: Int) -> UnsafeBufferPointer<UInt64> {
    unsafe UnsafeBufferPointer(start: block.assumingMemoryBound(to: UInt64.self), count: size / 8)
  }

  private final class Rows: RowSource {
    let (width, height, hasAlpha) = (8, 8, false)
    private var red: UInt8
    private let addsWhatIsThere: Bool
    private var row = 0

    init(red: Int32, addsWhatIsThere: Bool = false) {
      (self.red, self.addsWhatIsThere) = (UInt8(clamping: red), addsWhatIsThere)
    }

    func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
      let count = min(count, height - row)
      if addsWhatIsThere, unsafe rows.contains(where: { $0 != 0 }) { red |= 2 }
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
