import VitrineCaching
public import VitrineImaging
import VitrineRuntime

/// The caches of a pipeline as one: every tier, every size and variant of an image.
///
/// ```swift
/// pipeline.cache[request] = bitmap
/// if await pipeline.cache.contains(url, in: .disk) { … }
/// await pipeline.cache.remove(url)
/// ```
/// What it is asked it does, whatever a request's ``ImageRequest/caches`` say.
public struct PipelineCache: Sendable {
  /// Where something can be cached.
  public struct Tier: OptionSet, Sendable, Hashable {
    /// The bit of each tier.
    public let rawValue: Int

    /// Makes a set of the bits of its tiers.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Decoded images in memory.
    public static let memory = Tier(rawValue: 1)
    /// Encoded bytes on disk.
    public static let disk = Tier(rawValue: 2)
    /// Both.
    public static let all: Tier = [.memory, .disk]
  }

  private let context: JobContext

  init(_ context: JobContext) { self.context = context }

  var memory: MemoryCache<CachedImage>? { context.memoryCache }
  private var disk: (any DataCaching)? { context.diskCache }
  private var pending: PendingWrites { context.settlement.pending }
  private var delegate: (any PipelineDelegate)? { context.delegate }
  private var failures: RecentFailures? { context.network.failures }

  /// The image of exactly this request in memory: its source, size and processors.
  ///
  /// Getting one counts as use and returns it whether or not its time is over; `ImagePipeline.cachedImage(for:)` says
  /// which. One that is set is served for ever, until it is evicted or removed; it is not written to disk. Setting `nil`
  /// removes this one variant. What is set for a request of several sources stands for all of them. Does not block.
  public subscript(request: ImageRequest) -> Bitmap? {
    get { memory?.value(for: request.prepared(by: delegate).keys.image)?.image }
    nonmutating set {
      let request = request.prepared(by: delegate)
      guard let newValue else {
        memory?.remove(request.keys.image)
        return
      }
      memory?.set(
        CachedImage(ImageContainer(newValue)),
        for: request.keys.image,
        cost: newValue.byteCount,
        group: request.keys.fetch,
      )
    }
  }

  /// Returns whether the image of exactly this request is in memory, or it or its source's bytes are on disk, fresh
  /// or not.
  ///
  /// Does not count as use.
  ///
  /// - Parameters:
  ///   - request: What would be asked for.
  ///   - tiers: Where to look; everywhere by default.
  /// - Returns: Whether one of them has it.
  public func contains(_ request: ImageRequest, in tiers: Tier = .all) async -> Bool {
    let request = request.prepared(by: delegate)
    if tiers.contains(.memory), let memory, memory.contains(request.keys.image) { return true }
    for alternative in request.alternatives ?? [] where await contains(alternative, in: tiers) { return true }
    guard tiers.contains(.disk), let disk else { return false }
    let keys = [request.keys.fetch, request.keys.image]
    for key in keys { await pending.finished(for: key) }
    for key in keys where await disk.contains(key) { return true }
    return false
  }

  /// Returns whether the image of an address is cached; see ``contains(_:in:)-(ImageRequest,_)``.
  public func contains(_ url: URL, in tiers: Tier = .all) async -> Bool {
    await contains(ImageRequest(url: url), in: tiers)
  }

  /// Removes everything that was made of a request's source: every size and variant in memory, the bytes on disk, and the
  /// beginning of a download that broke off.
  ///
  /// Of several sources, everything that was made of any of them. What is being loaded at this moment is stored when it
  /// comes. That it could not be loaded lately is forgotten, too. When this returns it is gone.
  public func remove(_ request: ImageRequest, in tiers: Tier = .all) async {
    let request = request.prepared(by: delegate)
    for alternative in request.alternatives ?? [] { await remove(alternative, in: tiers) }
    failures?.forget(request.keys.fetch)
    if tiers.contains(.memory) { memory?.updateVariants(of: request.keys.fetch) { _ in nil } }
    guard tiers.contains(.disk), let disk else { return }
    await pending.finished()
    await disk.remove(request.keys.fetch)
    await context.partials?.disk.removePartial(for: request.keys.fetch)
    await disk.removeAll(extending: request.keys.images)
  }

  /// Removes everything that was made of an address; see ``remove(_:in:)-(ImageRequest,_)``.
  public func remove(_ url: URL, in tiers: Tier = .all) async {
    await remove(ImageRequest(url: url), in: tiers)
  }

  /// Removes everything, and forgets what could not be loaded lately.
  public func removeAll(in tiers: Tier = .all) async {
    failures?.removeAll()
    if tiers.contains(.memory) { memory?.removeAll() }
    guard tiers.contains(.disk), let disk else { return }
    await pending.finished()
    await disk.removeAll()
  }

  /// Waits until everything loaded so far is where it outlives the process.
  ///
  /// A program that ends by itself calls it before; one that is killed loses at most the last moment's entries.
  public func flush() async {
    await pending.finished()
    await disk?.flush()
  }
}
