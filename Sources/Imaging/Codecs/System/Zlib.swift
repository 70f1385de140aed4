import CVitrineCodecs

/// zlib, for streams of gzip and its own (RFC 1950, RFC 1952).
enum Zlib {
  /// Inflates a stream into up to `room` bytes.
  static func inflate(_ stream: ByteReader, room: Int) -> (bytes: [UInt8], end: Gzip.End) {
    var status = Int32(VITRINE_GUNZIP_DAMAGED)
    // The shim reads all bytes, and writes into the given room as many as it says.
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: room) { out, count in
      count = room
      status = unsafe stream.bytes.withUnsafeBufferPointer {
        unsafe vitrine_gunzip($0.baseAddress, $0.count, out.baseAddress, &count)
      }
    }
    let ends: [Gzip.End] = [.whole, .truncated, .damaged, .limit]
    return (bytes, ends[Int(status)])
  }
}
