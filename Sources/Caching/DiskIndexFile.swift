import VitrineRuntime

/// The index as a file: what the segments hold up to given sizes, so that only what came later is scanned.
enum IndexFile {
  static let magic: UInt64 = 0x3158_4449_5254_4956  // "VITRIDX1"
  private static let headerSize = 64
  private static let segmentSize = 16
  private static let entrySize = 96

  static func size(entries: Int) -> Int {
    headerSize + 64 * segmentSize + entries * entrySize + 4
  }

  static func encode(_ state: DiskState) -> [UInt8] {
    var writer = ByteWriter()
    writer.reserve(size(entries: state.index.count))
    writer.append(magic)
    writer.append(state.sequence)
    writer.append(UInt64(state.tick))
    writer.append(UInt64(state.hits))
    writer.append(UInt64(state.misses))
    writer.append(UInt64(state.evictions))
    writer.append(UInt32(state.nextSegment))
    writer.append(UInt32(state.segments.count))
    writer.append(UInt64(state.index.count))
    for segment in state.segments.values {
      writer.append(segment.id)
      writer.append(UInt32(segment.lane))
      writer.append(UInt64(segment.size))
    }
    for (hash, entry) in state.index {
      writer.append(hash.low)
      writer.append(hash.high)
      writer.append(entry.sequence)
      writer.append(entry.revision)
      writer.append(entry.stored.bitPattern)
      writer.append(entry.expires.bitPattern)
      writer.append(entry.segment)
      writer.append(entry.offset)
      writer.append(entry.length)
      writer.append(entry.bodyLength)
      writer.append(entry.lastUse)
      writer.append(entry.hits)
      writer.append(entry.renewalSegment)
      writer.append(entry.renewalOffset)
      writer.append(entry.renewalLength)
      writer.append(UInt32(entry.lane) | (entry.isSpilled ? 0x100 : 0) | (entry.hasOlder ? 0x200 : 0))
      writer.append(UInt64(0))
    }
    writer.append(writer.checksum(from: 0))
    return writer.bytes
  }

  /// Fills the counters and the index of a state whose segments are known.
  ///
  /// - Returns: Up to where each segment is covered; `nil` if the file is damaged, with the state as it was.
  static func decode(_ bytes: [UInt8], into state: inout DiskState) -> [UInt32: Int]? {
    var reader = ByteReader(bytes)
    var end = ByteReader(bytes, from: bytes.count - 4)
    guard
      bytes.count >= headerSize + 4, let checksum = end.uint32(), checksum == reader.checksum(ofFirst: bytes.count - 4),
      reader.uint64() == magic, let sequence = reader.uint64(), let tick = reader.uint64(), let hits = reader.uint64(),
      let misses = reader.uint64(), let evictions = reader.uint64(), let nextSegment = reader.uint32(),
      let segmentCount = reader.uint32(), let entryCount = reader.uint64(),
      // Written so that not even hostile counts overflow.
      Int(segmentCount) <= reader.remaining / segmentSize,
      entryCount == UInt64((reader.remaining - 4 - Int(segmentCount) * segmentSize) / entrySize)
    else { return nil }
    var covered: [UInt32: Int] = [:]
    for _ in 0..<segmentCount {
      guard let id = reader.uint32(), reader.uint32() != nil, let size = reader.uint64() else { return nil }
      covered[id] = Int(clamping: size)
    }
    var next = state
    next.sequence = max(state.sequence, sequence)
    next.tick = UInt32(truncatingIfNeeded: tick)
    next.hits = Int(clamping: hits)
    next.misses = Int(clamping: misses)
    next.evictions = Int(clamping: evictions)
    next.nextSegment = max(state.nextSegment, nextSegment)
    next.index.reserveCapacity(Int(entryCount))
    for _ in 0..<entryCount {
      guard let (hash, entry) = readEntry(&reader) else { return nil }
      // What a segment has lost since, or lies in one that is gone, is a miss.
      guard let segment = next.segments[entry.segment], segment.lane == Int(entry.lane) else { continue }
      guard Int(entry.offset) + Int(entry.length) <= min(segment.size, covered[entry.segment] ?? 0) else { continue }
      var kept = entry
      if entry.renewalLength > 0 {
        let renewal = next.segments[entry.renewalSegment]
        if Int(entry.renewalOffset) + Int(entry.renewalLength) > renewal?.size ?? 0 {
          // It is not known any more until when it is fresh: it has to be asked for.
          kept.renewalLength = 0
          kept.expires = min(kept.expires, kept.stored)
        }
      }
      next.insert(kept, for: hash)
    }
    state = next
    return covered
  }

  private static func readEntry(_ reader: inout ByteReader) -> (KeyHash, DiskEntry)? {
    guard
      let low = reader.uint64(), let high = reader.uint64(), let sequence = reader.uint64(),
      let revision = reader.uint64(), let stored = reader.uint64(), let expires = reader.uint64(),
      let segment = reader.uint32(), let offset = reader.uint32(), let length = reader.uint32(),
      let bodyLength = reader.uint32(), let lastUse = reader.uint32(), let hits = reader.uint32(),
      let renewalSegment = reader.uint32(), let renewalOffset = reader.uint32(), let renewalLength = reader.uint32(),
      let flags = reader.uint32(), reader.skip(8), flags & 0xFF < 2
    else { return nil }
    let entry = DiskEntry(
      segment: segment,
      offset: offset,
      length: length,
      bodyLength: bodyLength,
      sequence: sequence,
      revision: revision,
      stored: Double(bitPattern: stored),
      expires: Double(bitPattern: expires),
      lastUse: lastUse,
      hits: hits,
      renewalSegment: renewalSegment,
      renewalOffset: renewalOffset,
      renewalLength: renewalLength,
      lane: UInt8(flags & 0xFF),
      isSpilled: flags & 0x100 != 0,
      hasOlder: flags & 0x200 != 0,
    )
    return (KeyHash(low: low, high: high), entry)
  }
}
