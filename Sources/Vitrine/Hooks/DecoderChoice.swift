import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// What decodes, as a pipeline's delegate may have chosen it; to be asked on threads that may take their time.
struct DecoderChoice: Sendable {
  static let firstByteCount = 4096

  private let decoders: DecoderRegistry
  private let delegate: (any PipelineDelegate)?

  init(_ configuration: ImagePipeline.Configuration) {
    (decoders, delegate) = (configuration.decoders, configuration.delegate)
  }

  /// The pipeline's own, where nothing of a user's has to be asked: neither a delegate nor a decoder.
  var own: DecoderRegistry? { delegate == nil && !decoders.hasForeignDecoders ? decoders : nil }

  /// What decodes these bytes.
  func decoders(for request: ImageRequest, of data: Data) -> DecoderRegistry {
    guard let delegate else { return decoders }
    return delegate.decoders(for: request, firstBytes: Data(data.prefix(Self.firstByteCount))) ?? decoders
  }

  /// What decodes a body that is still on its way; `nil` until enough of it is there to say.
  func decoders(for request: ImageRequest, arriving body: Data) -> DecoderRegistry? {
    delegate != nil && body.count < Self.firstByteCount ? nil : decoders(for: request, of: body)
  }

  /// Whether bytes begin as an image does; their pixels are not looked at.
  func isImage(_ data: Data, _ request: ImageRequest) -> Bool {
    (try? decoders(for: request, of: data).info(of: data)) != nil
  }

  /// Whether both headers promise the same, or neither is one of an image.
  func isSamePicture(_ data: Data, as original: Data, _ request: ImageRequest) -> Bool {
    let kept = try? decoders(for: request, of: data).info(of: data)
    let known = try? decoders(for: request, of: original).info(of: original)
    return kept?.width == known?.width && kept?.height == known?.height && kept?.frameCount == known?.frameCount
  }
}

extension ImageRequest {
  /// The request as a delegate would have it, with its keys made; the one place where the delegate is asked.
  ///
  /// Whatever looks for or loads something by a request begins with this, so that all have the same keys, and so that the
  /// closures that keys may need are called here and under no lock.
  func prepared(by delegate: (any PipelineDelegate)?) -> ImageRequest {
    let request = rewritten(by: delegate)
    _ = request.keys
    for alternative in request.alternatives ?? [] { _ = alternative.keys }
    return request
  }

  private func rewritten(by delegate: (any PipelineDelegate)?) -> ImageRequest {
    guard let delegate, !isPrepared else { return self }
    guard let alternatives else {
      var rewritten = delegate.willLoad(self)
      // As it was, it has its keys already.
      guard !rewritten.isCopy(of: self) else { return self }
      rewritten.isPrepared = true
      return rewritten
    }
    let rewritten = alternatives.map { $0.rewritten(by: delegate) }
    guard !zip(rewritten, alternatives).allSatisfy({ $0.isCopy(of: $1) }) else { return self }
    var request = self
    request.isPrepared = true
    request.setAlternatives(rewritten)
    return request
  }
}
