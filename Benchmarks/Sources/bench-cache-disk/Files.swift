import Foundation

/// One file per entry, named by a hash of its key, written under a temporary name and renamed.
final class FileStore: Store {
  static let name = "a file per entry"
  private let folder: String
  private(set) var bytes = 0

  init(in folder: URL) async throws {
    self.folder = folder.path
    mkdir(self.folder, 0o700)
    for name in try Self.names(self.folder) {
      var info = stat()
      if stat("\(self.folder)/\(name)", &info) == 0 { bytes += Int(info.st_size) }
    }
  }

  private static func names(_ folder: String) throws -> [String] {
    guard let directory = opendir(folder) else { throw BenchmarkError("cannot list") }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }

  private func path(_ key: String) -> String {
    // FNV-1a, cheaper than the hash of any real cache of this kind.
    var (low, high) = (0xCBF2_9CE4_8422_2325 as UInt64, 0x8422_2325_CBF2_9CE4 as UInt64)
    for byte in key.utf8 {
      low = (low ^ UInt64(byte)) &* 0x100_0000_01B3
      high = (high ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    return "\(folder)/\(String(low, radix: 36))\(String(high, radix: 36))"
  }

  func put(_ bytes: Data, _ key: String) async throws {
    let path = path(key)
    let file = open("\(path).tmp", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw BenchmarkError("cannot create") }
    defer { Foundation.close(file) }
    let count = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
    guard count == bytes.count, rename("\(path).tmp", path) == 0 else { throw BenchmarkError("cannot write") }
  }

  func finishWriting() async throws {}

  func get(_ key: String) async throws -> Data? {
    let file = open(path(key), O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { Foundation.close(file) }
    var info = stat()
    fstat(file, &info)
    let count = Int(info.st_size)
    guard let bytes = malloc(max(count, 1)), read(file, bytes, count) == count else { return nil }
    return Data(bytesNoCopy: bytes, count: count, deallocator: .free)
  }

  func evictQuarter(of keys: [String]) async throws {
    // By file times, like a cache that keeps nothing in memory.
    var files: [(name: String, time: Int)] = []
    for name in try Self.names(folder) {
      var info = stat()
      guard stat("\(folder)/\(name)", &info) == 0 else { continue }
      files.append((name, info.st_mtim.tv_sec * 1_000_000_000 + info.st_mtim.tv_nsec))
    }
    files.sort { $0.time < $1.time }
    for file in files.prefix(files.count / 4) { unlink("\(folder)/\(file.name)") }
  }

  func close() async throws {}
}
