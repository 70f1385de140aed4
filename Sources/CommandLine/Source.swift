import VitrineRuntime

/// Where an image comes from, as named on the command line.
enum Source: Hashable {
  case file(String)
  case standardInput
  case url(String)

  static let sizeLimit = 2 << 30

  init(_ argument: String) {
    let lower = argument.lowercased()
    if argument == "-" {
      self = .standardInput
    } else if lower.hasPrefix("http://") || lower.hasPrefix("https://") {
      self = .url(argument)
    } else {
      self = .file(argument)
    }
  }

  /// The last component of its path without the extension; `image` where there is none.
  var stem: String {
    guard case .file(let path) = self else { return "image" }
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name.isEmpty ? "image" : name }
    return String(name[..<dot])
  }

  /// All its bytes.
  ///
  /// Blocks.
  func load() throws(Failure) -> Data {
    do throws(FileError) {
      switch self {
      case .standardInput: return try Self.load(0)
      case .url: throw FileError("addresses cannot be loaded by this version, only files")
      case .file(let path):
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw FileError(code: errno) }
        defer { close(file) }
        return try Self.load(file)
      }
    } catch {
      throw Failure(stage: .fetch, error.description)
    }
  }

  private static func load(_ file: Int32) throws(FileError) -> Data {
    var info = stat()
    guard unsafe fstat(file, &info) == 0 else { throw FileError(code: errno) }
    let kind = info.st_mode & S_IFMT
    guard kind != S_IFDIR else { throw FileError("it is a folder") }
    guard kind != S_IFREG || Int(info.st_size) <= sizeLimit else { throw FileError("it is larger than 2 GiB") }
    // One byte more than a regular file has, so that its end is seen without growing.
    var capacity = kind == S_IFREG ? Int(info.st_size) + 1 : 1 << 16
    guard var bytes = unsafe malloc(capacity) else { throw FileError(code: ENOMEM) }
    var count = 0
    while true {
      if count == capacity {
        guard count < sizeLimit else {
          unsafe free(bytes)
          throw FileError("it is larger than 2 GiB")
        }
        capacity *= 2
        // On failure the old block is still ours.
        guard let grown = unsafe realloc(bytes, capacity) else {
          unsafe free(bytes)
          throw FileError(code: ENOMEM)
        }
        unsafe bytes = grown
      }
      // There is room for `capacity - count` bytes behind the first `count`.
      let got = unsafe read(file, bytes + count, capacity - count)
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else {
        let error = FileError(code: errno)
        unsafe free(bytes)
        throw error
      }
      if got == 0 { break }
      count += got
    }
    // Allocated with malloc, freed by the last copy of the data.
    return unsafe Data(bytesNoCopy: bytes, count: count, deallocator: .free)
  }
}
