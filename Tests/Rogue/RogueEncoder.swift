import VitrineImaging
import VitrineRuntime
import VitrineSandbox

/// An encoder that does what the picture's XMP says, an ``RogueDecoder/Action`` and what that needs, as one that a
/// picture has taken over.
///
/// If the process is still there afterwards, the file is the error of the system, or 0, in one byte.
struct RogueEncoder: ImageEncoder {
  var format: ImageFormat { .avif }

  func encode(_ input: EncoderInput, _ options: SandboxEncodingOptions) throws(ImageError) -> Data {
    let words = String(decoding: input.xmp ?? Data(), as: UTF8.self).split(separator: " ").map(String.init)
    guard let action = words.first.flatMap(RogueDecoder.Action.init) else {
      throw ImageError(.notEncodable, format: .avif, "no action")
    }
    let status = RogueDecoder().run(action, words.count > 1 ? words[1] : "")
    return Data([UInt8(clamping: status)])
  }
}
