import Foundation

/// A scan of one grey page without compression: a TIFF file of 32 MiB whose strips are black, but for some.
package enum LargeScan {
  package static let (width, height) = (8192, 4096)

  /// Writes the file; the black strips take no space.
  package static func write(to path: String) throws {
    let (rows, count) = (64, height / 64)
    let (stripSize, directory, entryCount) = (width * rows, 8, 9)
    let offsets = directory + 2 + entryCount * 12 + 4
    let start = offsets + 8 * count
    var bytes: [UInt8] = Array("II".utf8) + little(42, 2) + little(directory, 4) + little(entryCount, 2)
    let entries = [
      (256, 1, width), (257, 1, height), (258, 1, 8), (259, 1, 1), (262, 1, 1), (273, count, offsets), (277, 1, 1),
      (278, 1, rows), (279, count, offsets + 4 * count),
    ]
    for (tag, count, value) in entries {
      bytes += little(tag, 2) + little(4, 2) + little(count, 4) + little(value, 4)
    }
    bytes += little(0, 4)
    for strip in 0..<count { bytes += little(start + strip * stripSize, 4) }
    for _ in 0..<count { bytes += little(stripSize, 4) }
    try Data(bytes).write(to: URL(filePath: path))
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    try file.truncate(atOffset: UInt64(start + count * stripSize))
    for strip in [1, 20, 63] {
      try file.seek(toOffset: UInt64(start + strip * stripSize))
      try file.write(contentsOf: Data(repeating: UInt8(strip * 4), count: stripSize))
    }
    try file.close()
  }

  private static func little(_ value: Int, _ size: Int) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}
