/// What the registries hold besides the decoders and encoders of every platform.
enum PlatformCodecs {
  static let decoders: [any ImageDecoder] = []
  static let encoders: [any ImageEncoder] = [WebPEncoder()]

  /// The bytes of a picture that the system's decoder holds besides the rows that it delivers.
  static func heldByteCount(width: Int, height: Int) -> Int { 0 }
}
