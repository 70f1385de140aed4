import Synchronization
import VitrineHTTP
import VitrineRuntime

/// The files below one folder.
@safe
final class LocalFiles: Sendable {
  /// The host of their URLs; a URL of a client's with this host is refused before.
  static let host = "local.vitrine.invalid"

  private let root: CInt
  private let freshness: Int
  private let budget: SourceBudget
  private let queue = WorkQueue(label: "files", width: 2)

  /// Opens the folder.
  init(_ path: String, freshness: Duration, _ budget: SourceBudget) throws(FileError) {
    self.budget = budget
    root = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard root >= 0 else { throw FileError(code: errno) }
    self.freshness = Int(freshness.components.seconds)
  }

  deinit { close(root) }

  /// Returns the URL of a path below the folder, or `nil` if it leads elsewhere.
  static func url(of path: String) -> String? {
    let names = path.split(separator: "/", omittingEmptySubsequences: true)
    guard !names.isEmpty else { return nil }
    var url = "http://\(host)"
    for name in names {
      guard name != ".", name != "..", !name.utf8.contains(0), name.utf8.count <= 255 else { return nil }
      url += "/" + PercentEncoding.encode(String(name))
    }
    return url
  }

  /// Reads a file once there is room for it: unlike a server, it can wait where it is.
  func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    let load = FileLoad(request, into: sink)
    budget.whenThereIsRoom(for: request.url.string) { [self] in
      load.start(on: queue) { self.answer(request, into: sink, load) }
    }
    return load
  }

  private func answer(_ request: HTTPRequest, into sink: any LoadSink, _ load: FileLoad) {
    sink.begin()
    do throws(FileError) {
      try read(request, into: sink, load)
    } catch {
      // As from a server: the operator learns the reason, but clients do not.
      sink.finish(HTTPError(.badStatus, url: request.url.string, status: 404, cause: error, "\(error)"))
    }
  }

  private func read(_ request: HTTPRequest, into sink: any LoadSink, _ load: FileLoad) throws(FileError) {
    let file = try openFile(request.url)
    defer { close(file) }
    var info = stat()
    guard unsafe fstat(file, &info) == 0 else { throw FileError(code: errno) }
    guard info.st_mode & S_IFMT == S_IFREG else { throw FileError(notRegular: info.st_mode) }
    let tag = "\"\(info.st_ino)-\(info.st_size)-\(info.st_mtim.tv_sec)-\(info.st_mtim.tv_nsec)\""
    let isKnown = request.headers["If-None-Match"] == tag
    let modified = Date(timeIntervalSince1970: Double(info.st_mtim.tv_sec))
    let response = HTTPResponse(
      status: isKnown ? 304 : 200,
      headers: [
        "ETag": tag, "Last-Modified": HTTPTime.http(modified), "Cache-Control": "max-age=\(freshness)",
        "Content-Length": isKnown ? "0" : "\(info.st_size)",
      ],
      url: request.url,
    )
    let cancelled = HTTPError(.cancelled, url: request.url.string, "was cancelled")
    guard info.st_size <= request.maxResponseBytes else {
      return sink.finish(HTTPError(.tooLarge, url: request.url.string, "the file has \(info.st_size) bytes"))
    }
    // A sink that pauses waits for memory; a file cannot wait, so the sink gets its bytes all the same.
    guard sink.receive(response) != .stop, !load.isCancelled else { return sink.finish(cancelled) }
    guard !isKnown else { return sink.finish(nil) }
    let data = try FileContents.of(file)
    guard sink.receive(data) != .stop, !load.isCancelled else { return sink.finish(cancelled) }
    sink.finish(nil)
  }

  /// Opens a file step by step, so that no link and no `..` is followed.
  private func openFile(_ url: HTTPURL) throws(FileError) -> CInt {
    let prefix = "http://\(Self.host)/"
    guard url.string.hasPrefix(prefix) else { throw FileError(code: ENOENT) }
    let path = url.string.dropFirst(prefix.utf8.count).prefix { $0 != "?" && $0 != "#" }
    let names = path.split(separator: "/")
    var folder = root
    defer { if folder != root { close(folder) } }
    for (index, name) in names.enumerated() {
      guard let name = PercentEncoding.decode(name), name != ".", name != "..", !name.utf8.contains(47),
        !name.utf8.contains(0)
      else { throw FileError(code: ENOENT) }
      let isLast = index == names.count - 1
      let flags = isLast ? O_RDONLY | O_NONBLOCK | O_NOCTTY : O_RDONLY | O_DIRECTORY
      let next = unsafe openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC)
      guard next >= 0 else { throw Self.problem(errno, folder, name) }
      if isLast { return next }
      if folder != root { close(folder) }
      folder = next
    }
    throw FileError(code: EISDIR)
  }

  /// Returns the reason why a name was not opened.
  ///
  /// The system calls a link in place of a folder no folder.
  private static func problem(_ code: CInt, _ folder: CInt, _ name: String) -> FileError {
    var info = stat()
    guard code == ENOTDIR, unsafe fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0,
      info.st_mode & S_IFMT == S_IFLNK
    else { return FileError(code: code) }
    return FileError(code: ELOOP)
  }
}

extension FileError {
  /// The code of a refused file, for the log and for counts.
  var refusalCode: String {
    switch code {
    case ENOENT, ENOTDIR: "fileMissing"
    case EACCES, EPERM: "filePermission"
    case ELOOP: "fileIsLink"
    default: "fileUnreadable"
    }
  }
}

/// A file that is to be read, or is being read.
private final class FileLoad: LoadHandle {
  private enum Stage: UInt8, AtomicRepresentable {
    case waiting, begun, cancelled
  }

  private struct State {
    var priority: Priority
    /// `nil` until there is room for the file.
    var item: WorkItem?
  }

  private let sink: any LoadSink
  private let url: HTTPURL
  private let stage = Atomic(Stage.waiting)
  private let wasCancelled = Atomic(false)
  private let state: Lock<State>

  init(_ request: HTTPRequest, into sink: any LoadSink) {
    (self.sink, url) = (sink, request.url)
    state = Lock(State(priority: request.priority))
  }

  /// True if the work that has begun is not wanted any more; it tells the sink itself.
  var isCancelled: Bool { wasCancelled.load(ordering: .relaxed) }

  /// Runs the work, unless it is cancelled before.
  func start(on queue: WorkQueue, _ work: @escaping @Sendable () -> Void) {
    do throws(WorkQueueError) {
      let item = try queue.enqueue(priority: priority) { [self] _ in if leaves(.begun) { work() } }
      state.withLock { $0.item = item }
    } catch {
      guard leaves(.begun) else { return }
      sink.finish(HTTPError(.overloaded, url: url.string, "too many files are waiting to be read"))
    }
  }

  /// Returns true for the call that ends the wait.
  private func leaves(_ next: Stage) -> Bool {
    stage.compareExchange(expected: .waiting, desired: next, ordering: .relaxed).exchanged
  }

  var priority: Priority {
    get { state.withLock { $0.priority } }
    set {
      let item = state.withLock { state in
        state.priority = newValue
        return state.item
      }
      item?.priority = newValue
    }
  }

  func cancel() {
    wasCancelled.store(true, ordering: .relaxed)
    guard leaves(.cancelled) else { return }
    sink.finish(HTTPError(.cancelled, url: url.string, "was cancelled"))
  }

  func resume() {}
}
