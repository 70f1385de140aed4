import VitrineCaching
public import VitrineRuntime
public import VitrineTiers

/// A cache on a Redis or Valkey server, which several machines share.
///
/// ```swift
/// let redis = RedisCache(try RedisServer("redis://cache.internal:6379"))
/// let cache = TieredDataCache([.local(disk, name: "disk"), .remote(redis, name: "redis")])
/// let pipeline = ImagePipeline { $0.diskCache = cache }
/// ```
/// Use it as a remote tier of a `TieredDataCache`, which adds a deadline, a circuit breaker and a queue of writes.
///
/// **Stored values.** An entry is two values: a head (expiry, identity, metadata, checksums) and a body, so that a head
/// is read without its body. A third, the index of a source, has the keys of all its variants. They live for as long as
/// the entry is fresh, and ``Options/staleLifetime`` longer, for revalidation. Entries that are useful to one machine
/// only (`CachedData.isMachineLocal`), such as raw pixels, are refused.
///
/// **Served entries.** An entry is served if its head, key, length and body match their checksums, and it is in its
/// index. Any other entry is a miss, and damaged ones are removed. So a server that evicts single values never leaves a
/// partial entry, and a removal of variants misses none.
///
/// **Removing everything** begins a new epoch, with one `INCR`. Values of earlier epochs are evicted or expire.
///
/// The server needs no module and no configuration, but should have a limit of memory and a policy: `maxmemory` and
/// `maxmemory-policy allkeys-lru`. It works with scripts and transactions over several keys, so a Redis Cluster is not
/// supported.
///
/// It never blocks Swift's cooperative threads. Requests of several tasks share a connection's round trip.
public final class RedisCache: FallibleDataCaching {
  /// The settings of a cache.
  public struct Options: Sendable, Hashable {
    /// The prefix of all names on the server.
    ///
    /// Defaults to `vitrine`. Caches of one namespace share their entries.
    public var namespace = "vitrine"
    /// The maximum number of connections for look-ups, and again for changes, each with a thread.
    ///
    /// Defaults to 4. A look-up has a waiting caller, so it never waits for the reply to a change.
    public var connections = 4
    /// The maximum number of requests that wait for a connection.
    ///
    /// Defaults to 4,096. Further ones are refused.
    public var queueLimit = 4096
    /// The maximum time to connect, and to send user, password and database.
    ///
    /// Defaults to half a second. Resolving a name may take longer.
    public var connectTimeout = Duration.milliseconds(500)
    /// The maximum time for a request, from its beginning to the last reply.
    ///
    /// Defaults to 1 second.
    public var commandTimeout = Duration.seconds(1)
    /// The maximum size of a body, in bytes.
    ///
    /// Defaults to 16 MB. Larger ones are refused.
    public var entrySizeLimit = 16 << 20
    /// The time for which an entry is kept after it has expired.
    ///
    /// Defaults to a day.
    public var staleLifetime = Duration.seconds(86_400)
    /// The maximum time for which an entry is kept.
    ///
    /// Defaults to 30 days.
    public var maxLifetime = Duration.seconds(30 * 86_400)
    /// The maximum number of entries of one source: its original and the variants.
    ///
    /// Defaults to 10,000. If there are more, some are removed.
    public var variantLimit = 10_000

    /// Creates the default settings.
    public init() {}
  }

  /// The counts of look-ups.
  struct Counts: Sendable {
    var hits = 0
    var misses = 0
    var damaged = 0
  }

  /// The server.
  public var server: RedisServer { pool.server }

  let options: Options
  let clock: any TimeSource
  /// The connections for look-ups.
  private let pool: RedisPool
  /// The connections for changes, which have no waiting caller.
  private let changes: RedisPool
  /// The last known epoch.
  private let epoch = Lock(Data?.none)
  let counts = Lock(Counts())

  /// The commands that an access list must allow, on keys that begin with ``Options/namespace``.
  public static let commands = [
    "ping", "get", "set", "mget", "getrange", "sadd", "srem", "sismember", "smembers", "scard", "spop", "incr",
    "pexpire", "unlink", "scan", "eval", "evalsha", "info", "select",
  ]

  /// Creates a cache, without connecting.
  ///
  /// - Parameters:
  ///   - server: The server.
  ///   - options: The settings. Defaults to `Options()`.
  ///   - clock: The clock for expiry. Defaults to the system clock.
  public init(_ server: RedisServer, options: Options = Options(), clock: any TimeSource = .system) {
    (self.options, self.clock) = (options, clock)
    (pool, changes) = (RedisPool(server, options), RedisPool(server, options))
  }

  /// Connects, and waits for a reply.
  ///
  /// - Throws: ``RedisError`` that names the server and the stage.
  public func check() async throws {
    let replies = try await pool.send([RedisCommand("PING")])
    if let text = replies[0].error { throw RedisError(reply: text, server) }
    guard replies[0] == .status("PONG") else { throw nonsense("PING") }
  }

  // MARK: The epoch

  /// Sends commands for the names of the present epoch, and reads their replies.
  ///
  /// The epoch is read along with them. If it has changed meanwhile, they are sent again for the new one.
  ///
  /// - Parameters:
  ///   - isChange: A Boolean value that indicates whether the commands have no waiting caller.
  ///   - creates: A Boolean value that indicates whether to begin an epoch on a server that has none.
  ///   - commands: Returns the commands for some names.
  /// - Returns: The names and a reply for each command; `nil` if the server has no epoch, and therefore no entries.
  /// - Throws: As ``RedisPool/send(_:)``, and if the reply to the epoch is an error.
  func send(
    isChange: Bool = false,
    creates: Bool = false,
    _ commands: (RedisKeys) -> [RedisCommand],
  ) async throws(RedisError) -> (RedisKeys, [RedisReply])? {
    let pool = isChange ? changes : pool
    let name = RedisKeys.epoch(namespace: options.namespace)
    for _ in 0..<5 {
      guard let epoch = try await knownEpoch(name, creates: creates, pool) else { return nil }
      let keys = RedisKeys(namespace: options.namespace, epoch: epoch)
      let replies = try await pool.send([RedisCommand("GET", name)] + commands(keys))
      let current = try self.epoch(replies[0])
      if current == epoch { return (keys, Array(replies.dropFirst())) }
      self.epoch.withLock { $0 = current }
    }
    throw RedisError(.reply, server, "the epoch changes again and again")
  }

  private func knownEpoch(_ name: Data, creates: Bool, _ pool: RedisPool) async throws(RedisError) -> Data? {
    if let known = epoch.withLock({ $0 }) { return known }
    var commands = [RedisCommand("GET", name)]
    if creates { commands.insert(newEpoch(name), at: 0) }
    let replies = try await pool.send(commands)
    let found = try epoch(replies[commands.count - 1])
    if found == nil, let text = replies[0].error { throw RedisError(reply: text, server) }
    epoch.withLock { $0 = found }
    return found
  }

  /// Returns a command that begins an epoch with a random number, so that a server that has lost its epoch does not
  /// return to an earlier one.
  private func newEpoch(_ name: Data) -> RedisCommand {
    RedisCommand("SET", name, Data(number: UInt64.random(in: 1...1 << 52)), Data("NX"))
  }

  private func epoch(_ reply: RedisReply) throws(RedisError) -> Data? {
    switch reply {
    case .null: return nil
    case .bytes(let digits) where (1...20).contains(digits.count) && digits.allSatisfy({ (48...57).contains($0) }):
      return digits
    case .error(let text): throw RedisError(reply: text, server)
    default: throw nonsense("GET")
    }
  }

  /// Removes everything, with one `INCR`.
  public func eraseAll() async throws {
    let name = RedisKeys.epoch(namespace: options.namespace)
    let cleared = RedisKeys.cleared(namespace: options.namespace)
    let replies = try await changes.send([
      newEpoch(name), RedisCommand("INCR", name),
      // A full server refuses this command, without harm.
      RedisCommand("SET", cleared, Self.time(clock.now), Data("PX"), Self.removalLifetime),
    ])
    if let text = replies[1].error { throw RedisError(reply: text, server) }
    guard let number = replies[1].integer else { throw nonsense("INCR") }
    epoch.withLock { $0 = Data(number: number) }
  }

  // MARK: Scripts

  /// Runs a script.
  ///
  /// Returns `nil` if the server has no epoch.
  func run(
    _ script: RedisScript,
    creates: Bool = false,
    keys: (RedisKeys) -> [Data],
    arguments: (RedisKeys) -> [Data],
  ) async throws(RedisError) -> Int64? {
    let known = try await send(isChange: true, creates: creates) {
      [script.command(keys: keys($0), arguments: arguments($0))]
    }
    guard var reply = known?.1[0] else { return nil }
    if let text = reply.error, text.hasPrefix("NOSCRIPT") {
      let sent = try await send(isChange: true, creates: creates) {
        [script.commandWithText(keys: keys($0), arguments: arguments($0))]
      }
      guard let second = sent?.1[0] else { return nil }
      reply = second
    }
    if let text = reply.error { throw RedisError(reply: text, server) }
    guard let number = reply.integer else { throw nonsense("EVAL") }
    return number
  }

  func nonsense(_ command: String) -> RedisError {
    RedisError(.reply, server, "the reply to \(command) makes no sense")
  }

  /// Throws the first error among replies.
  func check(_ replies: [RedisReply]) throws(RedisError) {
    for reply in replies {
      if let text = reply.error { throw RedisError(reply: text, server) }
      if let parts = reply.array { try check(parts) }
    }
  }

  /// Sends commands that do not depend on the epoch.
  func sendPlainly(_ commands: [RedisCommand]) async throws(RedisError) -> [RedisReply] {
    try await pool.send(commands)
  }
}
