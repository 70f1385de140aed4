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
  static func inflate(_ file: ByteReader, room: Int) -> (bytes: [UInt8], end: End) { Zlib.inflate(file, room: room) }
}
