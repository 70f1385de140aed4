import VitrineImaging

#if !VITRINE_APPLE
import VitrineSandbox

/// The workers of the tool, for formats whose libraries would slow down every start of it.
let toolWorkers = ExternalCodecs()
#endif

extension DecoderRegistry {
  /// The decoders of the tool.
  static let ofTool: DecoderRegistry = {
    #if !VITRINE_APPLE
    return toolWorkers.decoders
    #else
    return .standard
    #endif
  }()
}

extension EncoderRegistry {
  /// The encoders of the tool.
  static let ofTool: EncoderRegistry = {
    #if !VITRINE_APPLE
    return toolWorkers.encoders
    #else
    return .standard
    #endif
  }()
}
