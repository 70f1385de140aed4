import VitrineRuntime

/// A TIFF block in memory whose numbers are read and written in place, in its own byte order.
///
/// A read past the end returns `nil`; a write past the end does nothing.
struct TIFFBytes {
  private(set) var bytes: [UInt8]
  let isLittleEndian: Bool

  /// Returns `nil` if the bytes are no classic TIFF.
  init?(_ data: Data) {
    bytes = Array(data)
    isLittleEndian = bytes.starts(with: [0x49, 0x49])
    guard isLittleEndian || bytes.starts(with: [0x4D, 0x4D]), read16(2) == 42 else { return nil }
  }

  var count: Int { bytes.count }

  func read16(_ offset: Int) -> Int? {
    guard offset >= 0, offset <= count - 2 else { return nil }
    let (first, second) = (Int(bytes[offset]), Int(bytes[offset + 1]))
    return isLittleEndian ? second << 8 | first : first << 8 | second
  }

  func read32(_ offset: Int) -> Int? {
    guard let first = read16(offset), let second = read16(offset + 2) else { return nil }
    return isLittleEndian ? second << 16 | first : first << 16 | second
  }

  mutating func write16(_ value: Int, at offset: Int) { write(value, 2, at: offset) }

  mutating func write32(_ value: Int, at offset: Int) { write(value, 4, at: offset) }

  private mutating func write(_ value: Int, _ length: Int, at offset: Int) {
    guard offset >= 0, offset <= count - length else { return }
    let little = [UInt8].little(value, count: length)
    bytes.replaceSubrange(offset..<offset + length, with: isLittleEndian ? little : little.reversed())
  }

  mutating func move(_ range: Range<Int>, to offset: Int) {
    guard contains(range), contains(offset..<offset + range.count) else { return }
    bytes.replaceSubrange(offset..<offset + range.count, with: Array(bytes[range]))
  }

  mutating func clear(_ range: Range<Int>) {
    for index in range.clamped(to: 0..<count) { bytes[index] = 0 }
  }

  mutating func cut(_ end: Int) {
    guard end < count else { return }
    bytes.removeSubrange(max(end, 0)...)
  }

  private func contains(_ range: Range<Int>) -> Bool { range.lowerBound >= 0 && range.upperBound <= count }
}

extension TIFFBytes {
  /// An entry of a directory.
  struct Entry {
    /// The place of its 12 bytes.
    let place: Int
    let tag: Int
    let type: Int
    let count: Int
    /// The place of its value; `nil` if the type is unknown.
    let value: Range<Int>?

    var isInside: Bool { value?.lowerBound == place + 8 }
  }

  /// A directory, as far as the block has it.
  struct Directory {
    let offset: Int
    let entries: [Entry]
    /// True if none of the declared entries is missing.
    let isWhole: Bool

    /// The place of the link to the next directory.
    var link: Int { offset + 2 + entries.count * 12 }
    /// The number and the entries, without the link, which some writers leave out of all directories but the first.
    var range: Range<Int> { offset..<link }
  }

  /// The lengths of the types of TIFF 6.0, with 13 (IFD) of its first supplement and 129 (UTF-8) of EXIF 3.0.
  private static let lengths = [
    1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 129: 1,
  ]

  func directory(at offset: Int) -> Directory? {
    guard offset >= 8, let declared = read16(offset) else { return nil }
    var entries: [Entry] = []
    for index in 0..<declared {
      let place = offset + 2 + index * 12
      guard let tag = read16(place), let type = read16(place + 2), let count = read32(place + 4),
        let pointer = read32(place + 8)
      else { break }
      // At most 8 times 4 billion, which fits into an Int.
      let value = Self.lengths[type].map { length in
        let start = count * length <= 4 ? place + 8 : pointer
        return start..<start + count * length
      }
      entries.append(Entry(place: place, tag: tag, type: type, count: count, value: value))
    }
    return Directory(offset: offset, entries: entries, isWhole: entries.count == declared)
  }

  /// Returns the first whole numbers of an entry, as far as the block has them.
  func integers(_ entry: Entry, atMost limit: Int) -> [Int] {
    guard let value = entry.value?.clamped(to: 0..<count) else { return [] }
    func numbers(_ length: Int, _ read: (Int) -> Int?) -> [Int] {
      stride(from: value.lowerBound, to: value.upperBound, by: length).prefix(limit).compactMap(read)
    }
    switch entry.type {
    case 1: return numbers(1) { Int(bytes[$0]) }
    case 3: return numbers(2, read16)
    case 4, 13: return numbers(4, read32)
    default: return []
    }
  }
}
