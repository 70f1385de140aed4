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
  package func take(_ path: String) throws(FileChangeError) -> TrashedFile? {
    let folders = folders(for: path)
    let before = folders.map { notes(of: path, in: $0) }
    do {
      try move(path)
    } catch {
      throw FileChangeError(path: path, detail: "\(error)")
    }
    for (folder, known) in zip(folders, before) {
      for name in notes(of: path, in: folder).subtracting(known).sorted() {
        let note = "\(folder)/info/\(name)"
        let place = "\(folder)/files/\(name.text.dropLast(Self.ending.count))"
        guard let text = try? FileContents.at(ByteString(fileText: note)),
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
  package static func putBack(_ file: TrashedFile) throws(FileChangeError) {
    try FileChange.move(file.place, to: file.original)
    _ = unsafe ByteString(fileText: file.note).withCString { unsafe unlink($0) }
  }

  // MARK: The folders of the trash

  private static let ending = ".trashinfo"

  /// Returns the folders into which the file may go: the home folder's, and its own volume's.
  private func folders(for path: String) -> [String] {
    var folders = [home]
    guard let device = ByteString(fileText: path).status(followingLinks: false)?.st_dev else { return folders }
    var top = path
    while true {
      let parent = Self.parent(of: top)
      guard parent != top, ByteString(fileText: parent).status()?.st_dev == device else { break }
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
    return Set(
      FolderListing.names(in: "\(folder)/info").filter { $0.contains(stem) && $0.hasSuffix(Self.ending) }.map {
        ItemID($0)
      }
    )
  }

  private static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  /// Returns the path that a note names; relative ones count from the folder that the trash is in.
  static func original(in note: String, _ folder: String) -> String? {
    for line in note.split(whereSeparator: \.isNewline) where line.hasPrefix("Path=") {
      guard let path = String(line.dropFirst(5)).bytesWithoutPercentEncoding?.fileText else { return nil }
      if path.hasPrefix("/") { return path }
      // `TOP/.Trash/UID` or `TOP/.Trash-UID`.
      var top = parent(of: folder)
      if top.hasSuffix("/.Trash") { top = parent(of: top) }
      return (top == "/" ? "" : top) + "/" + path
    }
    return nil
  }
}
