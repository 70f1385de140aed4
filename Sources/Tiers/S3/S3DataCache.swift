public import VitrineCaching
import VitrineHTTP
import VitrineRuntime
public import VitrineTiers

/// A cache of bytes in a bucket: a durable tier that many machines share.
///
/// ```swift
/// let cache = try S3DataCache(client, bucket: "thumbnails", prefix: "v1/")
/// ```
/// Put a cache in memory or on disk in front of it: a request to a bucket takes tens of milliseconds. As a tier of a
/// `TieredDataCache` (`.bucket(cache)`) it is skipped while its server fails.
///
/// **Failures** are counted in ``counts``. Operations that cannot throw, such as `entry(for:)`, miss then. Operations
/// of `FallibleDataCaching` throw an ``S3Error``. Each operation has a deadline.
///
/// **Integrity.** Every entry has a checksum of its body, of its metadata and of its key. An object that does not match
/// is removed and counts as damaged.
///
/// **No eviction.** A bucket has no limit; let a lifecycle rule of the bucket expire old objects. Entries larger than
/// the limit of the client (`S3Configuration.maxObjectBytes`) are not stored.
///
/// **Names.** The name of an object is the entry's key, and therefore contains the URL of the image. To hide it, put a
/// `SealedDataCache` in front.
///
/// **Costs.** A look-up, a store and a removal are one request each. A renewal takes two and moves no body, unless the
/// metadata exceed some 1,200 bytes. Removing the variants of an image takes a list of their names and one request for
/// each thousand.
public final class S3DataCache: FallibleDataCaching {
  /// The limits of a cache.
  public struct Options: Sendable {
    /// The time within which an entry must be read.
    ///
    /// Defaults to 5 seconds, with all attempts.
    public var readDeadline = Duration.seconds(5)
    /// The time within which an entry must be stored, renewed or removed.
    ///
    /// Defaults to 30 seconds, with all attempts. For lists and removals of many entries it applies to each request.
    public var writeDeadline = Duration.seconds(30)
    /// The maximum number of concurrent requests for ``S3DataCache/readHeads(of:)`` and ``S3DataCache/entries()``.
    ///
    /// Defaults to 8.
    public var concurrency = 8
    /// The maximum number of entries that are listed.
    ///
    /// Defaults to 10,000, since each takes a request.
    public var maxListedEntries = 10_000
    /// The maximum number of entries that one call removes.
    ///
    /// Defaults to 1,000,000.
    public var maxRemovedEntries = 1_000_000

    /// Creates the default limits.
    public init() {}
  }

  /// The counts of a cache's operations since it was created.
  public struct Counts: Sendable, Hashable {
    /// The number of look-ups that found an entry.
    public internal(set) var hits = 0
    /// The number of look-ups that found none, failures included.
    public internal(set) var misses = 0
    /// The number of stored entries.
    public internal(set) var stores = 0
    /// The number of entries that were not stored because they were too large or the server failed.
    public internal(set) var drops = 0
    /// The number of calls that ended in an error of the server or of the network.
    public internal(set) var failures = 0
    /// The number of damaged objects that were found.
    public internal(set) var damaged = 0
  }

  private struct State {
    var counts = Counts()
    var lastFailure: S3Error?
  }

  /// The bucket.
  public let bucket: String
  /// The prefix of the names of all objects.
  public let prefix: String
  let client: S3Client
  let options: Options
  private let state = Lock(State())

  /// Creates a cache, without sending a request.
  ///
  /// - Parameters:
  ///   - client: The client of the server.
  ///   - bucket: The bucket, which must exist.
  ///   - prefix: The prefix of the names of all objects, at most 200 bytes, such as the name of a version: a new prefix
  ///     starts an empty cache. ``eraseAll()`` removes all objects that begin with it. Defaults to `vitrine/`.
  ///   - options: The limits.
  /// - Throws: ``S3Error`` with ``S3Error/Code/invalidConfiguration``.
  public init(
    _ client: S3Client,
    bucket: String,
    prefix: String = "vitrine/",
    options: Options = Options(),
  ) throws(S3Error) {
    guard (1...200).contains(prefix.utf8.count), ObjectURL(bucket: bucket, key: prefix) != nil else {
      throw S3Error(
        .invalidConfiguration,
        "s3://\(bucket)/\(prefix)",
        "a cache needs a bucket and a prefix of 1 to 200 bytes",
      )
    }
    (self.client, self.bucket, self.prefix, self.options) = (client, bucket, prefix, options)
  }

  /// The counts of the cache's operations.
  public var counts: Counts { state.withLock { $0.counts } }

  /// The last error of the server or of the network; `nil` if there was none.
  public var lastFailure: S3Error? { state.withLock { $0.lastFailure } }

  // MARK: Entries

  /// Returns the entry for a key, fresh or expired, or `nil` if there is none.
  ///
  /// - Throws: ``S3Error`` if the server cannot be reached, takes too long or refuses.
  public func read(_ key: CacheKey) async throws(S3Error) -> CachedData? {
    do throws(S3Error) {
      let entry = try await load(key)
      count { if entry == nil { $0.misses += 1 } else { $0.hits += 1 } }
      return entry
    } catch {
      count { $0.misses += 1 }
      throw error
    }
  }

  /// Returns the entry for a key, fresh or expired, without counting it as used.
  public func peek(_ key: CacheKey) async -> CachedData? { (try? await load(key)) ?? nil }

  private func load(_ key: CacheKey) async throws(S3Error) -> CachedData? {
    let object = object(of: key)
    let answer = try await attempt { () throws(S3Error) in
      try await client.read(object, within: options.readDeadline)
    }
    guard let answer else { return nil }
    switch FoundHead(answer.response, for: EntryHead.hash(of: key)) {
    case .foreign: return nil
    case .damaged: break
    case .head(let head, _):
      if let entry = head.open(object: answer.body) { return entry }
    }
    await drop(object)
    return nil
  }

  /// Stores an entry and replaces an older one of the same key.
  ///
  /// - Throws: ``S3Error`` if the server cannot be reached, takes too long or refuses, and for an entry that is too large.
  ///   After a refusal (``S3Error/isRefusal``) the key has no entry.
  public func write(_ entry: CachedData, for key: CacheKey) async throws(S3Error) {
    let object = object(of: key)
    let (head, preface) = EntryHead.make(entry, key, isNameCut: ObjectName.key(of: name(of: object)) == nil)
    do throws(S3Error) {
      try await attempt { () throws(S3Error) in try await put(head, preface + entry.data, object) }
      count { $0.stores += 1 }
    } catch {
      count { $0.drops += 1 }
      // An older entry must not remain in place of an entry that could not be stored.
      do throws(S3Error) {
        try await erase(key)
      } catch let other {
        throw error.isRefusal ? other : error
      }
      throw error
    }
  }

  private func put(_ head: EntryHead, _ body: Data, _ object: ObjectURL) async throws(S3Error) {
    try await client.write(object, body, headers: Self.fields(head), within: options.writeDeadline)
  }

  private static func fields(_ head: EntryHead) -> HTTPFields {
    ["Content-Type": "application/octet-stream", EntryHead.field: head.encoded]
  }

  /// Replaces the expiry and metadata of an entry, if it still has the given content.
  ///
  /// The server copies the object onto itself, so that no body is moved. Metadata that do not fit the head of an object
  /// are stored with the body, which is then read and written again.
  ///
  /// - Returns: A Boolean value that indicates whether the entry had that content.
  /// - Throws: ``S3Error`` if the server cannot be reached, takes too long or refuses.
  public func rewrite(
    _ key: CacheKey,
    contentID: ContentID,
    expires: Date?,
    metadata: Data,
  ) async throws(S3Error) -> Bool {
    let object = object(of: key)
    guard case .head(var head, let tag?)? = try await found(object, key), head.cached.contentID == contentID else {
      return false
    }
    let isCut = head.keyCount > 0
    let wasPlain = !head.hasMetadataInPreface
    head.cached.expires = expires
    _ = head.setMetadata(metadata, key: isCut ? key : nil)
    if wasPlain, !head.hasMetadataInPreface {
      return try await attempt { [head] () throws(S3Error) in
        try await client.replaceMetadata(
          of: object,
          ifMatch: tag,
          headers: Self.fields(head),
          within: options.writeDeadline,
        )
      }
    }
    guard var entry = try await load(key), entry.contentID == contentID else { return false }
    (entry.expires, entry.metadata) = (expires, metadata)
    let (next, preface) = EntryHead.make(entry, key, isNameCut: isCut)
    var fields = Self.fields(next)
    // A server without conditional writes ignores the field.
    fields["If-Match"] = tag
    return try await attempt { [fields] () throws(S3Error) in
      do throws(S3Error) {
        try await client.write(object, preface + entry.data, headers: fields, within: options.writeDeadline)
        return true
      } catch {
        // Another machine has replaced the object meanwhile.
        guard error.status == 412 else { throw error }
        return false
      }
    }
  }

  /// Removes the entry for a key.
  ///
  /// - Throws: ``S3Error`` if the server cannot be reached, takes too long or refuses.
  public func erase(_ key: CacheKey) async throws(S3Error) {
    let object = object(of: key)
    try await attempt { () throws(S3Error) in try await client.remove(object, within: options.writeDeadline) }
  }

  /// Returns the identity of an entry's content, from the head of its object.
  public func contentID(for key: CacheKey) async -> ContentID? {
    guard case .head(let head, _)? = (try? await found(object(of: key), key)) ?? nil else { return nil }
    return head.cached.contentID
  }

  /// Does nothing, since an entry is in the bucket as soon as its store returns.
  public func flush() async {}

  /// Returns the counts of look-ups and of damaged objects.
  ///
  /// The numbers of entries and bytes are 0, since the bucket would have to be listed; see ``entries()``.
  public func statistics() async -> DataCacheStatistics {
    let counts = counts
    var statistics = DataCacheStatistics()
    (statistics.hits, statistics.misses, statistics.damaged) = (counts.hits, counts.misses, counts.damaged)
    return statistics
  }

  // MARK: Parts

  func object(of key: CacheKey) -> ObjectURL {
    guard let object = ObjectURL(bucket: bucket, key: prefix + ObjectName.name(of: key)) else {
      preconditionFailure("a name of at most 1,024 bytes, as the prefix has at most 200")
    }
    return object
  }

  func name(of object: ObjectURL) -> String {
    String(decoding: object.key.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
  }

  /// Returns the head of an entry, or `nil` if there is none.
  func found(_ object: ObjectURL, _ key: CacheKey?) async throws(S3Error) -> FoundHead? {
    let response = try await attempt { () throws(S3Error) in
      try await client.head(object, within: options.readDeadline)
    }
    guard let response else { return nil }
    let found = FoundHead(response, for: key.map { EntryHead.hash(of: $0) })
    if case .damaged = found { await drop(object) }
    return found
  }

  /// Removes a damaged object; if that fails, it will be found damaged again.
  func drop(_ object: ObjectURL) async {
    count { $0.damaged += 1 }
    _ = try? await attempt { () throws(S3Error) in try await client.remove(object, within: options.writeDeadline) }
  }

  /// Returns the result of a call; a failure is counted, unless the caller was cancelled.
  @discardableResult
  func attempt<Value>(_ body: () async throws(S3Error) -> Value) async throws(S3Error) -> Value {
    do throws(S3Error) {
      return try await body()
    } catch {
      if !error.isCancellation {
        state.withLock { state in
          state.counts.failures += 1
          state.lastFailure = error
        }
      }
      throw error
    }
  }

  private func count(_ change: (inout Counts) -> Void) { state.withLock { change(&$0.counts) } }
}
