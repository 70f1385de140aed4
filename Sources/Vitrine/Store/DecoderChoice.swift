import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// The decoders that a pipeline or its delegate chooses; it is used on threads that may block.
struct DecoderChoice: Sendable {
  static let firstByteCount = 4096

  private let decoders: DecoderRegistry
  private let delegate: (any PipelineDelegate)?
  /// The pipeline's decoders; `nil` if there is a delegate or a custom decoder to call, or a process to wait for.
  let own: DecoderRegistry?

  init(_ configuration: PipelineConfiguration) {
    (decoders, delegate) = (configuration.decoders, configuration.delegate)
    let isOwn = delegate == nil && !decoders.hasForeignDecoders && !decoders.hasRemoteDecoders
    own = isOwn ? decoders : nil
  }

  /// Returns the decoders for some bytes.
  func decoders(for request: ImageRequest, of data: Data) -> DecoderRegistry {
    guard let delegate else { return decoders }
    return delegate.decoders(for: request, firstBytes: Data(data.prefix(Self.firstByteCount))) ?? decoders
  }

  /// Returns the decoders for an arriving body; `nil` until enough bytes have arrived.
  func decoders(for request: ImageRequest, arriving body: Data) -> DecoderRegistry? {
    delegate != nil && body.count < Self.firstByteCount ? nil : decoders(for: request, of: body)
  }

  /// Returns whether a large file may be lent to a process that decodes it; a delegate chooses decoders by the file's bytes.
  func lends(_ file: LargeFile) -> Bool { delegate == nil && decoders.lends(file) }

  /// Returns whether the bytes have the header of an image, or `nil` if their decoder gave no answer; pixels are not
  /// decoded.
  func isImage(_ data: Data, _ request: ImageRequest) -> Bool? {
    do throws(ImageError) {
      _ = try decoders(for: request, of: data).info(of: data)
      return true
    } catch {
      return error.isOfBytes ? false : nil
    }
  }

  /// Returns `true` if both headers have the same size and number of frames, or if neither belongs to an image.
  func isSamePicture(_ data: Data, as original: Data, _ request: ImageRequest) -> Bool {
    let kept = try? decoders(for: request, of: data).info(of: data)
    let known = try? decoders(for: request, of: original).info(of: original)
    return kept?.width == known?.width && kept?.height == known?.height && kept?.frameCount == known?.frameCount
  }
}
