import Vitrine
import VitrineCaching
import VitrineRuntime
import VitrineTiers

#if !VITRINE_APPLE
import VitrineRedis
import VitrineS3
#endif

/// The caches that machines share, from the options or the environment.
struct SharedTiers {
  #if !VITRINE_APPLE
  static let options: [Option] = [.shared, .durable]
  /// The variables that stand in for the options.
  static let variables = ["VITRINE_SHARED", "VITRINE_DURABLE"]
  #else
  static let options: [Option] = []
  static let variables: [String] = []
  #endif

  /// A tier, and the option or the variable that names it.
  private struct Named {
    let tier: TieredDataCache.Tier
    let source: String
  }

  /// In the order of look-up: the nearer ones first.
  private var tiers: [Named] = []
  /// True if one of them keeps leases, so that machines share work.
  private(set) var coordinates = false

  /// Reads the options; `isOff` if the command line turns caches off.
  init(_ arguments: Arguments, isOff: Bool) throws(UsageError) {
    #if !VITRINE_APPLE
    if let (url, source) = try Self.value(.shared, Self.variables[0], arguments, isOff: isOff) {
      tiers.append(Named(tier: try Self.redis(url, source), source: source))
      coordinates = true
    }
    if let (url, source) = try Self.value(.durable, Self.variables[1], arguments, isOff: isOff) {
      tiers.append(Named(tier: try Self.bucket(url, source), source: source))
    }
    #endif
  }

  #if !VITRINE_APPLE
  /// Returns the value of an option, or else of a variable, and which of the two it is; `nil` for none.
  private static func value(
    _ option: Option,
    _ variable: String,
    _ arguments: Arguments,
    isOff: Bool,
  ) throws(UsageError) -> (value: String, source: String)? {
    if let given = try arguments.text(option) {
      guard !isOff else { throw UsageError("\(option.name) and --no-cache exclude each other") }
      // An empty one turns the variable off.
      return given.isEmpty ? nil : (given, option.name)
    }
    guard !isOff, let given = ProcessInfo.processInfo.environment[variable], !given.isEmpty else { return nil }
    return (given, variable)
  }

  private static func redis(_ url: String, _ source: String) throws(UsageError) -> TieredDataCache.Tier {
    do throws(RedisError) {
      return .remote(RedisCache(try RedisServer(url)), name: "redis")
    } catch {
      throw UsageError("\(source): \(error.detail)")
    }
  }

  private static func bucket(_ url: String, _ source: String) throws(UsageError) -> TieredDataCache.Tier {
    do throws(S3Error) {
      let place = try BucketPlace(url)
      let client = try S3Client(S3Configuration(environment: ProcessInfo.processInfo.environment))
      return .bucket(try S3DataCache(client, bucket: place.bucket, prefix: place.prefix))
    } catch {
      throw UsageError("\(source): \(error.detail)")
    }
  }
  #endif

  /// Returns the cache of all tiers; `nil` if there is none.
  func cache(behind disk: DiskCache?) -> (any DataCaching)? {
    guard !tiers.isEmpty else { return disk }
    return TieredDataCache((disk.map { [.local($0, name: "disk")] } ?? []) + tiers.map(\.tier))
  }

  /// Returns a sentence for each tier in which a cache could not store everything, when it is flushed.
  func troubles(of cache: (any DataCaching)?) -> [String] {
    guard let cache = cache as? TieredDataCache else { return [] }
    return zip(tiers, cache.tierStatistics.filter(\.isRemote)).compactMap { named, tier in
      let count = tier.droppedWrites + tier.queuedWrites
      guard count > 0 else { return nil }
      let reason = tier.lastFailure.map { ": \($0)" } ?? ""
      return "\(named.source): \(count) \(count == 1 ? "entry was" : "entries were") not stored\(reason)"
    }
  }
}
