import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport

/// An encoder of PNG that counts how often it runs.
struct CountingEncoder: ImageEncoder {
  let encodes = Counter()
  /// Called before each run.
  var before: @Sendable () -> Void = {}

  var format: ImageFormat { .png }
  var features: EncoderFeatures { PNGEncoder().features }

  func encode(_ input: EncoderInput, _ options: PNGOptions) throws(ImageError) -> Data {
    encodes.increase()
    before()
    try input.checkCancellation()
    return try PNGEncoder().encode(input, options)
  }
}

/// An encoder that fails.
struct FailingEncoder: ImageEncoder {
  var format: ImageFormat { .png }

  func encode(_ input: EncoderInput, _ options: PNGOptions) throws(ImageError) -> Data {
    throw ImageError(.notEncodable, format: .png, "cannot be encoded as png: there is no ink")
  }
}
