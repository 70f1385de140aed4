import VitrineRuntime

/// A position in entropy-coded data: plain values that stay in registers.
///
/// At least 56 bits are available after ``refill()``.
@safe
struct BitCursor {
  /// The next bits, from the most significant down.
  private(set) var bits: UInt64 = 0
  /// The number of bits counted as available.
  ///
  /// Bits below them are either correct too or 0.
  private(set) var count = 0
  /// The byte after the counted ones; within an ``EntropyReader``'s chunk.
  fileprivate(set) var next: UnsafeRawPointer

  fileprivate init(_ start: UnsafeRawPointer) { unsafe next = start }

  @inline(__always)
  mutating func refill() {
    // Eight bytes from `next` are within the chunk: after the latest start of a block `EntropyReader` keeps more
    // bytes than a block can use.
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

  /// Drops as many bits as the low six bits of a look-up's entry say.
  @inline(__always)
  mutating func drop(entry: Int) {
    bits &<<= UInt64(truncatingIfNeeded: entry)
    count = (count &- entry) & 63
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

/// Entropy-coded data without byte stuffing, a chunk at a time, so that reading bits needs no branch.
@safe
final class EntropyReader {
  /// A position to resume from: a number of bits after a byte of the file, without stuffing.
  struct Place: Sendable {
    let position: Int
    let bits: Int
  }

  private struct Load {
    var position: Int
    var offset: Int
  }

  /// More bytes than a block and the eight read ahead can take: 64 symbols of at most 16 bits, with at most 15 more
  /// each.
  private static let reserve = 272
  private static let capacity = 32 * 1024
  /// Zeros after the end of the data: a block may begin eight bytes after it.
  private static let padding = reserve + 16

  // Owned: allocated in init, freed in deinit, used by one thread at a time.
  private let chunk: UnsafeMutableRawPointer
  private var end: UnsafeMutableRawPointer
  private let bytes: UnsafeRawBufferPointer
  private var position: Int
  private let positionEnd: Int
  /// True if all data up to a marker, or to the end, have been loaded.
  private(set) var isAtMarker = false
  /// The last byte at which a block may begin; after it the reader must ``advance(_:)``.
  private(set) var latestStart: UnsafeRawPointer
  /// Positions of file bytes in the chunk, possibly before its beginning: the last load, and the one before.
  private var loads: (older: Load, newer: Load)
  /// True if bits past the end were read.
  private(set) var hasOverrun = false
  /// The bytes before the chunk, without stuffing, since the last start.
  private var passedCount = 0
  /// The position of a byte of the file whose offset is wanted; `Int.max` for none.
  private var mark = Int.max
  /// The marked byte's offset from the last start, in bits without stuffing, once it has been loaded.
  private(set) var markOffset: Int?
  /// The position in the file at which the last start began.
  private(set) var startPosition: Int

  /// `bytes` must outlive the reader.
  init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
    precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count)
    unsafe self.bytes = bytes
    (position, positionEnd, startPosition) = (range.lowerBound, range.upperBound, range.lowerBound)
    loads = (Load(position: position, offset: 0), Load(position: position, offset: 0))
    unsafe chunk = .allocate(byteCount: Self.capacity + Self.padding, alignment: 64)
    unsafe end = chunk
    unsafe latestStart = UnsafeRawPointer(chunk)
  }

  deinit { unsafe chunk.deallocate() }

  /// Returns a cursor at the first bit.
  func start() -> BitCursor {
    unsafe end = chunk
    (passedCount, startPosition) = (0, position)
    loads = (Load(position: position, offset: 0), Load(position: position, offset: 0))
    load()
    return unsafe BitCursor(UnsafeRawPointer(chunk))
  }

  /// Returns a cursor after `bits` bits; `nil` if there are fewer.
  func start(skipping bits: Int) -> BitCursor? {
    var cursor = start()
    guard bits >= 0, unsafe UnsafeRawPointer(end) - UnsafeRawPointer(chunk) >= bits >> 3 else { return nil }
    // Within the chunk by the line above; its padding is behind it.
    unsafe cursor.next += bits >> 3
    cursor.refill()
    cursor.drop(bits & 7)
    return cursor
  }

  /// Asks for ``markOffset`` of a byte that has not been loaded and does not follow an 0xFF.
  func setMark(_ position: Int) { mark = position }

  /// Returns the number of bits before the cursor, without stuffing, since the last start.
  func offset(of cursor: BitCursor) -> Int {
    unsafe (passedCount + (cursor.next - UnsafeRawPointer(chunk))) * 8 - cursor.count
  }

  /// Returns the position of the cursor.
  func place(of cursor: BitCursor) -> Place {
    let bits = unsafe (cursor.next - UnsafeRawPointer(chunk)) * 8 - cursor.count
    let load = bits >= loads.newer.offset * 8 ? loads.newer : loads.older
    return Place(position: load.position, bits: bits - load.offset * 8)
  }

  /// Loads more data after the cursor.
  ///
  /// Call it when the cursor's next byte is after ``latestStart``.
  @inline(never)
  func advance(_ cursor: BitCursor) -> BitCursor {
    var cursor = cursor
    guard !isAtMarker else {
      // Zeros follow the end. The cursor goes back to the first of them, which is safe however often it happens.
      hasOverrun = true
      unsafe cursor.next = UnsafeRawPointer(end)
      return cursor
    }
    // `next` is at most one block after `latestStart`, which is a reserve before `end`.
    let left = unsafe UnsafeRawPointer(end) - cursor.next
    precondition(left >= 0 && left <= Self.capacity)
    let passed = unsafe cursor.next - UnsafeRawPointer(chunk)
    loads = (
      Load(position: loads.newer.position, offset: loads.newer.offset - passed),
      Load(position: position, offset: left),
    )
    passedCount += passed
    unsafe memmove(chunk, cursor.next, left)
    unsafe end = chunk + left
    load()
    unsafe cursor.next = UnsafeRawPointer(chunk)
    return cursor
  }

  /// Returns `true` if all bits read were there, and less than a byte is left before the marker.
  func isAtEnd(_ cursor: BitCursor) -> Bool {
    isAtMarker && !hasOverrun && (0..<8).contains(bitsLeft(cursor))
  }

  /// Returns `true` if a bit past the end was read.
  func hasRunOut(_ cursor: BitCursor) -> Bool { hasOverrun || (isAtMarker && bitsLeft(cursor) < 0) }

  /// Skips the restart marker `number`, from 0 to 7; returns `nil` if another thing follows.
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
    // `room` shrinks with each byte written, so `end` stays within the capacity.
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
      if (0...plain).contains(mark &- position) {
        markOffset = unsafe (passedCount + (UnsafeRawPointer(end) - UnsafeRawPointer(chunk)) + mark - position) * 8
        mark = .max
      }
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
