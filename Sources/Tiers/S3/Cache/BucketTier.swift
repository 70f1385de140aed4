public import VitrineCaching
import VitrineRuntime
public import VitrineTiers

extension TieredDataCache.Tier {
  /// Creates a tier in a bucket, with fitting limits.
  ///
  /// ```swift
  /// let cache = TieredDataCache([.local(disk), .bucket(try S3DataCache(client, bucket: "thumbnails"))])
  /// ```
  /// - Parameters:
  ///   - cache: The cache, an ``S3DataCache`` or a cache in front of one.
  ///   - name: The name of the tier. Defaults to `s3`.
  ///   - limits: The limits of time and of memory. Defaults to `.bucket`.
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
  /// The limits of a tier in a bucket, where a request takes tens of milliseconds, and occasionally hundreds.
  ///
  /// The deadlines are half a second for heads, 2 seconds for an entry and 30 seconds for a write, with all attempts.
  /// Callers wait 10 to 200 milliseconds for heads and 25 to 1,000 for an entry, depending on the bucket's pace. The
  /// other limits have their defaults.
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
