import VitrineRuntime

/// Where an image comes from, as named on the command line.
enum Source: Hashable {
  case file(String)
  case standardInput
  case url(String)

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
      case .standardInput: return try FileContents.of(0)
      case .url: throw FileError("addresses cannot be loaded by this version, only files")
      case .file(let path): return try FileContents.at(path)
      }
    } catch {
      throw Failure(stage: .fetch, error.description)
    }
  }
}
