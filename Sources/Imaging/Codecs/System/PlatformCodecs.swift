/// The decoders and encoders that only this platform has, and the memory of its decoders.
enum PlatformCodecs {
  static let decoders: [any VitrineDecoder] = []
  static let encoders: [any ImageEncoder] = [WebPEncoder()]

  /// Estimates the memory of decoding a still picture at a scale; rows stream.
  static func memory(width: Int, height: Int, scale: Double) -> DecodeMemory { DecodeMemory() }
}
