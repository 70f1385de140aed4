import VitrineCaching
public import VitrineImaging
import VitrineRuntime

/// An image in memory of the same source as a requested one; see ``ImagePipeline/cachedVariant(for:)``.
public struct CachedVariant: Sendable {
  /// The processing of a variant, compared with the request.
  public enum Processing: Comparable, Sendable, Hashable, CaseIterable {
    /// The request's processing.
    case same
    /// No processing, although the request has some.
    case none
    /// Other processing than the request's.
    case other
  }

  /// The image and its metadata.
  package let container: ImageContainer
  /// The pixels.
  public var image: Bitmap { container.bitmap }
  /// The processing of the pixels.
  public let processing: Processing
  /// A Boolean value that indicates whether the variant shows all of the source, or the requested part, undistorted.
  ///
  /// If `false`, it was cropped or stretched for another purpose.
  package let isSameView: Bool
  /// The number of pixels for each requested pixel, along the side with fewer.
  ///
  /// From 1 on, the variant is as sharp as the image itself.
  public let pixelRatio: Double
  /// A Boolean value that indicates whether the variant is stale.
  public let isStale: Bool

  /// Creates a variant, for fakes.
  ///
  /// - Parameters:
  ///   - container: The image and its metadata.
  ///   - processing: The processing of the pixels. Defaults to the request's processing.
  ///   - isSameView: A Boolean value that indicates whether the variant shows the same view as the request. Defaults to
  ///     `true`.
  ///   - pixelRatio: The number of pixels for each requested pixel. Defaults to 1.
  ///   - isStale: A Boolean value that indicates whether it has expired. Defaults to `false`.
  package init(
    _ container: ImageContainer,
    processing: Processing = .same,
    isSameView: Bool = true,
    pixelRatio: Double = 1,
    isStale: Bool = false,
  ) {
    (self.container, self.processing, self.isSameView) = (container, processing, isSameView)
    (self.pixelRatio, self.isStale) = (pixelRatio, isStale)
  }

  /// The rank of a variant; lower is better.
  var rank: (Processing, Int, Int, Double) {
    let isSharp = pixelRatio >= 0.99
    // The smallest variant that is large enough is best, else the largest.
    return (processing, isSameView ? 0 : 1, isSharp ? 0 : 1, isSharp ? pixelRatio : -pixelRatio)
  }
}

extension ImagePipeline {
  /// Returns the image in memory that is closest to a requested one, as a placeholder for it.
  ///
  /// A variant has the request's source, user, frame and colours, but any size and processing, and may be stale. If the
  /// processors hide something, check ``CachedVariant/processing`` before you show it. Equal processing is preferred,
  /// then none; then the same view; then the smallest variant with enough pixels, or else the largest. The requested
  /// image itself counts, too. Does not count as use and does not block. Complexity: O(k) for k variants in memory.
  ///
  /// - Parameter request: The request; with the policy `.reload` or without ``CacheAccess/memoryReads`` it has no
  ///   variants.
  /// - Returns: The closest variant; `nil` for none.
  public func cachedVariant(for request: ImageRequest) -> CachedVariant? {
    let request = context.prepared(request)
    if let alternatives = request.alternatives { return alternatives.lazy.compactMap(cachedVariant).first }
    guard request.cachePolicy != .reload, let memory = context.memory(for: request, .memoryReads) else { return nil }
    let keys = request.keys
    let wanted = request.fields.processorNames.map { CacheKey.Part.text($0) }
    let now = context.clock.now
    return memory.variants(of: keys.fetch).lazy
      .compactMap { variant -> CachedVariant? in
        guard request.acceptsPartial || variant.value.container.damage == nil,
          let processors = keys.processors(ofVariant: variant.key),
          variant.value.validity.answers(self.context.fields(of: request))
        else { return nil }
        return CachedVariant(
          variant.value,
          for: request.size,
          processors == wanted ? .same : processors.isEmpty ? .none : .other,
          isStale: !variant.value.validity.isFresh(at: now, request),
        )
      }
      .min { $0.rank < $1.rank }
  }
}

extension CachedVariant {
  fileprivate init?(_ cached: CachedImage, for size: TargetSize?, _ processing: Processing, isStale: Bool) {
    let (image, info) = (cached.image, cached.loaded.info)
    var size = size
    // The source of a thumbnail may have any number of pixels.
    if cached.loaded.isThumbnail { size?.enlarges = true }
    guard let plan = try? SamplingPlan(size, width: info.width, height: info.height) else { return nil }
    let (width, height) = (Double(image.width), Double(image.height))
    // The comparison allows one pixel, since sides are rounded.
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
      pixelRatio: cached.loaded.isThumbnail && size == nil ? 0 : ratio,
      isStale: isStale,
    )
  }
}
