import VitrineRuntime

/// The index file: the contents of the segments up to given sizes, so that only later records are scanned.
enum IndexFile {
  static let magic: UInt64 = 0x3158_4449_5254_4956  // "VITRIDX1"
  private static let headerSize = 64
  private static let segmentSize = 16
  private static let entrySize = 96

  static func size(entries: Int) -> Int {
    headerSize + 64 * segmentSize + entries * entrySize + 4
  }

  static func encode(_ state: DiskState) -> [UInt8] {
    var writer = HeadWriter(capacity: size(entries: state.index.count))
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
    for part in state.index.allParts { append(part, to: &writer) }
    writer.append(writer.checksum(from: 0))
    return writer.bytes
  }

  private static func append(_ part: DiskIndex.Part, to writer: inout HeadWriter) {
    for (hash, entry) in part {
      writer.append(hash.low)
      writer.append(hash.high)
      writer.append(entry.sequence)
      writer.append(entry.revision)
      writer.append(seconds: entry.stored)
      writer.append(seconds: entry.expires)
      append(entry.record, to: &writer)
      writer.append(entry.bodyLength)
      writer.append(entry.lastUse)
      writer.append(entry.hits)
      append(entry.renewal, to: &writer)
      writer.append(UInt32(entry.lane) | (entry.isSpilled ? 0x100 : 0) | (entry.hasOlder ? 0x200 : 0))
      writer.append(UInt64(0))
    }
  }

  private static func append(_ place: RecordPlace, to writer: inout HeadWriter) {
    writer.append(place.segment)
    writer.append(place.offset)
    writer.append(place.length)
  }

  /// Fills the counters and the index of a state whose segments are known.
  ///
  /// - Returns: The covered size of each segment, or `nil` if the file is damaged. In that case the state is unchanged.
  static func decode(_ bytes: [UInt8], into state: inout DiskState) -> [UInt32: Int]? {
    var reader = HeadReader(bytes)
    guard
      // The first condition leaves a checksum.
      bytes.count >= headerSize + 4,
      unsafe reader.withRest({ unsafe $0.hasChecksum(ofFirst: bytes.count - 4) }),
      reader.uint64() == magic, let sequence = reader.uint64(), let tick = reader.uint64(), let hits = reader.uint64(),
      let misses = reader.uint64(), let evictions = reader.uint64(), let nextSegment = reader.uint32(),
      let segmentCount = reader.uint32(), let entryCount = reader.uint64(),
      // Counting on from these numbers must not overflow.
      max(sequence, hits, misses, evictions) <= RecordHeader.sequenceLimit / 2, nextSegment <= UInt32.max / 2,
      // A division, so that even hostile counts do not overflow.
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
    var places = Places(next.segments, covered)
    for number in 0..<Int(entryCount) {
      guard let (hash, entry) = readEntry(bytes, at: reader.offset + number * entrySize) else { return nil }
      guard let kept = places.admit(entry), next.index.insert(kept, for: hash) else { continue }
      next.laneEntries[Int(kept.lane)] += 1
      if kept.isSpilled {
        next.bodies[kept.sequence] = SpilledBody(lane: Int(kept.lane), size: Int(kept.bodyLength))
      }
    }
    for place in places.places { next.segments[place.segment.id]?.live += place.live }
    state = next
    return covered
  }

  /// The segments by number, to check the places of entries and to sum up live bytes.
  private struct Places {
    struct Place {
      let segment: Segment
      let covered: Int
      var live = 0
    }

    private(set) var places: [Place] = []
    // A dictionary took half of the opening.
    private var index = PlaceIndex()

    init(_ segments: SizedTable<UInt32, Segment>, _ covered: [UInt32: Int]) {
      for segment in segments.values {
        index.insert(Self.hash(of: segment.id), places.count)
        places.append(Place(segment: segment, covered: covered[segment.id] ?? 0))
      }
    }

    /// Returns the hash of a segment's number, which are consecutive.
    private static func hash(of id: UInt32) -> KeyHash { KeyHash(low: UInt64(id), high: 0) }

    private func place(of id: UInt32) -> Int? { index.place(Self.hash(of: id)) { places[$0].segment.id == id } }

    /// Returns the entry, or `nil` if its segment is gone or has lost its record.
    mutating func admit(_ entry: DiskEntry) -> DiskEntry? {
      guard let place = place(of: entry.record.segment), places[place].segment.lane == Int(entry.lane),
        entry.record.end <= min(places[place].segment.size, places[place].covered)
      else { return nil }
      places[place].live += Int(entry.record.length)
      guard entry.isRenewed else { return entry }
      var kept = entry
      if let renewal = self.place(of: entry.renewal.segment), entry.renewal.end <= places[renewal].segment.size {
        places[renewal].live += Int(entry.renewal.length)
      } else {
        // The renewal is lost, so the expiry is unknown and the entry counts as expired.
        kept.renewal.length = 0
        kept.expires = min(kept.expires, kept.stored)
      }
      return kept
    }
  }

  private static func readEntry(_ bytes: [UInt8], at offset: Int) -> (KeyHash, DiskEntry)? {
    guard offset + entrySize <= bytes.count else { return nil }
    return unsafe bytes.withUnsafeBytes { bytes -> (KeyHash, DiskEntry)? in
      // The guard leaves an entry's bytes.
      func long(_ place: Int) -> UInt64 { unsafe bytes.number(at: offset + place, as: UInt64.self) }
      func short(_ place: Int) -> UInt32 { unsafe bytes.number(at: offset + place, as: UInt32.self) }
      func place(_ start: Int) -> RecordPlace {
        RecordPlace(segment: short(start), offset: short(start + 4), length: short(start + 8))
      }
      let flags = short(84)
      guard flags & 0xFF < 2, max(long(16), long(24)) <= RecordHeader.sequenceLimit else { return nil }
      let entry = DiskEntry(
        record: place(48),
        bodyLength: short(60),
        sequence: long(16),
        revision: long(24),
        stored: Double(bitPattern: long(32)),
        expires: Double(bitPattern: long(40)),
        lastUse: short(64),
        hits: short(68),
        renewal: place(72),
        lane: UInt8(flags & 0xFF),
        isSpilled: flags & 0x100 != 0,
        hasOlder: flags & 0x200 != 0,
      )
      return (KeyHash(low: long(0), high: long(8)), entry)
    }
  }
}
