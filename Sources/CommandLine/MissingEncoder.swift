import VitrineImaging
import VitrineRuntime

/// An encoder that cannot be used, and says why.
struct MissingEncoder: ImageEncoder {
  struct Options: EncodingOptions {
    init(quality: Int?, isLossless: Bool) {}
    var identifier: String { "" }
  }

  let format: ImageFormat
  let reason: String

  func encode(_ input: EncoderInput, _ options: Options) throws(ImageError) -> Data {
    throw ImageError(.notEncodable, format: format, "cannot be encoded as \(format): \(reason)")
  }
}
