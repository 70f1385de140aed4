import VitrineImaging

#if SANDBOX
import VitrineSandbox
#endif

extension DecoderRegistry {
  /// The decoders of the tool: for heavy formats those of a sandbox, unless its program is not beside this one.
  ///
  /// Their libraries would slow down every start of the tool.
  static let ofTool: DecoderRegistry = {
    #if SANDBOX
    // Most files are of other formats, so nothing is started ahead.
    let sandboxed = try? DecoderRegistry.sandboxed {
      $0.formats = .heavy
      $0.startsAhead = false
    }
    return sandboxed ?? .standard
    #else
    return .standard
    #endif
  }()
}
