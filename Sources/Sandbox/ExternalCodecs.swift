package import VitrineImaging
import VitrineRuntime

/// The decoders and encoders of a program whose external formats are decoded in a sandbox, if `vitrine-codecs` is there.
///
/// If it is not, they fail, and say so.
package struct ExternalCodecs: Sendable {
  /// The sandbox, or the reason why there is none.
  package let made: Result<Sandbox, SandboxError>

  /// Makes the sandbox, which has no process before its first image.
  ///
  /// - Parameter program: The path of `vitrine-codecs`; `nil` for the one beside the running program.
  package init(program: String? = nil) {
    do throws(SandboxError) {
      let sandbox = try Sandbox {
        $0.program = program
        $0.formats = .external
        // Most files are of other formats.
        $0.startsAhead = false
      }
      made = .success(sandbox)
    } catch {
      made = .failure(error)
    }
  }

  /// The reason why there are none; `nil` if there are.
  package var missing: SandboxError? {
    if case .failure(let error) = made { error } else { nil }
  }

  /// The decoders.
  package var decoders: DecoderRegistry {
    switch made {
    case .success(let sandbox): return sandbox.decoders
    case .failure(let error):
      var decoders = DecoderRegistry.standard
      decoders.add(MissingDecoder(reason: error.detail))
      return decoders
    }
  }

  /// The encoders.
  package var encoders: EncoderRegistry {
    switch made {
    case .success(let sandbox): return sandbox.encoders
    case .failure(let error):
      var encoders = EncoderRegistry.standard
      for format in ImageFormat.writtenExternally {
        encoders.add(MissingEncoder(format: format, reason: error.detail))
      }
      return encoders
    }
  }
}

private struct MissingDecoder: ImageDecoder {
  let reason: String

  var formats: [ImageFormat] { ImageFormat.external }

  func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    throw ImageError(.unsupported, format: format, "\(format) images cannot be decoded: \(reason)")
  }

  func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? { nil }
}

private struct MissingEncoder: ImageEncoder {
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
