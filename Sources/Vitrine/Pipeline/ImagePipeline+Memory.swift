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

extension MemoryCache<CachedImage> {
  /// Keeps an image, unless other bytes of its source have come since its own: what ends late takes nobody back.
  func keep(_ image: CachedImage, for key: CacheKey, of source: CacheKey) {
    let isOfServer = image.contentID != .none
    if isOfServer, isOutdated(image.contentID, image.validity, of: source) { return }
    set(image, for: key, cost: image.image.byteCount, group: source)
    // Again, now that it is there: whoever brings newer bytes from now on takes it away.
    guard isOfServer, isOutdated(image.contentID, image.validity, of: source) else { return }
    updateVariants(of: source) { $0.key == key && $0.value.contentID == image.contentID ? nil : $0.value }
  }

  /// Whether there are images of other bytes of the source that its server has named since.
  func isOutdated(_ contentID: ContentID, _ validity: Validity, of source: CacheKey) -> Bool {
    guard let confirmed = validity.confirmed else { return false }
    return variants(of: source).contains { other in
      other.value.contentID != contentID && other.value.validity.confirmed.map { $0 > confirmed } ?? false
    }
  }
}
