/// A position in entropy-coded data: plain values that stay in registers.
///
/// At least 56 bits are available after ``refill()``.
@safe
struct BitCursor {
  /// The bytes that an offset in the chunk can say, of which an ``EntropyReader`` uses about half: a mask of 16 bits
  /// costs less than one of 15, or than a comparison.
  fileprivate static let span = 1 << 16

  /// The next bits, from the most significant down.
  private(set) var bits: UInt64 = 0
  /// The number of bits counted as available.
  ///
  /// Bits below them are either correct too or 0.
  private(set) var count = 0
  /// The offset in the chunk of the byte after the counted ones.
  fileprivate(set) var next = 0
  // The chunk: a span and eight bytes, by the check of the initialiser.
  private let chunk: UnsafeRawPointer

  fileprivate init(_ chunk: MutableElements<UInt8>) {
    precondition(chunk.count == Self.span + 8)
    unsafe self.chunk = chunk.withUnsafeBufferPointer { unsafe UnsafeRawPointer($0.baseAddress.unsafelyUnwrapped) }
  }

  @inline(__always)
  mutating func refill() {
    // In bounds by the mask. It changes nothing: after the latest start of a block `EntropyReader` keeps more bytes than
    // a block can use.
    let offset = next & (Self.span &- 1)
    let more = unsafe UInt64(bigEndian: chunk.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    bits |= more &>> UInt64(truncatingIfNeeded: count)
    next &+= (63 &- count) &>> 3
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

  // Used by one thread at a time.
  private let chunk = OwnedElements(repeating: UInt8(0), count: BitCursor.span + 8)
  /// The number of bytes in the chunk.
  private var end = 0
  private let bytes: Elements<UInt8>
  private var position: Int
  private let positionEnd: Int
  /// True if all data up to a marker, or to the end, have been loaded.
  private(set) var isAtMarker = false
  /// The last offset at which a block may begin; after it the reader must ``advance(_:)``.
  private(set) var latestStart = 0
  /// Positions of file bytes in the chunk, possibly before its beginning: the last load, and the one before.
  private var loads: (older: Load, newer: Load)
  /// True if bits past the end were read.
  private(set) var hasOverrun = false

  /// `bytes` must outlive the reader.
  init(_ bytes: Elements<UInt8>, _ range: Range<Int>) {
    precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count)
    self.bytes = bytes
    (position, positionEnd) = (range.lowerBound, range.upperBound)
    loads = (Load(position: position, offset: 0), Load(position: position, offset: 0))
  }

  /// Returns a cursor at the first bit, valid while this object lives.
  func start() -> BitCursor {
    end = 0
    loads = (Load(position: position, offset: 0), Load(position: position, offset: 0))
    load()
    return BitCursor(chunk.elements)
  }

  /// Returns a cursor at a place within the data; `nil` if they end before it.
  func start(at place: Place) -> BitCursor? {
    guard place.position < positionEnd, place.bits >= 0 else { return nil }
    (position, isAtMarker, hasOverrun) = (place.position, false, false)
    var cursor = start()
    guard end >= place.bits >> 3 else { return nil }
    cursor.next += place.bits >> 3
    cursor.refill()
    cursor.drop(place.bits & 7)
    return cursor
  }

  /// Returns the position of the cursor.
  func place(of cursor: BitCursor) -> Place {
    let bits = cursor.next * 8 - cursor.count
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
      cursor.next = end
      return cursor
    }
    // `next` is at most one block after `latestStart`, which is a reserve before `end`.
    let left = chunk.elements.elements.extracting(cursor.next..<end)
    loads = (
      Load(position: loads.newer.position, offset: loads.newer.offset - cursor.next),
      Load(position: position, offset: left.count),
    )
    chunk.elements.update(from: left)
    end = left.count
    load()
    cursor.next = 0
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
    while position + 1 < positionEnd, bytes[position + 1] == 0xFF { position += 1 }
    guard position + 1 < positionEnd, Int(bytes[position + 1]) == 0xD0 + number else { return nil }
    position += 2
    isAtMarker = false
    return start()
  }

  private func bitsLeft(_ cursor: BitCursor) -> Int { (end - cursor.next) * 8 + cursor.count }

  private func load() {
    let chunk = chunk.elements
    while end < Self.capacity, !isAtMarker {
      let limit = min(positionEnd, position + Self.capacity - end)
      guard position < limit else {
        isAtMarker = true
        break
      }
      let plain = position..<(bytes.firstIndex(of: 0xFF, in: position..<limit) ?? limit)
      chunk.extracting(end..<end + plain.count).update(from: bytes.extracting(plain))
      end += plain.count
      position = plain.upperBound
      guard position < limit else { continue }
      guard position + 1 < positionEnd, bytes[position + 1] == 0 else {
        isAtMarker = true
        break
      }
      chunk[end] = 0xFF
      end += 1
      position += 2
    }
    if isAtMarker { chunk.extracting(end..<end + Self.padding).update(repeating: 0) }
    latestStart = isAtMarker ? end + 8 : end - Self.reserve
  }
}
