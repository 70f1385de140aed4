import VitrineImaging
package import VitrineRuntime

/// The pictures of a folder.
package enum FolderListing {
  /// The extensions of names that are pictures without a look into the file.
  private static let extensions = Set(ImageFormat.all.filter(\.row.isRead).flatMap(\.fileExtensions))
  /// The number of bytes in which a format is recognised.
  package static let beginning = 4096

  /// A folder that cannot be listed.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// The most folders below one another, and the most pictures, that are listed together.
  private static let depthLimit = 32
  private static let countLimit = 200_000

  /// Returns the pictures of a folder and of all folders within, in no particular order.
  ///
  /// Links to folders are not followed, and folders that cannot be listed are left out, but for the first. Hidden files and
  /// folders are left out. Blocks.
  ///
  /// - Parameters:
  ///   - folder: The path.
  ///   - visit: Called with each folder within before it is listed.
  /// - Returns: The pictures.
  /// - Throws: ``Failure``, which names the folder.
  package static func allItems(of folder: String, visit: (String) -> Void = { _ in }) throws(Failure) -> [GalleryItem] {
    var items: [GalleryItem] = []
    var rest = [(path: folder, depth: 0)]
    while let (path, depth) = rest.popLast(), items.count < countLimit {
      let found: [GalleryItem]
      if depth > 0 { visit(path) }
      do throws(Failure) {
        found = try Self.items(of: path, withFolders: true)
      } catch {
        if depth == 0 { throw error }
        continue
      }
      for item in found {
        guard case .folder(let path) = item.place else {
          items.append(item)
          continue
        }
        if depth < depthLimit, ByteString(fileText: path).status(followingLinks: false)?.kind == S_IFDIR {
          rest.append((path, depth + 1))
        }
      }
    }
    return items
  }

  /// Returns the first picture of a folder by name, or of the folders within; `nil` if there is none.
  ///
  /// Blocks.
  package static func cover(of folder: String, depth: Int = 3) -> GalleryItem? {
    let items = (try? Self.items(of: folder, withFolders: true)) ?? []
    if let first = items.filter({ !$0.isFolder }).min(by: ItemOrder.name.precedes) { return first }
    guard depth > 0 else { return nil }
    for inner in items.sorted(by: ItemOrder.name.precedes) {
      if case .folder(let path) = inner.place, let cover = cover(of: path, depth: depth - 1) { return cover }
    }
    return nil
  }

  /// Returns the pictures of a folder, without the pictures of the folders within, in no particular order.
  ///
  /// Hidden files are left out. Blocks.
  ///
  /// - Parameters:
  ///   - folder: The path.
  ///   - withFolders: A Boolean value that indicates whether the folders within are listed, too. Defaults to `false`.
  /// - Returns: The pictures.
  /// - Throws: ``Failure``, which names the folder.
  package static func items(of folder: String, withFolders: Bool = false) throws(Failure) -> [GalleryItem] {
    guard let stream = unsafe ByteString(fileText: folder).withCString({ unsafe opendir($0) }) else {
      throw Failure(description: "\(folder.readablePath): \(reason(of: folder))")
    }
    // Closed once, after its last use.
    defer { unsafe closedir(stream) }
    let file = unsafe dirfd(stream)
    let parent = folder.hasSuffix("/") ? folder : folder + "/"
    var items: [GalleryItem] = []
    // The entry is valid until the next one is read.
    while let entry = unsafe readdir(stream) {
      let kind = unsafe Int(entry.pointee.d_type)
      guard kind == DT_REG || kind == DT_LNK || kind == DT_UNKNOWN || kind == DT_DIR && withFolders else { continue }
      // A field of the entry, terminated by a zero.
      unsafe withUnsafePointer(to: &entry.pointee.d_name.0) { name in
        var info = stat()
        // Relative to the folder, whose path is not looked up again for each file.
        guard unsafe name.pointee != CChar(bitPattern: UInt8(ascii: ".")), unsafe fstatat(file, name, &info, 0) == 0
        else { return }
        let text = unsafe ByteString(cString: name).fileText
        if let item = item(at: parent + text, info, withFolders: withFolders) { items.append(item) }
      }
    }
    return items
  }

  /// Returns the names of the files and folders in a folder, hidden ones too; none if it cannot be listed.
  ///
  /// Blocks.
  static func names(in folder: String) -> [String] {
    guard let stream = unsafe ByteString(fileText: folder).withCString({ unsafe opendir($0) }) else { return [] }
    // Closed once, after its last use.
    defer { unsafe closedir(stream) }
    var names: [String] = []
    // The entry is valid until the next one is read.
    while let entry = unsafe readdir(stream) {
      unsafe withUnsafePointer(to: &entry.pointee.d_name.0) { name in
        unsafe names.append(ByteString(cString: name).fileText)
      }
    }
    return names
  }

  /// Returns the picture at a path; `nil` if there is no file, or if it is no picture by its name and its first bytes.
  ///
  /// With `withFolders`, a folder is one, too. Blocks.
  package static func item(at path: String, withFolders: Bool = false) -> GalleryItem? {
    var info = stat()
    // Both outlive the call.
    guard unsafe ByteString(fileText: path).withCString({ unsafe stat($0, &info) }) == 0 else { return nil }
    return item(at: path, info, withFolders: withFolders)
  }

  private static func item(at path: String, _ info: stat, withFolders: Bool) -> GalleryItem? {
    let modified = Int64(info.st_mtim.tv_sec) * 1_000_000_000 + Int64(info.st_mtim.tv_nsec)
    if withFolders, info.st_mode & S_IFMT == S_IFDIR { return GalleryItem(.folder(path), modified: modified) }
    guard info.st_mode & S_IFMT == S_IFREG, isPicture(path) else { return nil }
    return GalleryItem(.file(path), byteCount: Int(info.st_size), modified: modified)
  }

  private static func isPicture(_ path: String) -> Bool {
    let bytes = path.utf8
    if let dot = bytes.lastIndex(of: UInt8(ascii: ".")), bytes.distance(from: dot, to: bytes.endIndex) <= 6 {
      if extensions.contains(path[path.index(after: dot)...].lowercased()) { return true }
    }
    guard let start = head(of: path) else { return false }
    return ImageFormat.sniff(start)?.row.isRead ?? false
  }

  /// Returns the beginning of a file, by default so much of it as tells the format; `nil` if it cannot be read.
  package static func head(of path: String, count: Int = beginning) -> Data? {
    // A FIFO is opened without waiting for its other end.
    let file = unsafe ByteString(fileText: path).withCString {
      unsafe open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    }
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: count)
    // As many bytes as the array has.
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
    return count > 0 ? Data(bytes.prefix(count)) : nil
  }

  private static func reason(of folder: String) -> String {
    guard let status = ByteString(fileText: folder).status() else { return FileError(code: ENOENT).description }
    guard status.kind == S_IFDIR else { return FileError(code: ENOTDIR).description }
    return FileError(code: EACCES).description
  }
}
