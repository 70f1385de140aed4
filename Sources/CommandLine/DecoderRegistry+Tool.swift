import VitrineImaging

#if !VITRINE_APPLE
import VitrineSandbox

/// The sandbox of the tool, for formats whose libraries would slow down every start of it.
enum ToolSandbox {
  static let made = make()

  /// Makes the sandbox, which has no process before its first image.
  ///
  /// `program` is the path of its program; `nil` for the one beside the tool.
  static func make(program: String? = nil) -> Result<Sandbox, SandboxError> {
    do throws(SandboxError) {
      return .success(
        try Sandbox {
          $0.program = program
          $0.formats = .heavy
          // Most files are of other formats.
          $0.startsAhead = false
        }
      )
    } catch {
      return .failure(error)
    }
  }

  /// Returns the standard encoders and those of a sandbox, or in place of these some that say why there is none.
  static func encoders(_ made: Result<Sandbox, SandboxError>) -> EncoderRegistry {
    switch made {
    case .success(let sandbox): return sandbox.encoders
    case .failure(let error):
      var encoders = EncoderRegistry.standard
      for format in [ImageFormat.jxl, .avif] {
        encoders.add(MissingEncoder(format: format, reason: error.detail))
      }
      return encoders
    }
  }
}
#endif

extension DecoderRegistry {
  /// The decoders of the tool: for heavy formats those of a sandbox, unless its program is not beside this one.
  static let ofTool: DecoderRegistry = {
    #if !VITRINE_APPLE
    guard case .success(let sandbox) = ToolSandbox.made else { return .standard }
    return sandbox.decoders
    #else
    return .standard
    #endif
  }()
}

extension EncoderRegistry {
  /// The encoders of the tool: for AVIF and JPEG XL those of a sandbox.
  ///
  /// If its program is not beside this one, they fail, and say so.
  static let ofTool: EncoderRegistry = {
    #if !VITRINE_APPLE
    return ToolSandbox.encoders(ToolSandbox.made)
    #else
    return .standard
    #endif
  }()
}
