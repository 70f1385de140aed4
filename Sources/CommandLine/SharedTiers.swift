import Vitrine
import VitrineCaching
import VitrineRuntime

#if TIERS
import VitrineRedis
#endif

/// The caches that machines share, from the options or the environment.
struct SharedTiers {
  #if TIERS
  static let options: [Option] = [.shared]
  #else
  static let options: [Option] = []
  #endif

  private let tiers: [TieredDataCache.Tier]

  /// Reads the options; `isOff` if the command line turns caches off.
  init(_ arguments: Arguments, isOff: Bool) throws(UsageError) {
    #if TIERS
    let given = try arguments.text(.shared)
    guard given == nil || !isOff else { throw UsageError("--shared and --no-cache exclude each other") }
    let url = given ?? (isOff ? nil : ProcessInfo.processInfo.environment["VITRINE_SHARED"])
    guard let url, !url.isEmpty else {
      tiers = []
      return
    }
    do throws(RedisError) {
      tiers = [.remote(RedisCache(try RedisServer(url)), name: "redis")]
    } catch {
      throw UsageError("\(given == nil ? "VITRINE_SHARED" : "--shared"): \(error.detail)")
    }
    #else
    tiers = []
    #endif
  }

  /// Returns the cache of all tiers; `nil` if there is none.
  func cache(behind disk: DiskCache?) -> (any DataCaching)? {
    guard !tiers.isEmpty else { return disk }
    return TieredDataCache((disk.map { [.local($0, name: "disk")] } ?? []) + tiers)
  }
}
