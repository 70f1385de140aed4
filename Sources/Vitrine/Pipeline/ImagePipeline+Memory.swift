import VitrineCaching
import VitrineImaging

/// What in memory serves a request.
extension ImagePipeline {
  /// The smallest image in memory that has all that is asked for.
  func largerVariant(of request: ImageRequest, _ options: DecodeOptions) -> LargerVariant? {
    guard request.policy != .reload, let memory = context.memory(for: request, .memoryReads) else { return nil }
    let now = context.clock.now
    return memory.variants(of: request.keys.fetch).lazy.map(\.value)
      .filter { $0.isFresh(at: now, request.policy) && $0.validity.answers(self.context.fields(of: request)) }
      .compactMap { LargerVariant($0, for: options) }
      .min { $0.image.image.byteCount < $1.image.image.byteCount }
  }

  /// What decoding is asked for.
  func decodeOptions(of request: ImageRequest) -> DecodeOptions {
    var options = DecodeOptions(size: request.size)
    options.quality = request.quality
    (options.frame, options.filter) = (request.frame, request.filter)
    (options.linearLight, options.colorSpace) = (request.linearLight, request.colorSpace)
    options.limits = configuration.limits
    return options
  }
}
