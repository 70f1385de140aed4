public import VitrineCaching
import VitrineRuntime
public import VitrineTiers

extension TieredDataCache.Tier {
  /// Creates a tier in a bucket, with limits that fit one.
  ///
  /// ```swift
  /// let cache = TieredDataCache([.local(disk), .bucket(try S3DataCache(client, bucket: "thumbnails"))])
  /// ```
  /// - Parameters:
  ///   - cache: The cache, an ``S3DataCache`` or one in front of it.
  ///   - name: The name of the tier. Defaults to `s3`.
  ///   - limits: The limits of time and of memory. Defaults to those of a bucket.
  /// - Returns: The tier.
  public static func bucket(
    _ cache: any DataCaching,
    name: String = "s3",
    limits: TieredDataCache.RemoteLimits = .bucket,
  ) -> TieredDataCache.Tier {
    .remote(cache, name: name, limits: limits)
  }
}

extension TieredDataCache.RemoteLimits {
  /// Limits that fit a bucket, of which a request takes tens of milliseconds, and hundreds at times.
  ///
  /// Half a second for heads, 2 seconds for an entry and 30 seconds for a write, with all attempts. Callers wait 10 to 200
  /// milliseconds for heads and 25 to 1,000 for an entry, by the bucket's own pace. Everything else is as for any remote
  /// tier.
  public static var bucket: TieredDataCache.RemoteLimits {
    var limits = TieredDataCache.RemoteLimits()
    limits.headDeadline = .milliseconds(500)
    limits.bodyDeadline = .seconds(2)
    limits.writeDeadline = .seconds(30)
    limits.headPatience = .milliseconds(10) ... .milliseconds(200)
    limits.bodyPatience = .milliseconds(25) ... .seconds(1)
    return limits
  }
}
