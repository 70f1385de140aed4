import CGTK
import Vitrine
import VitrineRuntime

/// The pictures of the gallery, in order.
@MainActor
struct Pictures {
  struct Picture: Sendable {
    let name: String
    /// The length of the encoded bytes, unique among all pictures that the gallery serves.
    let byteCount: Int?
    /// The path of its file.
    let path: String?
    /// Its URL; for a picture that the gallery serves, as far as its number.
    private let url: String
    private let number: Int?
    private let modified: Int

    /// A picture that another server has.
    fileprivate init(url: String) {
      (name, self.url) = (url, url)
      (byteCount, path, number, modified) = (nil, nil, nil, 0)
    }

    /// A picture that the gallery serves, at its number below `url`.
    fileprivate init(_ file: File, length: Int, number: Int, below url: String) {
      (name, path, modified) = (file.name, file.path, file.modified)
      (byteCount, self.number, self.url) = (length, number, url)
    }

    /// The cell's request, without a size; made anew each time, because ten thousand of them would take 10 MB.
    var request: ImageRequest {
      var request = ImageRequest(url: number.map { "\(url)\($0)" } ?? url)
      // The URL of the gallery's own server is different in each run.
      if let path, let byteCount { request.cacheID = "vitrine-gallery \(path) \(modified) \(byteCount)" }
      return request
    }

    /// Returns the cell's request, at `pixels` a side.
    func request(pixels: Int) -> ImageRequest {
      var request = request
      request.size = .pixels(Double(pixels), Double(pixels), .fill)
      return request
    }
  }

  let all: [Picture]
  /// The server of local pictures; `nil` if all of them are elsewhere.
  let server: PictureServer?

  init(_ options: Options) throws(Options.Mistake) {
    let found = try Self.sources(options.sources)
    guard !found.isEmpty else { throw Options.Mistake(message: "the sources contain no pictures") }
    let count = options.count ?? found.count
    let sources = (0..<count).map { found[$0 % found.count] }

    // Bytes appended to a picture do not change it, and make its length unique.
    var taken: Set<Int> = []
    var entries: [PictureServer.Entry] = []
    for case .file(let file) in sources {
      var length = file.byteCount
      while !taken.insert(length).inserted { length += 1 }
      entries.append(PictureServer.Entry(path: file.path, length: length))
    }
    let server = entries.isEmpty ? nil : try PictureServer(entries, latency: options.latency)
    self.server = server
    let root = server?.url("/") ?? ""
    var number = -1
    all = sources.map { source in
      switch source {
      case .url(let url):
        return Picture(url: url)
      case .file(let file):
        number += 1
        return Picture(file, length: entries[number].length, number: number, below: root)
      }
    }
  }

  // MARK: Where they are

  fileprivate struct File {
    let path: String
    let name: String
    let byteCount: Int
    let modified: Int

    init(path: String, byteCount: Int, modified: Int) {
      (self.path, self.byteCount, self.modified) = (path, byteCount, modified)
      let last = path.split(separator: "/").last.map(String.init) ?? path
      name = last.lastIndex(of: ".").map { String(last[..<$0]) } ?? last
    }
  }

  private enum Source {
    case url(String)
    case file(File)
  }

  private static func sources(_ arguments: [String]) throws(Options.Mistake) -> [Source] {
    var all: [Source] = []
    for argument in arguments {
      if argument == "-" {
        while let line = readLine() { all += url(line) }
        continue
      }
      if argument.hasPrefix("http://") || argument.hasPrefix("https://") {
        all.append(.url(argument))
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
          for line in text.split(whereSeparator: \.isNewline) { all += url(String(line)) }
        }
      }
    }
    return all
  }

  private static func url(_ line: String) -> [Source] {
    let text = line.drop { $0 == " " || $0 == "\t" }
    return text.isEmpty || text.hasPrefix("#") ? [] : [.url(String(text))]
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
