public import VitrineCaching

/// The settings for sharing work with pipelines on other machines, so that one of them does what all want.
///
/// ```swift
/// let cache = TieredDataCache([.local(disk, name: "disk"), .remote(redis, name: "redis")])
/// let pipeline = ImagePipeline {
///   $0.diskCache = cache
///   $0.coordination = WorkCoordination(cache)
/// }
/// ```
/// Before a pipeline asks a server, and before it makes an encoded image, it acquires a lease. If another machine holds
/// the lease, it looks in the cache now and then, and takes what it finds there. After ``maxWait`` it does the work
/// itself. A holder that dies costs the others at most ``leaseTime``.
///
/// Requests of policy `.reload`, and those that may not use the cache, are not coordinated.
public struct WorkCoordination: Sendable {
  /// The keeper of the leases.
  public var leases: any KeyLeasing
  /// The time after which a lease ends by itself, unless its holder is still at work and extends it.
  ///
  /// Defaults to 5 seconds.
  public var leaseTime = Duration.seconds(5)
  /// The maximum time to wait for another machine.
  ///
  /// Defaults to 10 seconds.
  public var maxWait = Duration.seconds(10)
  /// The times between two looks, from the first to the last, which are shortened at random by up to a half.
  ///
  /// Defaults to 10 to 200 milliseconds.
  public var pauses: ClosedRange<Duration> = .milliseconds(10) ... .milliseconds(200)
  /// The time for which nobody waits for work whose result could not be shared.
  ///
  /// Defaults to 1 second.
  public var vainTime = Duration.seconds(1)

  /// Creates the default settings.
  ///
  /// - Parameter leases: The keeper of the leases, such as a `TieredDataCache` with a remote tier that keeps them.
  public init(_ leases: any KeyLeasing) { self.leases = leases }
}
