import Vitrine
import VitrineRuntime
import VitrineTesting

/// The pictures of the gallery, in order.
struct Pictures {
  struct Picture {
    let name: String
    /// The length of the encoded bytes, unique among all pictures that the gallery serves.
    let byteCount: Int?
    /// The path of its file.
    let path: String?

    /// The cell's request, without a size.
    let request: ImageRequest

    init(name: String, address: String, identity: String? = nil, byteCount: Int? = nil, path: String? = nil) {
      (self.name, self.byteCount, self.path) = (name, byteCount, path)
      var request = ImageRequest(url: address)
      // The URL of the gallery's own server is different in each run.
      request.cacheID = identity
      self.request = request
    }

    /// Returns the cell's request, at `pixels` a side.
    func request(pixels: Int) -> ImageRequest {
      var request = request
      request.size = .pixels(Double(pixels), Double(pixels), .fill)
      return request
    }
  }

  let all: [Picture]
  /// True if answers are delayed, as set on the command line.
  let isSlow = Lock(true)
  /// The server of local pictures; it stops when it is released.
  private let server: LoopbackServer?

  /// The number of requests to the gallery's server; `nil` if there is none.
  var requestCount: Int? { server?.counts.requests }

  init(_ options: Options) throws(Options.Mistake) {
    let found = try Self.sources(options.sources)
    guard !found.isEmpty else { throw Options.Mistake(message: "the sources contain no pictures") }
    let count = options.count ?? found.count
    let files = found.compactMap { if case .file(let file) = $0 { file } else { nil } }
    let server = files.isEmpty ? nil : try? LoopbackServer()
    if !files.isEmpty, server == nil { throw Options.Mistake(message: "the gallery's server could not be started") }

    // Bytes appended to a picture do not change it, and make its length unique.
    var taken: Set<Int> = []
    var served: [ServedFile] = []
    all = (0..<count).map { index in
      switch found[index % found.count] {
      case .address(let address):
        return Picture(name: address, address: address)
      case .file(let file):
        var length = file.byteCount
        while !taken.insert(length).inserted { length += 1 }
        served.append(ServedFile(file: file, length: length))
        return Picture(
          name: file.name,
          address: server?.url("/\(served.count - 1)") ?? "",
          identity: "vitrine-gallery \(file.path) \(file.modified) \(length)",
          byteCount: length,
          path: file.path,
        )
      }
    }
    let (latency, isSlow) = (options.latency, isSlow)
    server?.route("*") { [served] exchange in
      guard let number = Int(exchange.request.path.dropFirst()), served.indices.contains(number),
        let body = served[number].body()
      else {
        exchange.respond(LoopbackResponse(status: 404))
        return
      }
      if latency > 0, isSlow.withLock({ $0 }) {
        // Answers arrive out of order, in the same order in every run.
        let share = (UInt64(number) &* 0x9E37_79B9_7F4A_7C15) >> 32 % 100
        usleep(useconds_t(UInt64(latency) * 10 * share))
      }
      exchange.respond(
        LoopbackResponse(headers: [("Cache-Control", "public, max-age=31536000, immutable")], body: body)
      )
    }
    self.server = server
  }

  // MARK: Where they are

  private struct File {
    let path: String
    let byteCount: Int
    let modified: Int

    var name: String {
      let last = path.split(separator: "/").last.map(String.init) ?? path
      return last.lastIndex(of: ".").map { String(last[..<$0]) } ?? last
    }
  }

  private struct ServedFile: Sendable {
    let file: File
    let length: Int

    func body() -> Data? {
      guard var bytes = try? Data(contentsOf: URL(filePath: file.path)), bytes.count <= length else { return nil }
      bytes.append(Data(count: length - bytes.count))
      return bytes
    }
  }

  private enum Source {
    case address(String)
    case file(File)
  }

  private static func sources(_ arguments: [String]) throws(Options.Mistake) -> [Source] {
    var all: [Source] = []
    for argument in arguments {
      if argument == "-" {
        while let line = readLine() { all += address(line) }
        continue
      }
      if argument.hasPrefix("http://") || argument.hasPrefix("https://") {
        all.append(.address(argument))
        continue
      }
      var isFolder = false
      guard FileManager.default.fileExists(atPath: argument, isDirectory: &isFolder) else {
        throw Options.Mistake(message: "'\(argument)' does not exist")
      }
      let paths = isFolder ? contents(of: argument) : [argument]
      for path in paths {
        guard let start = head(of: path) else { continue }
        if ImageFormat.sniff(start) != nil {
          if let file = file(path) { all.append(.file(file)) }
        } else if !isFolder, let text = try? String(contentsOfFile: path, encoding: .utf8) {
          for line in text.split(whereSeparator: \.isNewline) { all += address(String(line)) }
        }
      }
    }
    return all
  }

  private static func address(_ line: String) -> [Source] {
    let text = line.drop { $0 == " " || $0 == "\t" }
    return text.isEmpty || text.hasPrefix("#") ? [] : [.address(String(text))]
  }

  private static func contents(of folder: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { !$0.hasPrefix(".") }.sorted().map { "\(folder)/\($0)" }
  }

  /// Returns enough of a file to detect its format; `nil` if it cannot be read.
  private static func head(of path: String) -> Data? {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    // As many bytes as the array has.
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
    return count > 0 ? Data(bytes.prefix(count)) : nil
  }

  private static func file(_ path: String) -> File? {
    var info = stat()
    // Both outlive the call.
    guard unsafe stat(path, &info) == 0 else { return nil }
    return File(path: path, byteCount: Int(info.st_size), modified: Int(info.st_mtim.tv_sec))
  }
}
