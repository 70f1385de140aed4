import VitrineCaching
public import VitrineImaging
import VitrineRuntime

/// All caches of a pipeline as one: every tier, and every size and variant of an image.
///
/// ```swift
/// pipeline.cache[request] = bitmap
/// await pipeline.cache.store(bitmap, for: request, expiration: .after(.seconds(12 * 3600)))  // on disk, too
/// if await pipeline.cache.contains(url, in: .disk) { … }
/// await pipeline.cache.remove(url)
/// ```
/// It does not consult ``ImageRequest/cacheAccess``.
public struct PipelineCache: Sendable {
  /// A set of caches.
  public struct Tier: OptionSet, Sendable, Hashable {
    /// The bits of the tiers.
    public let rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Decoded images in memory.
    public static let memory = Tier(rawValue: 1)
    /// Encoded bytes on disk.
    public static let disk = Tier(rawValue: 2)
    /// Both tiers.
    public static let all: Tier = [.memory, .disk]
  }

  let context: LoadContext

  init(_ context: LoadContext) { self.context = context }

  var memory: MemoryCache<CachedImage>? { context.memoryCache }
  var disk: (any DataCaching)? { context.diskCache }
  var pending: PendingWrites { context.cacheWriter.pending }
  var delegate: (any PipelineDelegate)? { context.delegate }
  private var failures: RecentFailures { context.network.failures }

  /// The image of exactly this request in memory: its source, size and processors.
  ///
  /// Getting an image counts as use. It is returned even if it is stale; `ImagePipeline.cachedImage(for:)` tells the
  /// two apart. An image that is set never expires. It stays until it is evicted or removed. Setting `nil` removes this
  /// one variant. A request with several sources has one entry for all of them. Does not block.
  /// ``store(_:for:in:expiration:)-(Bitmap,ImageRequest,_,_)`` also writes to disk.
  public subscript(request: ImageRequest) -> Bitmap? {
    get { memory?.value(for: context.prepared(request).keys.image)?.image }
    nonmutating set {
      let request = context.prepared(request)
      guard let newValue else {
        memory?.remove(request.keys.image)
        return
      }
      memory?.store(
        CachedImage(ImageContainer(newValue)),
        for: request.keys.image,
        cost: newValue.byteCount,
        group: request.keys.fetch,
      )
    }
  }

  /// The image of a URL in memory, at its full size and without processors; see ``subscript(_:)-(ImageRequest)``.
  public subscript(url: some URLConvertible) -> Bitmap? {
    get { self[ImageRequest(url.imageSource)] }
    nonmutating set { self[ImageRequest(url.imageSource)] = newValue }
  }

  /// Returns a Boolean value that indicates whether this image is in memory, or it or its original on disk, even stale.
  ///
  /// Does not count as use.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - tiers: The caches to look in. Defaults to all.
  /// - Returns: `true` if any of them has it.
  public func contains(_ request: ImageRequest, in tiers: Tier = .all) async -> Bool {
    let request = context.prepared(request)
    if tiers.contains(.memory), let memory, memory.contains(request.keys.image) { return true }
    for alternative in request.alternatives ?? [] where await contains(alternative, in: tiers) { return true }
    guard tiers.contains(.disk), let disk else { return false }
    let keys = [request.keys.fetch, request.keys.image]
    for key in keys { await pending.finished(for: key) }
    for key in keys where await disk.contains(key) { return true }
    return false
  }

  /// Returns a Boolean value that indicates whether the image at a URL is cached; see
  /// ``contains(_:in:)-(ImageRequest,_)``.
  public func contains(_ url: some URLConvertible, in tiers: Tier = .all) async -> Bool {
    await contains(ImageRequest(url.imageSource), in: tiers)
  }

  /// Removes everything made from a request's source: all variants in memory, and the original, finished images and
  /// partial download on disk.
  ///
  /// If the request has several sources, everything made from any of them is removed. The source's recent failure is
  /// forgotten, too. The entries are gone when this method returns. If they are removed from disk, or the source is
  /// never on disk, such as a file, a running load still delivers its image to its callers, but its results are not
  /// stored, and later loads do not join it. A view that shows the image keeps it; see
  /// ``ImagePipeline/refresh(_:)-(ImageRequest)``.
  public func remove(_ request: ImageRequest, in tiers: Tier = .all) async {
    let request = context.prepared(request)
    for alternative in request.alternatives ?? [] { await remove(alternative, in: tiers) }
    let plain = request.keys.plain
    let keys = context.variations.keys(under: plain)
    let isLocal = request.keys.url == nil && !request.keys.hasAlternatives
    let isWhole = tiers.contains(.disk) || isLocal
    if isWhole { beginRemoval(of: request.keys, keys) }
    defer { if isWhole { endRemoval(of: request.keys, keys) } }
    for key in keys {
      failures.forget(key)
      if tiers.contains(.memory) { memory?.updateVariants(of: key) { _ in nil } }
    }
    if let partials = context.partials, tiers.contains(partials.tier) {
      await pending.finished()
      for key in keys { await partials.remove(key) }
    }
    guard tiers.contains(.disk), let disk else { return }
    await pending.finished()
    // After these calls, a shared tier refuses older entries, so that a late write does not bring the original back.
    await disk.removeAll(extending: RequestKeys.images(of: plain))
    await disk.removeAll(extending: plain.variants)
    await disk.remove(plain)
    // A load from now on does not wait for one from before, wherever that runs.
    await context.configuration.coordinating?.revoke(extending: plain)
  }

  /// Detaches the running loads of a source, or of all for `nil`: no request joins them, and no cache stores their
  /// results.
  private func beginRemoval(of source: RequestKeys?, _ keys: [CacheKey]?) {
    context.sources.beginRemoval(of: keys)
    context.detachLoads(of: source)
  }

  private func endRemoval(of source: RequestKeys?, _ keys: [CacheKey]?) {
    context.sources.endRemoval(of: keys)
    context.detachLoads(of: source)
  }

  /// Removes everything made from the image at a URL; see ``remove(_:in:)-(ImageRequest,_)``.
  public func remove(_ url: some URLConvertible, in tiers: Tier = .all) async {
    await remove(ImageRequest(url.imageSource), in: tiers)
  }

  /// Removes everything, and forgets recent failures.
  ///
  /// Running loads are treated as in ``remove(_:in:)-(ImageRequest,_)``.
  public func removeAll(in tiers: Tier = .all) async {
    if tiers.contains(.disk) { beginRemoval(of: nil, nil) }
    failures.removeAll()
    if tiers.contains(.memory) {
      memory?.removeAll()
      context.partials?.memory?.removeAll()
    }
    guard tiers.contains(.disk) else { return }
    if let disk {
      await pending.finished()
      await disk.removeAll()
    }
    endRemoval(of: nil, nil)
  }

  /// Waits until everything loaded so far is stored durably.
  ///
  /// Call it before the program ends. A program that is killed loses at most the entries of its last moment.
  public func flush() async {
    await pending.finished()
    await disk?.flush()
  }
}

extension Partials {
  /// The cache tier to which the downloads belong.
  fileprivate var tier: PipelineCache.Tier { memory == nil ? .disk : .memory }
}
