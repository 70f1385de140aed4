import VitrineImaging
import VitrineRuntime

/// The pictures of a folder.
package enum FolderListing {
  /// The extensions of names that are pictures without a look into the file.
  private static let extensions = Set(ImageFormat.all.filter(\.row.isRead).flatMap(\.fileExtensions))
  /// The number of bytes in which a format is recognised.
  private static let beginning = 4096

  /// A folder that cannot be listed.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// Returns the pictures of a folder, without the pictures of the folders within, in no particular order.
  ///
  /// Hidden files are left out. Blocks.
  ///
  /// - Throws: ``Failure``, which names the folder.
  package static func items(of folder: String) throws(Failure) -> [GalleryItem] {
    guard let stream = unsafe opendir(folder) else {
      throw Failure(description: "\(folder): \(reason(of: folder))")
    }
    // Closed once, after its last use.
    defer { unsafe closedir(stream) }
    let file = unsafe dirfd(stream)
    let parent = folder.hasSuffix("/") ? folder : folder + "/"
    var items: [GalleryItem] = []
    // The entry is valid until the next one is read.
    while let entry = unsafe readdir(stream) {
      let kind = unsafe Int(entry.pointee.d_type)
      guard kind == DT_REG || kind == DT_LNK || kind == DT_UNKNOWN else { continue }
      // A field of the entry, terminated by a zero.
      unsafe withUnsafePointer(to: &entry.pointee.d_name.0) { name in
        var info = stat()
        // Relative to the folder, whose path is not looked up again for each file.
        guard unsafe name.pointee != CChar(bitPattern: UInt8(ascii: ".")), unsafe fstatat(file, name, &info, 0) == 0
        else { return }
        if let item = unsafe item(at: parent + String(cString: name), info) { items.append(item) }
      }
    }
    return items
  }

  /// Returns the picture at a path; `nil` if there is no file, or if it is no picture by its name and its first bytes.
  ///
  /// Blocks.
  package static func item(at path: String) -> GalleryItem? {
    var info = stat()
    // Both outlive the call.
    guard unsafe stat(path, &info) == 0 else { return nil }
    return item(at: path, info)
  }

  private static func item(at path: String, _ info: stat) -> GalleryItem? {
    guard info.st_mode & S_IFMT == S_IFREG, isPicture(path) else { return nil }
    let modified = Int64(info.st_mtim.tv_sec) * 1_000_000_000 + Int64(info.st_mtim.tv_nsec)
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

  /// Returns the beginning of a file; `nil` if it cannot be read.
  static func head(of path: String) -> Data? {
    // A FIFO is opened without waiting for its other end.
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: beginning)
    // As many bytes as the array has.
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
    return count > 0 ? Data(bytes.prefix(count)) : nil
  }

  private static func reason(of folder: String) -> String {
    guard let status = ByteString(folder).status() else { return FileError(code: ENOENT).description }
    guard status.kind == S_IFDIR else { return FileError(code: ENOTDIR).description }
    return FileError(code: EACCES).description
  }
}
