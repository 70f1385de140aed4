import ImageIO
import VitrineRuntime

/// The decoders and encoders that only this platform has, and the memory of its decoders.
enum PlatformCodecs {
  static let decoders: [any VitrineDecoder] = [ImageIODecoder()]
  static let encoders: [any ImageEncoder] = ImageIOEncoder.others
  static let webPEncoder: (any ImageEncoder)? = nil

  /// Estimates the memory of decoding a still picture at a scale.
  ///
  /// A smaller picture may be made of the whole one, which is then freed.
  static func memory(width: Int, height: Int, scale: Double) -> DecodeMemory {
    let scale = min(1, scale)
    let side = { (length: Int) in Int((Double(length) * scale).rounded(.up)) }
    let pixels = side(width).multipliedSaturating(by: side(height))
    var memory = DecodeMemory(codec: pixels.multipliedSaturating(by: 8), rows: pixels.multipliedSaturating(by: 4))
    if scale < 1 { memory.transient = width.multipliedSaturating(by: height).multipliedSaturating(by: 4) }
    return memory
  }
}

extension Gzip {
  /// Nothing: what is compressed as a file is a drawing, which ImageIO does not read.
  static func inflate(_ file: ByteReader, room: Int) -> (bytes: [UInt8], end: End) { ([], .damaged) }
}
