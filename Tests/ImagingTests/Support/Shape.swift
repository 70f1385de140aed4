import VitrineImaging

/// The shape of the build: Apple's, where ImageIO decodes and encodes, or Linux's.
enum Shape {
  #if VITRINE_APPLE
  static let isApple = true
  #else
  static let isApple = false
  #endif

  /// The formats among these that can be written here.
  static func written(_ formats: [ImageFormat]) -> [ImageFormat] {
    formats.filter(EncoderRegistry.standard.formats.contains)
  }
}
