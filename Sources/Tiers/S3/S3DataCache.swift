public import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// A cache of bytes in a bucket: a durable tier that many machines share and that outlives them.
///
/// ```swift
/// let cache = try S3DataCache(client, bucket: "thumbnails", prefix: "v1/")
/// ```
/// Put a cache in memory or on disk in front of it: a request to a bucket takes tens of milliseconds.
///
/// **Nothing throws.** If the server fails, the cache misses, and counts it in ``counts``. Requests have a deadline each.
///
/// **No wrong byte.** Every entry has a checksum of its body, of its metadata and of its key. An object that does not
/// match is removed and counts as damaged.
///
/// **It does not evict.** A bucket has no limit; let a lifecycle rule of the bucket expire old objects. Entries larger
/// than the limit of the client (`S3Configuration.maxObjectBytes`) are not stored.
///
/// **Names.** The name of an object is the entry's key, and so has the URL of the image. To hide it, put a
/// `SealedDataCache` in front.
///
/// **Costs.** A look-up, a store and a removal are one request each. ``renew(_:contentID:expires:metadata:)`` takes two
/// and moves no body, unless the metadata exceed some 1,200 bytes. Removing the variants of an image takes a list of
/// their names and one request for each thousand.
public final class S3DataCache: DataCaching {
  /// The bounds of a cache.
  public struct Options: Sendable {
    /// The time within which an entry must be read.
    ///
    /// Defaults to 5 seconds, with all attempts.
    public var readDeadline = Duration.seconds(5)
    /// The time within which an entry must be stored, renewed or removed.
    ///
    /// Defaults to 30 seconds, with all attempts. Lists and removals of many have it for each request.
    public var writeDeadline = Duration.seconds(30)
    /// The maximum number of concurrent requests for ``S3DataCache/heads(for:)`` and ``S3DataCache/entries()``.
    ///
    /// Defaults to 8.
    public var concurrency = 8
    /// The maximum number of entries that are listed.
    ///
    /// Defaults to 10,000: each takes a request.
    public var maxListedEntries = 10_000
    /// The maximum number of entries that one call removes.
    ///
    /// Defaults to 1,000,000.
    public var maxRemovedEntries = 1_000_000

    /// Creates the default bounds.
    public init() {}
  }

  /// The numbers of what a cache has done since it was created.
  public struct Counts: Sendable, Hashable {
    /// The number of look-ups that found an entry.
    public internal(set) var hits = 0
    /// The number of look-ups that found none, failures included.
    public internal(set) var misses = 0
    /// The number of entries that were stored.
    public internal(set) var stores = 0
    /// The number of entries that were not stored, since they are too large or the server failed.
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
  /// The beginning of the names of all objects.
  public let prefix: String
  let client: S3Client
  let options: Options
  private let state = Lock(State())

  /// Creates a cache, which asks the server nothing yet.
  ///
  /// - Parameters:
  ///   - client: The client of the server.
  ///   - bucket: The bucket, which must exist.
  ///   - prefix: The beginning of the names of all objects, at most 200 bytes, such as the name of a version: with
  ///     another prefix everything is gone at once. ``removeAll()`` removes all objects that begin with it.
  ///     Defaults to `vitrine/`.
  ///   - options: The bounds.
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

  /// The numbers of what the cache has done.
  public var counts: Counts { state.withLock { $0.counts } }

  /// The last error of the server or of the network; `nil` if there was none.
  public var lastFailure: S3Error? { state.withLock { $0.lastFailure } }

  // MARK: Entries

  /// Returns the entry for a key, fresh or expired.
  public func entry(for key: CacheKey) async -> CachedData? {
    let entry = await read(key)
    count { if entry == nil { $0.misses += 1 } else { $0.hits += 1 } }
    return entry
  }

  /// Returns the entry for a key, fresh or expired, without counting it as used.
  public func peek(_ key: CacheKey) async -> CachedData? { await read(key) }

  private func read(_ key: CacheKey) async -> CachedData? {
    let object = object(of: key)
    let answer = await attempt { () throws(S3Error) in try await client.read(object, within: options.readDeadline) }
    guard let answer = answer ?? nil else { return nil }
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
  public func store(_ entry: CachedData, for key: CacheKey) async {
    let object = object(of: key)
    let (head, preface) = EntryHead.make(entry, key, isNameCut: ObjectName.key(of: name(of: object)) == nil)
    let isStored = await attempt { () throws(S3Error) in try await write(head, preface + entry.data, object) } != nil
    count { if isStored { $0.stores += 1 } else { $0.drops += 1 } }
    // An older entry must not take the place of one that could not be stored.
    if !isStored { await remove(key) }
  }

  private func write(_ head: EntryHead, _ body: Data, _ object: ObjectURL) async throws(S3Error) {
    try await client.write(object, body, headers: Self.fields(head), within: options.writeDeadline)
  }

  private static func fields(_ head: EntryHead) -> HTTPFields {
    ["Content-Type": "application/octet-stream", EntryHead.field: head.encoded]
  }

  /// Replaces the expiry and metadata of an entry, if it still has the given content.
  ///
  /// The server copies the object onto itself, so that no body is moved. Metadata that do not fit the head of an object
  /// are stored with the body, which then is read and written again.
  @discardableResult
  public func renew(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async -> Bool {
    let object = object(of: key)
    guard case .head(var head, let tag?)? = await found(object, key), head.contentID == contentID else { return false }
    let isCut = head.keyCount > 0
    let wasPlain = !head.hasMetadataInPreface
    head.expires = expires
    _ = head.setMetadata(metadata, key: isCut ? key : nil)
    if wasPlain, !head.hasMetadataInPreface {
      return await attempt { [head] () throws(S3Error) in
        try await client.replaceMetadata(
          of: object,
          ifMatch: tag,
          headers: Self.fields(head),
          within: options.writeDeadline,
        )
      } ?? false
    }
    guard var entry = await read(key), entry.contentID == contentID else { return false }
    (entry.expires, entry.metadata) = (expires, metadata)
    let (next, preface) = EntryHead.make(entry, key, isNameCut: isCut)
    var fields = Self.fields(next)
    // A server that knows no conditional writes ignores it.
    fields["If-Match"] = tag
    return await attempt { [fields] () throws(S3Error) in
      try await client.write(object, preface + entry.data, headers: fields, within: options.writeDeadline)
    } != nil
  }

  /// Removes the entry for a key.
  public func remove(_ key: CacheKey) async {
    let object = object(of: key)
    await attempt { () throws(S3Error) in try await client.remove(object, within: options.writeDeadline) }
  }

  /// Returns a Boolean value that indicates whether a key has an entry, by the head of its object.
  public func contains(_ key: CacheKey) async -> Bool { await contentID(for: key) != nil }

  /// Returns the identity of an entry's content, by the head of its object.
  public func contentID(for key: CacheKey) async -> ContentID? {
    guard case .head(let head, _)? = await found(object(of: key), key) else { return nil }
    return head.contentID
  }

  /// Does nothing: what is stored is in the bucket as soon as a store returns.
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
  func found(_ object: ObjectURL, _ key: CacheKey?) async -> FoundHead? {
    let answer = await attempt { () throws(S3Error) in try await client.head(object, within: options.readDeadline) }
    guard let response = answer ?? nil else { return nil }
    let found = FoundHead(response, for: key.map { EntryHead.hash(of: $0) })
    if case .damaged = found { await drop(object) }
    return found
  }

  /// Removes a damaged object.
  func drop(_ object: ObjectURL) async {
    count { $0.damaged += 1 }
    await attempt { () throws(S3Error) in try await client.remove(object, within: options.writeDeadline) }
  }

  /// Returns the result of a call, or `nil` if it failed, which is counted.
  @discardableResult
  func attempt<Value>(_ body: () async throws(S3Error) -> Value) async -> Value? {
    do throws(S3Error) {
      return try await body()
    } catch {
      guard !error.isCancellation else { return nil }
      state.withLock { state in
        state.counts.failures += 1
        state.lastFailure = error
      }
      return nil
    }
  }

  private func count(_ change: (inout Counts) -> Void) { state.withLock { change(&$0.counts) } }
}
