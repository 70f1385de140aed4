import VitrineRuntime

/// Where a decoder is in entropy-coded data: plain values that stay in registers.
///
/// After ``refill()`` at least 56 bits are there.
@safe
struct BitCursor {
  /// The next bits, from the top down.
  private(set) var bits: UInt64 = 0
  /// How many of them have been counted as there; those below are true as well, or 0.
  private(set) var count = 0
  /// The byte behind those counted; within an ``EntropyReader``'s chunk.
  fileprivate(set) var next: UnsafeRawPointer

  fileprivate init(_ start: UnsafeRawPointer) { unsafe next = start }

  @inline(__always)
  mutating func refill() {
    // Eight bytes from `next` are within the chunk: `EntropyReader` keeps more of them behind where a block may begin than
    // a block can use up.
    let more = unsafe UInt64(bigEndian: next.loadUnaligned(as: UInt64.self))
    bits |= more &>> UInt64(truncatingIfNeeded: count)
    unsafe next += (63 &- count) &>> 3
    count |= 56
  }

  /// The next 12 bits, below 4,096.
  @inline(__always)
  var window: Int { Int(truncatingIfNeeded: bits &>> UInt64(64 &- HuffmanTable.lookupBits)) }

  /// The next 16 bits.
  @inline(__always)
  var wideWindow: Int { Int(truncatingIfNeeded: bits &>> 48) }

  @inline(__always)
  mutating func drop(_ length: Int) {
    bits &<<= UInt64(truncatingIfNeeded: length)
    count &-= length
  }

  /// Takes 1 to 16 bits.
  @inline(__always)
  mutating func take(_ length: Int) -> Int {
    let value = Int(truncatingIfNeeded: bits &>> UInt64(truncatingIfNeeded: 64 &- length))
    drop(length)
    return value
  }

  @inline(__always)
  mutating func takeBit() -> Bool {
    let isSet = bits &>> 63 != 0
    drop(1)
    return isSet
  }
}

/// Entropy-coded data with its byte stuffing taken out, a chunk at a time, so that reading bits needs no branch.
@safe
final class EntropyReader {
  /// A place to begin at again: so many bits behind a byte of the file, stuffing not counted.
  struct Place: Sendable {
    let position: Int
    let bits: Int
  }

  private struct Load {
    var position: Int
    var offset: Int
  }

  /// More bytes than any block takes, which is 64 symbols of at most 16 bits with at most 15 more each, and the eight that
  /// are read ahead.
  private static let reserve = 272
  private static let capacity = 32 * 1024
  /// Zeros behind the data's end: a block may begin eight bytes behind it.
  private static let padding = reserve + 16

  // Owned: allocated in init, freed in deinit, used by one thread at a time.
  private let chunk: UnsafeMutableRawPointer
  private var end: UnsafeMutableRawPointer
  private let bytes: UnsafeRawBufferPointer
  private var position: Int
  private let positionEnd: Int
  private var isAtMarker = false
  /// A block may begin at this byte at the latest; then ``advance(_:)`` is due.
  private(set) var latestStart: UnsafeRawPointer
  /// Where bytes of the file went in the chunk, perhaps before its beginning: the last load, and the one before.
  private var loads: (older: Load, newer: Load)
  /// Whether bits were read that are not there.
  private(set) var hasOverrun = false

  /// `bytes` outlives the reader.
  init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
    precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count)
    unsafe self.bytes = bytes
    (position, positionEnd) = (range.lowerBound, range.upperBound)
    loads = (Load(position: position, offset: 0), Load(position: position, offset: 0))
    unsafe chunk = .allocate(byteCount: Self.capacity + Self.padding, alignment: 64)
    unsafe end = chunk
    unsafe latestStart = UnsafeRawPointer(chunk)
  }

  deinit { unsafe chunk.deallocate() }

  /// The first bits.
  func start() -> BitCursor {
    unsafe end = chunk
    loads = (Load(position: position, offset: 0), Load(position: position, offset: 0))
    load()
    return unsafe BitCursor(UnsafeRawPointer(chunk))
  }

  /// The first bits behind `bits` that are passed over; `nil` where there are fewer.
  func start(skipping bits: Int) -> BitCursor? {
    var cursor = start()
    guard bits >= 0, unsafe UnsafeRawPointer(end) - UnsafeRawPointer(chunk) >= bits >> 3 else { return nil }
    // Within the chunk by the line above; its padding is behind it.
    unsafe cursor.next += bits >> 3
    cursor.refill()
    cursor.drop(bits & 7)
    return cursor
  }

  /// Where the cursor is.
  func place(of cursor: BitCursor) -> Place {
    let bits = unsafe (cursor.next - UnsafeRawPointer(chunk)) * 8 - cursor.count
    let load = bits >= loads.newer.offset * 8 ? loads.newer : loads.older
    return Place(position: load.position, bits: bits - load.offset * 8)
  }

  /// Brings more data behind the cursor; to be called when its next byte is behind ``latestStart``.
  @inline(never)
  func advance(_ cursor: BitCursor) -> BitCursor {
    var cursor = cursor
    guard !isAtMarker else {
      // What lies behind the end are zeros; back to the first of them, so that however long this goes on it is safe.
      hasOverrun = true
      unsafe cursor.next = UnsafeRawPointer(end)
      return cursor
    }
    // `next` is at most a block behind `latestStart`, which is a reserve before `end`.
    let left = unsafe UnsafeRawPointer(end) - cursor.next
    precondition(left >= 0 && left <= Self.capacity)
    let passed = unsafe cursor.next - UnsafeRawPointer(chunk)
    loads = (
      Load(position: loads.newer.position, offset: loads.newer.offset - passed),
      Load(position: position, offset: left),
    )
    unsafe memmove(chunk, cursor.next, left)
    unsafe end = chunk + left
    load()
    unsafe cursor.next = UnsafeRawPointer(chunk)
    return cursor
  }

  /// Whether all bits that were read were there, and less than a byte of them is left before the marker.
  func isAtEnd(_ cursor: BitCursor) -> Bool {
    isAtMarker && !hasOverrun && (0..<8).contains(bitsLeft(cursor))
  }

  /// Whether a bit was read that is not there.
  func hasRunOut(_ cursor: BitCursor) -> Bool { hasOverrun || (isAtMarker && bitsLeft(cursor) < 0) }

  /// Passes the restart marker `number`, from 0 to 7; `nil` where it does not follow.
  func restart(_ cursor: BitCursor, number: Int) -> BitCursor? {
    guard isAtEnd(cursor) else { return nil }
    while position + 1 < positionEnd, unsafe bytes[position + 1] == 0xFF { position += 1 }
    guard position + 1 < positionEnd, unsafe Int(bytes[position + 1]) == 0xD0 + number else { return nil }
    position += 2
    isAtMarker = false
    return start()
  }

  private func bitsLeft(_ cursor: BitCursor) -> Int {
    unsafe (UnsafeRawPointer(end) - cursor.next) * 8 + cursor.count
  }

  private func load() {
    // Room counts down what is written, so `end` stays within the capacity.
    var room = unsafe Self.capacity - (UnsafeRawPointer(end) - UnsafeRawPointer(chunk))
    while room > 0, !isAtMarker {
      let count = min(room, positionEnd - position)
      guard count > 0, let start = unsafe bytes.baseAddress else {
        isAtMarker = true
        break
      }
      let source = unsafe start + position
      let found = unsafe memchr(source, 0xFF, count)
      let plain = if let found = unsafe found { unsafe UnsafeRawPointer(found) - source } else { count }
      unsafe end.copyMemory(from: source, byteCount: plain)
      unsafe end += plain
      position += plain
      room -= plain
      guard plain < count else { continue }
      guard position + 1 < positionEnd, unsafe bytes[position + 1] == 0 else {
        isAtMarker = true
        break
      }
      unsafe end.storeBytes(of: 0xFF, as: UInt8.self)
      unsafe end += 1
      position += 2
      room -= 1
    }
    if isAtMarker {
      unsafe end.initializeMemory(as: UInt8.self, repeating: 0, count: Self.padding)
      unsafe latestStart = UnsafeRawPointer(end + 8)
    } else {
      unsafe latestStart = UnsafeRawPointer(end - Self.reserve)
    }
  }
}
