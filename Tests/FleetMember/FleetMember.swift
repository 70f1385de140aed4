import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRedis
import VitrineRuntime
import VitrineTiers

/// One of several pipelines that share a server: asks for many images at once, and prints how many it got.
///
/// ```
/// fleet-member REDIS-URL IMAGE-URL-PREFIX COUNT data|encoded
/// ```
/// It prints `ready`, waits for a line of input, and begins. An image of URL `PREFIX` + number has its number as the
/// width, so that a wrong one is noticed.
@main
struct FleetMember {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst().map { $0 }
    guard arguments.count == 4, let count = Int(arguments[2]) else { exit(64) }
    // A test's machine is busy, and what is asked here is an exact count.
    var options = RedisCache.Options()
    (options.queueLimit, options.connectTimeout, options.commandTimeout) = (100_000, .seconds(600), .seconds(600))
    let redis = RedisCache(try RedisServer(arguments[0]), options: options)
    var limits = TieredDataCache.RemoteLimits()
    (limits.headDeadline, limits.bodyDeadline, limits.writeDeadline) = (.seconds(600), .seconds(600), .seconds(600))
    // A thousand at once wait for one another, on a busy machine too.
    (limits.headPatience, limits.bodyPatience) = (.seconds(600) ... .seconds(600), .seconds(600) ... .seconds(600))
    (limits.queuedEntries, limits.queuedBytes) = (100_000, 1 << 30)
    let cache = TieredDataCache([.remote(redis, limits: limits)])
    let pipeline = ImagePipeline(.ephemeral) {
      $0.memoryCache = nil
      $0.diskCache = cache
      $0.coordination = WorkCoordination(cache)
      $0.coordination?.maxWait = .seconds(6000)
      $0.coordination?.leaseTime = .seconds(600)
      $0.maxResponseBytes = 1 << 20
    }
    let ready = Array("ready\n".utf8)
    // The array outlives the call, and `print` may keep the line.
    _ = unsafe ready.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
    guard readLine() != nil else { exit(1) }
    let isEncoding = arguments[3] == "encoded"
    let right = await withTaskGroup(of: Bool.self) { group in
      for number in 1...count {
        group.addTask {
          let url = arguments[1] + "\(number)"
          do {
            if isEncoding {
              let request = ImageRequest(url: url, size: .pixels(4000, 4000, .fit))
              return try await pipeline.encoded(for: request, as: .png()).width == number
            }
            return try await pipeline.data(for: ImageRequest(url: url)).count == number + 100
          } catch {
            print("\(url): \(error)")
            return false
          }
        }
      }
      var right = 0
      for await isRight in group where isRight { right += 1 }
      return right
    }
    await pipeline.cache.flush()
    print("\(right)")
    for tier in cache.tierStatistics { print(tier) }
  }
}
