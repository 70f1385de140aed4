import Foundation
import VitrineTesting

@testable import VitrineCaching
@testable import VitrineRuntime

/// A folder of the disk cache in which one file is the input, with its checksums made right: what is behind them is
/// read, too.
@Sendable
func disk(_ data: Data) {
  guard let kind = data.first, let base = Base.shared else { return }
  let bytes = Array(data.dropFirst())
  var files = base.files
  switch kind % 3 {
  case 0: files["index"] = Signed.index(bytes)
  case 1: files[base.segment] = Signed.records(bytes)
  default:
    files["index"] = nil
    files[base.segment] = Signed.records(bytes)
  }
  let system = FuzzFiles(files)
  let ended = DispatchSemaphore(value: 0)
  Task {
    for _ in 0..<2 {
      guard let cache = Base.open(system) else { break }
      for number in 0..<4 { _ = await cache.entry(for: Base.key(number)) }
      await cache.store(Base.entry(9), for: Base.key(9))
      await cache.remove(Base.key(0))
      await cache.flush()
      let found = await cache.entry(for: Base.key(9))
      precondition(found?.data == Base.entry(9).data, "what was stored is not there")
      _ = await cache.verify()
      await cache.close()
    }
    ended.signal()
  }
  ended.wait()
}

/// A small cache, as it is after its first run.
private enum Base {
  static let shared: (files: [String: [UInt8]], segment: String)? = {
    let system = FuzzFiles([:])
    let ended = DispatchSemaphore(value: 0)
    Task {
      if let cache = open(system) {
        for number in 0..<4 { await cache.store(entry(number), for: key(number)) }
        await cache.flush()
        await cache.close()
      }
      ended.signal()
    }
    ended.wait()
    let files = system.all
    return files.keys.first { $0.hasSuffix(".segment") }.map { (files, $0) }
  }()

  static func open(_ system: FuzzFiles) -> DiskCache? {
    try? DiskCache(
      directory: URL(filePath: "/cache"),
      options: DiskOptions(sizeLimit: 1 << 20),
      files: system,
      clock: ManualClock(),
    )
  }

  static func key(_ number: Int) -> CacheKey { CacheKey { $0.append("https://a.invalid/\(number)") } }

  static func entry(_ number: Int) -> CachedData {
    let data = Data(repeating: UInt8(number), count: 100 + number)
    return CachedData(
      data: data,
      metadata: Data([1, 2, 3]),
      contentID: ContentID(of: data),
      stored: Date(timeIntervalSince1970: 1e9),
    )
  }
}

/// Bytes of any content with checksums that fit.
private enum Signed {
  static func index(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.count >= 4 else { return bytes }
    var bytes = bytes
    sign(&bytes, 0..<bytes.count - 4, at: bytes.count - 4)
    return bytes
  }

  static func records(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    var start = 0
    while start + RecordHeader.size <= bytes.count {
      bytes[start] = UInt8(RecordHeader.magic & 0xFF)
      bytes[start + 1] = UInt8(RecordHeader.magic >> 8)
      sign(&bytes, start..<start + 44, at: start + 44)
      guard let header = RecordHeader(HeadReader(bytes, from: start)), header.length <= bytes.count - start else {
        break
      }
      var contents = start + RecordHeader.size
      if header.hasAttributes {
        sign(&bytes, contents..<contents + 52, at: contents + 52)
        contents += RecordAttributes.size
      }
      sign(&bytes, contents..<start + RecordHeader.size + header.contentLength, at: start + 40)
      sign(&bytes, start..<start + 44, at: start + 44)
      start += header.length
    }
    return bytes
  }

  private static func sign(_ bytes: inout [UInt8], _ range: Range<Int>, at place: Int) {
    let checksum = bytes.withUnsafeBytes { CRC32C.of(UnsafeRawBufferPointer(rebasing: $0[range])) }
    for byte in 0..<4 { bytes[place + byte] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt32(byte))) }
  }
}

/// A file system in memory.
private final class FuzzFiles: DiskFileSystem {
  private let files: Lock<[String: FuzzFile]>

  init(_ files: [String: [UInt8]]) {
    self.files = Lock(Dictionary(uniqueKeysWithValues: files.map { ("/cache/\($0)", FuzzFile($1)) }))
  }

  var all: [String: [UInt8]] {
    files.withLock { files in
      Dictionary(uniqueKeysWithValues: files.map { (String($0.dropFirst("/cache/".count)), $1.all) })
    }
  }

  func open(_ path: String, isWritable: Bool, isCreated: Bool) throws(FileError) -> any DiskFile {
    let file = files.withLock { files in
      if files[path] == nil, isCreated { files[path] = FuzzFile([]) }
      return files[path]
    }
    guard let file else { throw FileError(code: ENOENT) }
    return file
  }

  func rename(_ path: String, to newPath: String) throws(FileError) {
    files.withLock { files in
      files[newPath] = files[path]
      files[path] = nil
    }
  }

  func remove(_ path: String) throws(FileError) { files.withLock { $0[path] = nil } }

  func names(in folder: String) throws(FileError) -> [String] {
    files.withLock { files in
      files.keys.filter { $0.hasPrefix(folder + "/") }.map { String($0.dropFirst(folder.count + 1)) }
        .filter { !$0.contains("/") }.sorted()
    }
  }

  func space(at folder: String) -> DiskSpace? { nil }
  func makeFolder(_ path: String) throws(FileError) {}
  func syncFolder(_ path: String) throws(FileError) {}
}

private final class FuzzFile: DiskFile {
  private let bytes: Lock<[UInt8]>

  init(_ bytes: [UInt8]) { self.bytes = Lock(bytes) }

  var all: [UInt8] { bytes.withLock { $0 } }
  var isDeleted: Bool { false }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int {
    bytes.withLock { bytes in
      let part = bytes.dropFirst(max(0, offset)).prefix(buffer.count)
      buffer.copyBytes(from: part)
      return part.count
    }
  }

  func readCached(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Bool {
    (try? read(into: buffer, at: offset)) == buffer.count
  }

  func write(_ new: UnsafeRawBufferPointer, at offset: Int) throws(FileError) {
    bytes.withLock { bytes in
      if bytes.count < offset + new.count { bytes += [UInt8](repeating: 0, count: offset + new.count - bytes.count) }
      bytes.replaceSubrange(offset..<offset + new.count, with: new)
    }
  }

  func truncate(to size: Int) throws(FileError) {
    bytes.withLock { bytes in bytes = Array(bytes.prefix(size)) }
  }

  func sync() throws(FileError) {}
  func size() throws(FileError) -> Int { bytes.withLock { $0.count } }
  func tryLock() -> Bool { true }
}
