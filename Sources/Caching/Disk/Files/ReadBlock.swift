import VitrineRuntime

/// A block of bytes read from a file, of which a part can become data without a copy.
@safe
struct ReadBlock: ~Copyable {
  /// The size in bytes below which a part is copied, which costs less than keeping the rest of the block alive.
  private static let copyLimit = 4 << 10

  private let start: UnsafeMutableRawPointer
  private let count: Int

  /// Reads `count` bytes, or returns `nil` if there are fewer, or if the read would have to wait and must not.
  init?(_ file: any DiskFile, at offset: Int, _ count: Int, cachedOnly: Bool) {
    guard let start = unsafe malloc(max(count, 1)) else { return nil }
    // Exactly the allocated bytes.
    let room = unsafe UnsafeMutableRawBufferPointer(start: start, count: count)
    let isRead =
      if cachedOnly {
        unsafe file.readCached(into: room, at: offset)
      } else {
        unsafe (try? file.read(into: room, at: offset)) == count
      }
    guard isRead else {
      // The block is not shared yet.
      unsafe free(start)
      return nil
    }
    unsafe self.start = start
    self.count = count
  }

  deinit {
    // The block is allocated by `init` and not shared.
    unsafe free(start)
  }

  /// Returns a part of the bytes, valid while the block is.
  private func part(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    let range = range.clamped(to: 0..<count)
    // Clamped to the block.
    return unsafe UnsafeRawBufferPointer(start: start + range.lowerBound, count: range.count)
  }

  /// Reads the layout of a record, or returns `nil` if its beginning is damaged or exceeds the block.
  func layout(ofRecord length: Int) -> RecordLayout? {
    // The block outlives the call.
    guard let layout = unsafe RecordLayout(part(0..<count), length: length) else { return nil }
    return layout.metadata.upperBound <= count ? layout : nil
  }

  /// Copies a part as an array.
  func bytes(_ range: Range<Int>) -> [UInt8] {
    // The block outlives the copy.
    unsafe Array(part(range))
  }

  /// Copies a part as data.
  func copy(_ range: Range<Int>) -> Data {
    // The block outlives the copy.
    unsafe Data(part(range))
  }

  /// Returns a Boolean value that indicates whether a part equals a key.
  func isEqual(_ range: Range<Int>, to key: CacheKey) -> Bool {
    // The block outlives the call.
    unsafe key.hasBytes(part(range))
  }

  func checksum(of range: Range<Int>) -> UInt32 {
    // The block outlives the call.
    unsafe CRC32C.of(part(range))
  }

  /// Returns a part as data, which owns the memory of the whole block unless the part is small.
  consuming func data(_ range: Range<Int>) -> Data {
    let part = unsafe part(range)
    guard part.count >= Self.copyLimit, let bytes = part.baseAddress else {
      // The block outlives the copy.
      let copy = unsafe Data(part)
      _ = consume self
      return copy
    }
    // A number may cross to the thread that releases the data. From here on the data owns the block.
    let block = unsafe UInt(bitPattern: start)
    discard self
    return unsafe Data(
      bytesNoCopy: UnsafeMutableRawPointer(mutating: bytes),
      count: part.count,
      deallocator: .custom { _, _ in unsafe free(UnsafeMutableRawPointer(bitPattern: block)) },
    )
  }
}
