import CVitrineCodecs

/// The decoders and encoders that only this platform has, and the memory of its decoders.
enum PlatformCodecs {
  static let decoders: [any VitrineDecoder] = []
  static let encoders: [any ImageEncoder] = []
  static let webPWriter = ImageFormat.Writer.builtIn(WebPEncoder())

  /// Estimates the memory of decoding a still picture at a scale; rows stream.
  static func memory(width: Int, height: Int, scale: Double) -> DecodeMemory { DecodeMemory() }

  /// Returns the beginning of what is compressed with gzip (RFC 1952), up to `limit` bytes or to where it is damaged.
  static func inflatedStart(of file: ByteReader, limit: Int) -> [UInt8] {
    var room = [UInt8](repeating: 0, count: limit)
    // The shim reads all bytes and writes into the given room.
    let count = unsafe file.bytes.withUnsafeBufferPointer {
      unsafe vitrine_gunzip_start($0.baseAddress, $0.count, &room, limit)
    }
    return Array(room.prefix(count))
  }
}
