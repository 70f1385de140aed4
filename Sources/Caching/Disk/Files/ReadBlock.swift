import VitrineRuntime

/// Bytes as they were read from a file, of which a part can become data without being copied.
@safe
final class ReadBlock {
  /// What is smaller is copied, which costs less than keeping the rest of the block alive.
  private static let copyLimit = 4 << 10

  private let start: UnsafeMutableRawPointer
  private let count: Int
  private var isGivenAway = false

  /// Reads so many bytes; `nil` if there are fewer, or the disk would have to be waited for and may not be.
  init?(_ file: any DiskFile, at offset: Int, _ count: Int, cachedOnly: Bool) {
    guard let start = unsafe malloc(max(count, 1)) else { return nil }
    unsafe self.start = start
    self.count = count
    // As many bytes as were just allocated.
    let room = unsafe UnsafeMutableRawBufferPointer(start: start, count: count)
    let isRead =
      if cachedOnly {
        unsafe file.readCached(into: room, at: offset)
      } else {
        unsafe (try? file.read(into: room, at: offset)) == count
      }
    // The memory goes with the block.
    if !isRead { return nil }
  }

  deinit {
    if !isGivenAway { unsafe free(start) }
  }

  private func part(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    let range = range.clamped(to: 0..<count)
    // Within the block, as just seen to.
    return unsafe UnsafeRawBufferPointer(start: start + range.lowerBound, count: range.count)
  }

  /// Copies a part.
  func bytes(_ range: Range<Int>) -> [UInt8] {
    // The block outlives the copy.
    unsafe Array(part(range))
  }

  func checksum(of range: Range<Int>) -> UInt32 {
    // The block outlives the look at it.
    unsafe CRC32C.of(part(range))
  }

  /// A part as data; of a large one once only, as it takes the memory of the whole block along.
  func data(_ range: Range<Int>) -> Data {
    let part = unsafe part(range)
    guard part.count >= Self.copyLimit, !isGivenAway, let bytes = part.baseAddress else {
      return unsafe Data(part)
    }
    isGivenAway = true
    // As a number, which may cross to whatever thread releases the data; from now on nobody else has it.
    let block = unsafe UInt(bitPattern: start)
    return unsafe Data(
      bytesNoCopy: UnsafeMutableRawPointer(mutating: bytes),
      count: part.count,
      deallocator: .custom { _, _ in unsafe free(UnsafeMutableRawPointer(bitPattern: block)) },
    )
  }
}
