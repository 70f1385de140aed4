import VitrineHTTP
import VitrineRuntime

/// Loads what the pipeline of a server may load: URLs, and files below one folder as URLs of a host that does not exist.
///
/// As responses files have a freshness and a validator, so that their thumbnails are kept on disk like all others.
struct SourceLoader: DataLoader {
  private let remote: any DataLoader
  private let local: LocalFiles?
  private let rules: SourceRules

  /// Makes a loader of URLs, whose redirects obey the rules, and of local files.
  init(_ remote: any DataLoader, _ local: LocalFiles?, _ rules: SourceRules) {
    (self.remote, self.local, self.rules) = (remote, local, rules)
  }

  func obeys(_ addressGuard: AddressGuard) -> Bool { remote.obeys(addressGuard) }

  @discardableResult
  func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    guard request.url.host == LocalFiles.host else {
      return remote.load(request, into: RuledSink(sink) { [rules] in Self.objection(to: $0, rules) })
    }
    guard let local else {
      sink.finish(HTTPError(.addressRefused, url: request.url.string, "there is no folder of local files"))
      return NoLoadHandle()
    }
    return local.load(request, into: sink)
  }

  private static func objection(to url: HTTPURL, _ rules: SourceRules) -> String? {
    url.host == LocalFiles.host ? "the host is that of local files" : rules.objection(to: url)
  }
}

/// A sink whose load follows only redirects to which nobody objects.
private final class RuledSink: LoadSink {
  private let sink: any LoadSink
  private let objection: @Sendable (HTTPURL) -> String?

  init(_ sink: any LoadSink, _ objection: @escaping @Sendable (HTTPURL) -> String?) {
    (self.sink, self.objection) = (sink, objection)
  }

  var hooks: LoadHooks {
    var hooks = sink.hooks
    hooks.redirectObjection = objection
    return hooks
  }

  func begin() { sink.begin() }

  func receive(_ response: HTTPResponse) -> LoadFlow { sink.receive(response) }

  func receive(_ bytes: RawSpan) -> LoadFlow { sink.receive(bytes) }

  func finish(_ error: HTTPError?) { sink.finish(error) }
}

/// The files below one folder.
@safe
final class LocalFiles: Sendable {
  /// The host of their URLs; a URL of a client's with this host is refused before.
  static let host = "local.vitrine.invalid"

  private let root: CInt
  private let freshness: Int
  private let queue = WorkQueue(label: "files", width: 2)

  /// Opens the folder.
  init(_ path: String, freshness: Duration) throws(FileError) {
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

  func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    let url = request.url
    do throws(WorkQueueError) {
      let item = try queue.enqueue(priority: request.priority) { [self] item in
        sink.begin()
        do throws(FileError) {
          try answer(request, into: sink, item)
        } catch {
          // As a server would: the reason is nobody's business.
          let flow = sink.receive(HTTPResponse(status: 404, headers: ["Cache-Control": "no-store"], url: url))
          sink.finish(flow == .stop ? HTTPError(.cancelled, url: url.string, "was cancelled") : nil)
        }
      }
      return Handle(item, sink, url)
    } catch {
      sink.finish(HTTPError(.overloaded, url: url.string, "too many files are waiting to be read"))
      return NoLoadHandle()
    }
  }

  private func answer(_ request: HTTPRequest, into sink: any LoadSink, _ item: WorkItem) throws(FileError) {
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
    // A sink that pauses waits for memory; files have nobody who could wait, so it gets them all the same.
    guard sink.receive(response) != .stop, !item.isCancelled else { return sink.finish(cancelled) }
    guard !isKnown else { return sink.finish(nil) }
    let data = try FileContents.of(file)
    guard sink.receive(data) != .stop, !item.isCancelled else { return sink.finish(cancelled) }
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
      guard next >= 0 else { throw FileError(code: errno) }
      if isLast { return next }
      if folder != root { close(folder) }
      folder = next
    }
    throw FileError(code: EISDIR)
  }

  private final class Handle: LoadHandle {
    private let item: WorkItem
    private let sink: any LoadSink
    private let url: HTTPURL

    init(_ item: WorkItem, _ sink: any LoadSink, _ url: HTTPURL) {
      (self.item, self.sink, self.url) = (item, sink, url)
    }

    var priority: Priority {
      get { item.priority }
      set { item.priority = newValue }
    }

    func cancel() {
      // Work that has begun sees it, and tells the sink itself.
      guard item.cancel() else { return }
      sink.finish(HTTPError(.cancelled, url: url.string, "was cancelled"))
    }

    func resume() {}
  }
}
