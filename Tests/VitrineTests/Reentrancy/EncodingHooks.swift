import VitrineImaging
import VitrineRuntime
import VitrineTesting

@testable import Vitrine

/// Encoders, their options, and who decides what is stored of encoded images.
enum EncodingHook: String, Hook {
  case encoderFormat, encoderFeatures, optionsIdentifier, encoderEncode, delegateKeepsEncoded

  func play(_ action: Action) async throws {
    let trigger = Trigger()
    let scene = try await Scene(action, trigger) { configuration in
      configuration.encoders = EncoderRegistry([HookedEncoder(hook: self, trigger: trigger)])
      if self == .delegateKeepsEncoded { configuration.delegate = Delegate(trigger: trigger) }
    }
    try scene.answer("subject")
    let encoding = ImageEncoding(.png, Options(trigger: self == .optionsIdentifier ? trigger : nil))
    let (pipeline, request) = (scene.pipeline, scene.request)
    scene.arm()
    scene.whileAtIt { _ = try? await pipeline.encoded(for: request, as: encoding) }
    try await scene.end()
  }

  private struct Options: EncodingOptions {
    var trigger: Trigger?

    init(trigger: Trigger?) { self.trigger = trigger }

    init(quality: Int?, isLossless: Bool) {}

    var identifier: String {
      trigger?.pull()
      return "hooked"
    }

    static func == (left: Self, right: Self) -> Bool { left.trigger === right.trigger }

    func hash(into hasher: inout Hasher) {}
  }

  private struct HookedEncoder: ImageEncoder {
    let hook: EncodingHook
    let trigger: Trigger

    private func note(_ hook: EncodingHook) { if hook == self.hook { trigger.pull() } }

    var format: ImageFormat {
      note(.encoderFormat)
      return .png
    }

    var features: EncoderFeatures {
      note(.encoderFeatures)
      return .alpha
    }

    func encode(_ input: EncoderInput, _ options: Options) throws(ImageError) -> Data {
      note(.encoderEncode)
      return try PNGEncoder().encode(input, PNGOptions())
    }
  }

  private struct Delegate: PipelineDelegate {
    let trigger: Trigger

    func storesEncoded(_ image: EncodedImage, for request: ImageRequest) -> Bool {
      trigger.pull()
      return true
    }
  }
}
