import VitrineRuntime

/// Bytes as they were read from a file, of which a part can become data without being copied.
@safe
struct ReadBlock: ~Copyable {
  /// What is smaller is copied, which costs less than keeping the rest of the block alive.
  private static let copyLimit = 4 << 10

  private let start: UnsafeMutableRawPointer
  private let count: Int

  /// Reads so many bytes; `nil` if there are fewer, or the disk would have to be waited for and may not be.
  init?(_ file: any DiskFile, at offset: Int, _ count: Int, cachedOnly: Bool) {
    guard let start = unsafe malloc(max(count, 1)) else { return nil }
    // As many bytes as were just allocated.
    let room = unsafe UnsafeMutableRawBufferPointer(start: start, count: count)
    let isRead =
      if cachedOnly {
        unsafe file.readCached(into: room, at: offset)
      } else {
        unsafe (try? file.read(into: room, at: offset)) == count
      }
    guard isRead else {
      // Nobody else has it.
      unsafe free(start)
      return nil
    }
    unsafe self.start = start
    self.count = count
  }

  deinit {
    // Allocated with it, and given to nobody else.
    unsafe free(start)
  }

  /// A part of the bytes; valid while the block is.
  private func part(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    let range = range.clamped(to: 0..<count)
    // Within the block, as just seen to.
    return unsafe UnsafeRawBufferPointer(start: start + range.lowerBound, count: range.count)
  }

  /// Reads where the parts of a record lie; `nil` if its beginning is damaged or more than the block.
  func layout(ofRecord length: Int) -> RecordLayout? {
    // The block outlives the look at it.
    guard let layout = unsafe RecordLayout(part(0..<count), length: length) else { return nil }
    return layout.metadata.upperBound <= count ? layout : nil
  }

  /// Copies a part.
  func bytes(_ range: Range<Int>) -> [UInt8] {
    // The block outlives the copy.
    unsafe Array(part(range))
  }

  /// Copies a part.
  func copy(_ range: Range<Int>) -> Data {
    // The block outlives the copy.
    unsafe Data(part(range))
  }

  /// Whether a part is these bytes.
  func isEqual(_ range: Range<Int>, to key: CacheKey) -> Bool {
    // The block outlives the look at it.
    unsafe key.hasBytes(part(range))
  }

  func checksum(of range: Range<Int>) -> UInt32 {
    // The block outlives the look at it.
    unsafe CRC32C.of(part(range))
  }

  /// A part as data, which takes the memory of the whole block along, unless it is small.
  consuming func data(_ range: Range<Int>) -> Data {
    let part = unsafe part(range)
    guard part.count >= Self.copyLimit, let bytes = part.baseAddress else {
      // The block outlives the copy.
      let copy = unsafe Data(part)
      _ = consume self
      return copy
    }
    // As a number, which may cross to whatever thread releases the data; from now on nobody else has it.
    let block = unsafe UInt(bitPattern: start)
    discard self
    return unsafe Data(
      bytesNoCopy: UnsafeMutableRawPointer(mutating: bytes),
      count: part.count,
      deallocator: .custom { _, _ in unsafe free(UnsafeMutableRawPointer(bitPattern: block)) },
    )
  }
}
