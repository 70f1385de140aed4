package import VitrineCaching
package import VitrineRuntime

/// A folder that is removed when it is released.
package final class TemporaryFolder: Sendable {
  package let url = FileManager.default.temporaryDirectory.appending(path: "vitrine-\(UUID().uuidString)")

  package init() throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  package var path: String { url.path }

  /// Returns the URL of a file in the folder.
  package func file(_ name: String) -> URL { url.appending(path: name) }

  /// Writes a file, with the folders that lead to it.
  ///
  /// - Returns: Its URL.
  @discardableResult
  package func write(_ data: Data, to name: String) throws -> URL {
    let file = file(name)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try data.write(to: file)
    return file
  }
  /// Opens the disk cache whose files the folder has.
  package func cache(_ clock: any TimeSource = .system, sizeLimit: Int = 64 << 20) throws -> DiskCache {
    try DiskCache(directory: url, sizeLimit: sizeLimit, clock: clock)
  }

  /// Copies all files into another folder, as if the program were killed now.
  package func copy(to other: TemporaryFolder) throws {
    try FileManager.default.removeItem(at: other.url)
    try FileManager.default.copyItem(at: url, to: other.url)
  }
}
