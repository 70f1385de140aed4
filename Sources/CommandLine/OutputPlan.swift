import VitrineImaging
import VitrineRuntime

/// Where results go and in which format.
struct OutputPlan {
  /// The formats that can be written, as `--format` takes them.
  enum Format: String, CaseIterable {
    case png, jpeg, webp

    init?(extensionOf path: String) {
      guard let name = path.split(separator: "/").last, let dot = name.lastIndex(of: ".") else { return nil }
      let text = name[name.index(after: dot)...].lowercased()
      self.init(rawValue: text == "jpg" ? "jpeg" : text)
    }

    var format: ImageFormat {
      switch self {
      case .png: .png
      case .jpeg: .jpeg
      case .webp: .webp
      }
    }
  }

  private let path: String
  let isFolder: Bool
  private let format: Format?
  private var given: Set<String> = []
  /// The last number for each name, as thousands of addresses may have the same one.
  private var numbers: [String: Int] = [:]
  private let inputs: Set<FileIdentity>

  /// `path` is what `-o` says, `sources` are all different ones; with `isEncoding` false bytes are written as they come, and
  /// so under any name.
  init(_ path: String, format: Format?, isEncoding: Bool = true, sources: [Source]) throws(UsageError) {
    self.path = path
    isFolder = path.hasSuffix("/") || sources.count > 1 || Self.isFolder(path)
    if isEncoding, format == nil, !isFolder, path.split(separator: "/").last?.contains(".") == true {
      guard let named = Format(extensionOf: path) else {
        throw UsageError("'\(path)' names no format that can be written (png, jpeg, webp); --format says which")
      }
      self.format = named
    } else {
      self.format = format
    }
    inputs = Set(
      sources.compactMap { source in
        guard case .file(let path) = source else { return nil }
        return FileIdentity(path)
      }
    )
  }

  /// What was asked for; else PNG where there is transparency, JPEG where there is none.
  func format(for bitmap: Bitmap) -> ImageFormat {
    format?.format ?? (bitmap.hasTransparency ? .png : .jpeg)
  }

  /// Names the output of a source; in a folder no name is given twice in a run.
  mutating func name(for source: Source, _ format: ImageFormat) -> String {
    guard isFolder else { return path }
    let stem = source.stem
    let first = "\(stem).\(format.fileExtension)"
    var name = first
    while !given.insert(name).inserted {
      let number = numbers[first, default: 1] + 1
      numbers[first] = number
      name = "\(stem)-\(number).\(format.fileExtension)"
    }
    return path.hasSuffix("/") ? path + name : "\(path)/\(name)"
  }

  func write(_ data: Data, to output: String) throws(Failure) {
    // In a folder the names are ours, and must not cost anyone an original.
    if isFolder, let identity = FileIdentity(output), inputs.contains(identity) {
      throw Failure(stage: .write, "'\(output)' is one of the sources and is not replaced; give another folder")
    }
    do throws(FileError) {
      if isFolder { try AtomicFile.makeFolder(path) }
      try Signals.whileUninterrupted { () throws(FileError) in try AtomicFile.replace(output, with: data) }
    } catch {
      throw Failure(stage: .write, "cannot write '\(output)': \(error)")
    }
  }

  private static func isFolder(_ path: String) -> Bool {
    var info = stat()
    return unsafe stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
  }
}

/// Which file it is, under whatever name.
private struct FileIdentity: Hashable {
  let device: UInt64
  let number: UInt64

  init?(_ path: String) {
    var info = stat()
    guard unsafe stat(path, &info) == 0 else { return nil }
    (device, number) = (UInt64(info.st_dev), UInt64(info.st_ino))
  }
}
