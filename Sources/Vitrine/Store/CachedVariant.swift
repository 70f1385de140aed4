import VitrineCaching
public import VitrineImaging
import VitrineRuntime

/// An image in memory that was made of the same source as the one that is asked for; see ``ImagePipeline/cachedVariant(for:)``.
public struct CachedVariant: Sendable {
  /// What was done to its pixels.
  public enum Processing: Int, Sendable, Hashable, CaseIterable {
    /// What the request asks for.
    case same
    /// Nothing, while the request asks for something.
    case none
    /// Something else than the request asks for.
    case other
  }

  /// The image and what is known of it.
  public let container: ImageContainer
  /// The pixels.
  public var image: Bitmap { container.bitmap }
  /// What was done to them.
  public let processing: Processing
  /// Whether it shows all of the source, or the part that is asked for, in its aspect.
  ///
  /// One that does not was cut out or stretched for another place.
  public let isSameView: Bool
  /// How many pixels it has for each that is asked for, along the side on which they are fewest.
  ///
  /// With 1 and more it is as sharp as the image itself.
  public let pixelRatio: Double
  /// Whether the time is over for which it may be served as it is.
  public let isStale: Bool

  /// Creates a variant, for fakes.
  ///
  /// - Parameters:
  ///   - container: The image and what is known of it.
  ///   - processing: The processing of its pixels. Defaults to that of the request.
  ///   - isSameView: A Boolean value that indicates whether it shows what the request shows. Defaults to `true`.
  ///   - pixelRatio: The number of its pixels for each that is wanted. Defaults to 1.
  ///   - isStale: A Boolean value that indicates whether it has expired. Defaults to `false`.
  public init(
    _ container: ImageContainer,
    processing: Processing = .same,
    isSameView: Bool = true,
    pixelRatio: Double = 1,
    isStale: Bool = false,
  ) {
    (self.container, self.processing, self.isSameView) = (container, processing, isSameView)
    (self.pixelRatio, self.isStale) = (pixelRatio, isStale)
  }

  /// The better one comes first.
  var rank: (Int, Int, Int, Double) {
    let isSharp = pixelRatio >= 0.99
    // Of those that are large enough the smallest, else the largest.
    return (processing.rawValue, isSameView ? 0 : 1, isSharp ? 0 : 1, isSharp ? pixelRatio : -pixelRatio)
  }
}

extension ImagePipeline {
  /// Returns the image in memory that is most like the one that is asked for, to be shown until that is there.
  ///
  /// It is never the image itself in place of another: of the same source, on behalf of the same user, of the same frame and in
  /// the same colours, but of any size, processed or not, stale or not. Whoever must not see an image without its processors (one that hides
  /// something) looks at ``CachedVariant/processing``. Preferred is one that is processed in the same way, then one that is
  /// not processed; then one that shows the same view; then the one that has pixels enough and least too many, or the largest.
  /// What is in memory for exactly this request is among them. Does not count as use, does not wait. Complexity: O(k) for k
  /// variants in memory.
  ///
  /// - Parameter request: What is asked for; with the policy `.reload` there is none, nor without
  ///   ``CacheAccess/memoryReads``.
  /// - Returns: The image, and how good it is.
  public func cachedVariant(for request: ImageRequest) -> CachedVariant? {
    let request = request.prepared(by: context.delegate)
    if let alternatives = request.alternatives { return alternatives.lazy.compactMap(cachedVariant).first }
    guard request.cachePolicy != .reload, let memory = context.memory(for: request, .memoryReads) else { return nil }
    let keys = request.keys
    let wanted = request.processors.map { CacheKey.Part.text($0.identifier) }
    let now = context.clock.now
    return memory.variants(of: keys.fetch).lazy
      .compactMap { variant -> CachedVariant? in
        guard let processors = keys.processors(ofVariant: variant.key),
          variant.value.validity.answers(self.context.fields(of: request))
        else { return nil }
        return CachedVariant(
          variant.value,
          for: request.size,
          processors == wanted ? .same : processors.isEmpty ? .none : .other,
          isStale: !variant.value.validity.isFresh(at: now, request.cachePolicy),
        )
      }
      .min { $0.rank < $1.rank }
  }
}

extension CachedVariant {
  fileprivate init?(_ cached: CachedImage, for size: TargetSize?, _ processing: Processing, isStale: Bool) {
    let (image, info) = (cached.image, cached.loaded.info)
    guard let plan = try? SamplingPlan(size, width: info.width, height: info.height) else { return nil }
    let (width, height) = (Double(image.width), Double(image.height))
    // To a pixel, since sides are rounded.
    func hasAspect(of otherWidth: Double, _ otherHeight: Double) -> Bool {
      abs(width * otherHeight - height * otherWidth) <= max(otherWidth, otherHeight)
    }
    let isWhole = hasAspect(of: Double(info.width), Double(info.height))
    let scales = plan.scales
    let ratio =
      isWhole
      ? min(width / (Double(info.width) * scales.x), height / (Double(info.height) * scales.y))
      : min(width / Double(plan.width), height / Double(plan.height))
    self.init(
      cached.container,
      processing: processing,
      isSameView: isWhole || hasAspect(of: Double(plan.width), Double(plan.height)),
      pixelRatio: ratio,
      isStale: isStale,
    )
  }
}
