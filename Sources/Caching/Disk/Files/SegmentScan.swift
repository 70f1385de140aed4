import VitrineRuntime

/// An iterator over the headers of a segment, up to the first damaged one.
struct SegmentScan {
  private let file: any DiskFile
  private let size: Int
  private(set) var offset: Int
  private var window: [UInt8] = []
  private var windowStart = 0

  init(_ file: any DiskFile, size: Int, from offset: Int = 0) {
    self.file = file
    self.size = size
    self.offset = offset
  }

  /// Returns the next header and the offset of its record.
  ///
  /// Moves ``offset`` behind the record.
  mutating func next() -> (header: RecordHeader, offset: Int)? {
    guard let header = RecordHeader(reader(at: offset, RecordHeader.size)), header.length <= size - offset else {
      return nil
    }
    defer { offset += header.length }
    return (header, offset)
  }

  mutating func attributes(at offset: Int) -> RecordAttributes? {
    RecordAttributes.read(reader(at: offset + RecordHeader.size, RecordAttributes.size))
  }

  private mutating func reader(at offset: Int, _ count: Int) -> HeadReader {
    if offset < windowStart || offset + count > windowStart + window.count {
      window = (try? file.bytes(4096, at: offset)) ?? []
      windowStart = offset
    }
    return HeadReader(window, from: offset - windowStart)
  }
}
