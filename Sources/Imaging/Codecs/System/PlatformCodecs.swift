import CVitrineCodecs

/// The decoders and encoders that only this platform has, and the memory of its decoders.
enum PlatformCodecs {
  static let decoders: [any VitrineDecoder] = []
  static let encoders: [any ImageEncoder] = []
  static let webPEncoder: (any ImageEncoder)? = WebPEncoder()

  /// Estimates the memory of decoding a still picture at a scale; rows stream.
  static func memory(width: Int, height: Int, scale: Double) -> DecodeMemory { DecodeMemory() }
}

extension Gzip {
  /// Inflates a gzip file into up to `room` bytes.
  static func inflate(_ file: ByteReader, room: Int) -> (bytes: [UInt8], end: End) {
    var status = Int32(VITRINE_GUNZIP_DAMAGED)
    // The shim reads all bytes, and writes into the given room as many as it says.
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: room) { out, count in
      count = room
      status = unsafe file.bytes.withUnsafeBufferPointer {
        unsafe vitrine_gunzip($0.baseAddress, $0.count, out.baseAddress, &count)
      }
    }
    let ends: [End] = [.whole, .truncated, .damaged, .limit]
    return (bytes, ends[Int(status)])
  }
}
