import CVitrineCodecs

/// The decoders and encoders that only this platform has, and the memory of its decoders.
enum PlatformCodecs {
  static let decoders: [any VitrineDecoder] = []
  static let encoders: [any ImageEncoder] = [WebPEncoder()]

  /// Estimates the memory of decoding a still picture at a scale; rows stream.
  static func memory(width: Int, height: Int, scale: Double) -> DecodeMemory { DecodeMemory() }

  /// Returns the beginning of what is compressed with gzip (RFC 1952), up to `limit` bytes or to where it is damaged.
  static func inflatedStart(of file: ByteReader, limit: Int) -> [UInt8] {
    // The shim writes into the given room.
    unsafe Array(unsafeUninitializedCapacity: limit) { room, count in
      let bytes = unsafe file.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
      count = unsafe vitrine_gunzip_start(bytes, file.count, room.baseAddress, limit)
    }
  }
}
