import VitrineRuntime

/// A reader of little-endian numbers that checks every read against the end.
struct ByteReader {
  private let bytes: [UInt8]
  private(set) var offset: Int
  private let end: Int

  init(_ bytes: [UInt8], from offset: Int = 0) {
    self.bytes = bytes
    self.offset = min(offset, bytes.count)
    end = bytes.count
  }

  var remaining: Int { end - offset }

  mutating func uint8() -> UInt8? { load() }
  mutating func uint16() -> UInt16? { load() }
  mutating func uint32() -> UInt32? { load() }
  mutating func uint64() -> UInt64? { load() }

  mutating func data(_ count: Int) -> Data? {
    guard count >= 0, count <= remaining else { return nil }
    defer { offset += count }
    return Data(bytes[offset..<offset + count])
  }

  mutating func skip(_ count: Int) -> Bool {
    guard count >= 0, count <= remaining else { return false }
    offset += count
    return true
  }

  func checksum(ofFirst count: Int) -> UInt32? {
    guard count >= 0, count <= remaining else { return nil }
    return unsafe bytes.withUnsafeBytes { all in
      // The guard leaves `count` bytes.
      unsafe CRC32C.of(UnsafeRawBufferPointer(rebasing: all[offset..<offset + count]))
    }
  }

  /// Calls `body` with the remaining bytes.
  func withRest<Answer>(_ body: (UnsafeRawBufferPointer) -> Answer) -> Answer {
    unsafe bytes.withUnsafeBytes { all in
      // The offset is never beyond the end.
      unsafe body(UnsafeRawBufferPointer(rebasing: all[offset...]))
    }
  }

  func isNext(_ others: [UInt8]) -> Bool {
    guard others.count <= remaining else { return false }
    return unsafe bytes.withUnsafeBytes { all in
      unsafe others.withUnsafeBytes { others in
        guard let left = all.baseAddress, let right = others.baseAddress else { return unsafe others.isEmpty }
        // The guard leaves enough bytes.
        return unsafe memcmp(left + offset, right, others.count) == 0
      }
    }
  }

  private mutating func load<Number: FixedWidthInteger>() -> Number? {
    let size = MemoryLayout<Number>.size
    guard size <= remaining else { return nil }
    defer { offset += size }
    // The guard leaves `size` bytes.
    return unsafe bytes.withUnsafeBytes {
      unsafe Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Number.self))
    }
  }
}

/// A writer of little-endian numbers and records.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  var count: Int { bytes.count }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: bytes.capacity < 4 << 20)
  }

  mutating func reserve(_ count: Int) {
    bytes.reserveCapacity(count)
  }

  mutating func append<Number: FixedWidthInteger>(_ number: Number) {
    // The bytes of a number on the stack are only read while the closure runs.
    unsafe withUnsafeBytes(of: number.littleEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  mutating func append(_ data: Data) {
    // The bytes are only read while the closure runs. Appended as a sequence, they would be copied twice.
    unsafe data.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
  }

  mutating func append(_ more: [UInt8]) {
    bytes.append(contentsOf: more)
  }

  func checksum(from start: Int) -> UInt32 {
    unsafe bytes.withUnsafeBytes { all in
      // `start` is an earlier offset of the writer.
      unsafe CRC32C.of(UnsafeRawBufferPointer(rebasing: all[start...]))
    }
  }

  /// Appends a record with its checksums.
  mutating func append(
    _ header: RecordHeader,
    _ attributes: RecordAttributes?,
    key: [UInt8],
    metadata: Data,
    payload: Data,
  ) {
    var contents = CRC32C()
    // The bytes are only read while the closure runs.
    unsafe key.withUnsafeBytes { unsafe contents.append($0) }
    contents.append(metadata)
    contents.append(payload)
    let start = count
    append(RecordHeader.magic)
    append(header.kind.rawValue)
    append(UInt8(header.lane))
    append(UInt32(header.keyLength))
    append(header.hash.low)
    append(header.hash.high)
    append(header.sequence)
    append(UInt32(header.metadataLength))
    append(UInt32(header.payloadLength))
    append(contents.value)
    append(checksum(from: start))
    if let attributes {
      let start = count
      append(attributes.contentID.low)
      append(attributes.contentID.high)
      append(attributes.stored.bitPattern)
      append(attributes.expires.bitPattern)
      append(attributes.revision)
      append(attributes.lastUse)
      append(attributes.hits)
      append(attributes.bodyChecksum)
      append(checksum(from: start))
    }
    append(key)
    append(metadata)
    append(payload)
    while count < start + header.length { append(UInt8(0)) }
  }
}
