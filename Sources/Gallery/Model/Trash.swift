import VitrineRuntime

/// A file in the trash, which can be put back.
package struct TrashedFile: Sendable, Equatable {
  /// The path at which the file was.
  package let original: String
  /// Its path in the trash.
  let place: String
  /// The path of the note that the trash keeps about it.
  let note: String
}

/// A failure to move a file to the trash or back.
package struct TrashError: Error, CustomStringConvertible {
  package let path: String
  package let detail: String

  package init(path: String, detail: String) { (self.path, self.detail) = (path, detail) }

  package var description: String { "\(path): \(detail)" }
}

/// The desktop's trash, by the specification of freedesktop.org.
///
/// The desktop moves files into it, since that knows all volumes; the files are found and put back here.
package struct Trash: Sendable {
  /// Moves a file to the trash, or throws; blocks.
  package typealias Move = @Sendable (_ path: String) throws -> Void

  private let home: String
  private let move: Move

  /// - Parameters:
  ///   - home: The trash of the user's home folder, `$XDG_DATA_HOME/Trash`.
  ///   - move: Moves a file to the trash.
  package init(home: String, move: @escaping Move) { (self.home, self.move) = (home, move) }

  /// Moves a file to the trash; blocks.
  ///
  /// - Returns: What puts it back; `nil` if the trash does not say where it is.
  package func take(_ path: String) throws(TrashError) -> TrashedFile? {
    let folders = folders(for: path)
    let before = folders.map { notes(of: path, in: $0) }
    do {
      try move(path)
    } catch {
      throw TrashError(path: path, detail: "\(error)")
    }
    for (folder, known) in zip(folders, before) {
      for name in notes(of: path, in: folder).subtracting(known).sorted() {
        let note = "\(folder)/info/\(name)"
        let place = "\(folder)/files/\(name.text.dropLast(Self.ending.count))"
        guard let text = try? FileContents.at(note),
          let original = Self.original(in: String(decoding: text, as: UTF8.self), folder),
          ItemID(original) == ItemID(path)
        else { continue }
        return TrashedFile(original: path, place: place, note: note)
      }
    }
    return nil
  }

  /// Puts a file back; blocks.
  ///
  /// A file that has come to its place meanwhile is not replaced: then this throws.
  package static func putBack(_ file: TrashedFile) throws(TrashError) {
    func failure(_ detail: String) -> TrashError { TrashError(path: file.original, detail: detail) }
    // A hard link never replaces a file, unlike a rename. Not all file systems have them.
    if unsafe link(file.place, file.original) == 0 {
      _ = unsafe unlink(file.place)
    } else {
      guard errno != EEXIST, ByteString(file.original).status(followingLinks: false) == nil else {
        throw failure("there is another file of this name by now")
      }
      guard unsafe rename(file.place, file.original) == 0 else { throw failure(FileError(code: errno).description) }
    }
    _ = unsafe unlink(file.note)
  }

  // MARK: The folders of the trash

  private static let ending = ".trashinfo"

  /// Returns the folders into which the file may go: the home folder's, and its own volume's.
  private func folders(for path: String) -> [String] {
    var folders = [home]
    guard let device = ByteString(path).status(followingLinks: false)?.st_dev else { return folders }
    var top = path
    while true {
      let parent = Self.parent(of: top)
      guard parent != top, ByteString(parent).status()?.st_dev == device else { break }
      top = parent
    }
    let root = top == "/" ? "" : top
    folders += ["\(root)/.Trash/\(getuid())", "\(root)/.Trash-\(getuid())"]
    return folders
  }

  /// Returns the names of the notes that may be about a file of this name.
  private func notes(of path: String, in folder: String) -> Set<ItemID> {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    // A second file of a name is kept as "name.2.jpg" or "name.jpg.2".
    let stem = name.drop { $0 == "." }.prefix { $0 != "." }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/info")) ?? []
    return Set(names.filter { $0.contains(stem) && $0.hasSuffix(Self.ending) }.map { ItemID($0) })
  }

  private static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  /// Returns the path that a note names; relative ones count from the folder that the trash is in.
  static func original(in note: String, _ folder: String) -> String? {
    for line in note.split(whereSeparator: \.isNewline) where line.hasPrefix("Path=") {
      guard let path = String(line.dropFirst(5)).removingPercentEncoding else { return nil }
      if path.hasPrefix("/") { return path }
      // `TOP/.Trash/UID` or `TOP/.Trash-UID`.
      var top = parent(of: folder)
      if top.hasSuffix("/.Trash") { top = parent(of: top) }
      return (top == "/" ? "" : top) + "/" + path
    }
    return nil
  }
}

/// The files that were moved to the trash, step by step.
package struct TrashHistory: Sendable {
  /// The largest number of steps that can be undone.
  private static let limit = 100
  private var steps: [[TrashedFile]] = []

  package init() {}

  /// True if a step can be undone.
  package var canUndo: Bool { !steps.isEmpty }

  /// Adds the files of one step.
  package mutating func add(_ files: [TrashedFile]) {
    guard !files.isEmpty else { return }
    steps.append(files)
    if steps.count > Self.limit { steps.removeFirst() }
  }

  /// Takes the last step, to undo it.
  package mutating func takeLast() -> [TrashedFile]? { steps.popLast() }
}
