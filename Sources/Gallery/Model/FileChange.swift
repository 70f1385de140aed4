package import VitrineRuntime

/// A failure to change a file: to move it, to copy it, to delete it.
package struct FileChangeError: Error, CustomStringConvertible {
  package let path: String
  package let detail: String

  package init(path: String, detail: String) { (self.path, self.detail) = (path, detail) }

  init(_ path: String, _ code: Int32) { self.init(path: path, detail: FileError(code: code).description) }

  package var description: String { "\(path.readablePath): \(detail)" }
}

/// A file that has another place than before.
package struct MovedFile: Sendable, Equatable {
  package let original: String
  package let place: String
}

/// A file with other contents than before.
package struct ChangedFile: Sendable, Equatable {
  package let path: String
  /// The former contents.
  let contents: Data

  /// Writes the former contents again; blocks.
  package func restore() throws(FileChangeError) { try FileChange.replaceContents(of: path, with: contents) }
}

/// Changes of files, none of which replaces another file.
///
/// All block.
package enum FileChange {
  /// Gives a file another name in its folder.
  package static func changeName(of path: String, to name: String) throws(FileChangeError) -> MovedFile {
    guard !name.isEmpty, name != ".", name != "..", !name.contains("/"), !name.contains("\0") else {
      throw FileChangeError(path: path, detail: "“\(name)” is no name of a file")
    }
    let target = Self.folder(of: path) + name
    guard ItemID(target) != ItemID(path) else { return MovedFile(original: path, place: path) }
    try move(path, to: target)
    return MovedFile(original: path, place: target)
  }

  /// Moves a file into a folder, on this or another volume.
  package static func move(_ path: String, into folder: String) throws(FileChangeError) -> MovedFile {
    let target = (folder.hasSuffix("/") ? folder : folder + "/") + Self.name(of: path)
    guard ItemID(target) != ItemID(path) else { return MovedFile(original: path, place: path) }
    try move(path, to: target)
    return MovedFile(original: path, place: target)
  }

  /// Moves a file back to where it was.
  package static func putBack(_ file: MovedFile) throws(FileChangeError) { try move(file.place, to: file.original) }

  /// Copies a file into a folder; if its name is taken, under a name with a number.
  ///
  /// - Returns: The path of the copy.
  @discardableResult
  package static func copy(_ path: String, into folder: String) throws(FileChangeError) -> String {
    let (stem, ending) = Self.parts(of: Self.name(of: path))
    let start = folder.hasSuffix("/") ? folder : folder + "/"
    for number in 1...999 {
      let target = start + stem + (number == 1 ? "" : " (\(number))") + ending
      if try copy(path, to: target) { return target }
    }
    throw FileChangeError(path, EEXIST)
  }

  /// Replaces the contents of a file, all at once.
  package static func change(_ path: String, from contents: Data, to data: Data) throws(FileChangeError) -> ChangedFile
  {
    try replaceContents(of: path, with: data)
    return ChangedFile(path: path, contents: contents)
  }

  fileprivate static func replaceContents(of path: String, with data: Data) throws(FileChangeError) {
    do throws(FileError) {
      try AtomicFile.replace(ByteString(fileText: path), with: data)
    } catch {
      throw FileChangeError(path: path, detail: error.description)
    }
  }

  /// Deletes a file for good.
  package static func delete(_ path: String) throws(FileChangeError) {
    guard unsafe ByteString(fileText: path).withCString({ unsafe unlink($0) }) == 0 else {
      throw FileChangeError(path, errno)
    }
  }

  // MARK: Without replacing

  /// Moves a file to a path at which there is none.
  static func move(_ path: String, to target: String) throws(FileChangeError) {
    let (from, to) = (ByteString(fileText: path), ByteString(fileText: target))
    // A hard link never replaces a file, unlike a rename. Not all file systems have them.
    let isLinked = unsafe from.withCString { from in unsafe to.withCString { unsafe link(from, $0) } } == 0
    if isLinked {
      _ = unsafe from.withCString { unsafe unlink($0) }
      return
    }
    guard errno != EEXIST, to.status(followingLinks: false) == nil else {
      throw FileChangeError(path: target, detail: "there is another file of this name")
    }
    if unsafe from.withCString({ from in unsafe to.withCString { unsafe rename(from, $0) } }) == 0 { return }
    guard errno == EXDEV else { throw FileChangeError(path, errno) }
    guard try copy(path, to: target) else {
      throw FileChangeError(path: target, detail: "there is another file of this name")
    }
    try delete(path)
  }

  /// Copies a file to a path; returns `false` if there is one.
  private static func copy(_ path: String, to target: String) throws(FileChangeError) -> Bool {
    let source = unsafe ByteString(fileText: path).withCString { unsafe open($0, O_RDONLY | O_CLOEXEC) }
    guard source >= 0 else { throw FileChangeError(path, errno) }
    defer { close(source) }
    var info = stat()
    guard unsafe fstat(source, &info) == 0 else { throw FileChangeError(path, errno) }
    let copy = unsafe ByteString(fileText: target).withCString {
      unsafe open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, info.st_mode & 0o777)
    }
    guard copy >= 0 else {
      if errno == EEXIST { return false }
      throw FileChangeError(target, errno)
    }
    let code = Self.copyBytes(from: source, to: copy, info)
    let isClosed = close(copy) == 0
    guard code == 0, isClosed else {
      let failure = FileChangeError(target, code == 0 ? errno : code)
      try? delete(target)
      throw failure
    }
    return true
  }

  /// Copies bytes and the time of change; returns the number of the error, or 0.
  private static func copyBytes(from source: Int32, to copy: Int32, _ info: stat) -> Int32 {
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      // As many bytes as the buffer has.
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(source, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return errno }
      if count == 0 { break }
      var done = 0
      while done < count {
        // What is left of the bytes that were read.
        let written = unsafe buffer[done..<count].withUnsafeBytes { unsafe write(copy, $0.baseAddress, $0.count) }
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { return errno }
        done += written
      }
    }
    var times = [info.st_atim, info.st_mtim]
    // Two times, as the function wants; a file system without them keeps its own.
    _ = unsafe futimens(copy, &times)
    return fsync(copy) == 0 || errno == EINVAL ? 0 : errno
  }

  private static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
  }

  private static func name(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
  }

  /// The name without its extension, and the extension with its full stop.
  private static func parts(of name: String) -> (stem: String, ending: String) {
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return (name, "") }
    return (String(name[..<dot]), String(name[dot...]))
  }
}

/// The changes of files that can be undone, step by step.
package struct FileHistory: Sendable {
  /// The files of one command.
  package enum Step: Sendable, Equatable {
    case trashed([TrashedFile])
    case moved([MovedFile])
    case changed(ChangedFile)

    var isEmpty: Bool {
      switch self {
      case .trashed(let files): files.isEmpty
      case .moved(let files): files.isEmpty
      case .changed: false
      }
    }
  }

  /// The largest number of steps that can be undone.
  private static let limit = 100
  /// The most bytes of former contents that are kept.
  private static let byteLimit = 200_000_000
  private var steps: [Step] = []

  package init() {}

  /// True if a step can be undone.
  package var canUndo: Bool { !steps.isEmpty }

  /// Adds a step.
  package mutating func add(_ step: Step) {
    guard !step.isEmpty else { return }
    steps.append(step)
    if steps.count > Self.limit { steps.removeFirst() }
    // The oldest contents go first, but never the latest.
    while byteCount > Self.byteLimit, let oldest = steps.dropLast().firstIndex(where: { $0.byteCount > 0 }) {
      steps.remove(at: oldest)
    }
  }

  private var byteCount: Int { steps.reduce(0) { $0 + $1.byteCount } }

  /// Takes the last step, to undo it.
  package mutating func takeLast() -> Step? { steps.popLast() }
}

extension FileHistory.Step {
  /// The bytes of former contents.
  fileprivate var byteCount: Int { if case .changed(let file) = self { file.contents.count } else { 0 } }
}
