import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// The head of an entry, which is in the metadata of its object, so that it is read without the body.
///
/// S3 allows 2 KB of metadata. Longer metadata precede the body, in a *preface* whose length the head has. Head,
/// preface and body each have a checksum, and the head has a part of the key's hash, so no byte is returned that was
/// not stored for this key.
struct EntryHead: Sendable, Equatable {
  /// The name of the metadata field.
  static let field = "x-amz-meta-vitrine"
  /// The first version is the only one; buckets may have heads of it from any version of the program.
  private static let version: UInt8 = 1
  /// The maximum number of bytes in the field, where three bytes take four characters.
  private static let limit = 1400
  private static let keyHashCount = 16

  /// The head of the entry, without its body; without metadata if they are in the preface.
  var cached: CachedDataHead
  let bodyHash: ContentID
  let keyHash: [UInt8]
  /// The number of bytes of the key in the preface; 0 if the name of the object has the key.
  private(set) var keyCount = 0
  /// The number of bytes before the body.
  private(set) var prefaceCount = 0
  private var prefaceHash = ContentID(of: Data())

  /// Creates the head of an entry, and the preface that it needs.
  ///
  /// - Parameters:
  ///   - entry: The entry.
  ///   - key: Its key.
  ///   - isNameCut: A Boolean value that indicates whether the name of the object does not contain the whole key.
  /// - Returns: The head and the preface.
  static func make(_ entry: CachedData, _ key: CacheKey, isNameCut: Bool) -> (head: EntryHead, preface: Data) {
    var head = EntryHead(entry, keyHash: hash(of: key))
    let preface = head.setMetadata(entry.metadata, key: isNameCut ? key : nil)
    return (head, preface)
  }

  /// Sets the metadata, and returns the preface that this requires.
  mutating func setMetadata(_ metadata: Data, key: CacheKey?) -> Data {
    cached.metadata = metadata
    var preface = Data()
    keyCount = 0
    if let key {
      preface.append(contentsOf: key.bytes)
      keyCount = key.bytes.count
    }
    (prefaceCount, prefaceHash) = (preface.count, ContentID(of: preface))
    guard encodedBytes.count > Self.limit else { return preface }
    preface.append(metadata)
    cached.metadata = Data()
    (prefaceCount, prefaceHash) = (preface.count, ContentID(of: preface))
    return preface
  }

  /// A Boolean value that indicates whether the metadata are in the preface.
  var hasMetadataInPreface: Bool { prefaceCount > keyCount }

  static func hash(of key: CacheKey) -> [UInt8] { Array(SHA256.hash(key.bytes).prefix(keyHashCount)) }

  // MARK: The field of metadata

  /// The value of the field.
  var encoded: String { encodedBytes.base64EncodedString() }

  private var encodedBytes: Data {
    var head = HeadWriter(capacity: 120 + cached.metadata.count)
    head.append(Self.version)
    head.append(cached.kind.rawValue)
    head.append(count: cached.byteCount)
    head.append(bodyHash)
    head.append(cached.contentID)
    head.append(seconds: cached.expires?.timeIntervalSince1970 ?? .infinity)
    head.append(seconds: cached.stored.timeIntervalSince1970)
    head.append(count: keyCount)
    head.append(count: prefaceCount)
    head.append(prefaceHash)
    head.append(keyHash)
    head.append(cached.metadata)
    head.append(ContentID(of: head.data).low)
    return head.data
  }

  /// Decodes the value of the field, or returns `nil` if it is damaged or of another version.
  init?(encoded: String) {
    guard let bytes = Data(base64Encoded: encoded), var reader = HeadReader(bytes), reader.uint8() == Self.version,
      let kind = reader.uint8().flatMap({ CachedData.Kind(rawValue: $0) }), let byteCount = reader.count(),
      let bodyHash = reader.contentID(), let contentID = reader.contentID(), let expires = reader.seconds(),
      !expires.isNaN, let stored = reader.seconds(), stored.isFinite, let keyCount = reader.count(),
      let prefaceCount = reader.count(), let prefaceHash = reader.contentID(),
      let keyHash = reader.data(Self.keyHashCount), let metadata = reader.data(reader.remaining - 8),
      reader.uint64() == ContentID(of: bytes.dropLast(8)).low,
      // No sum of these overflows.
      max(byteCount, prefaceCount) < 1 << 40, keyCount <= prefaceCount
    else { return nil }
    cached = CachedDataHead(
      kind: kind,
      byteCount: byteCount,
      metadata: metadata,
      contentID: contentID,
      expires: expires.isFinite ? Date(timeIntervalSince1970: expires) : nil,
      stored: Date(timeIntervalSince1970: stored),
    )
    (self.bodyHash, self.keyHash) = (bodyHash, Array(keyHash))
    (self.keyCount, self.prefaceCount, self.prefaceHash) = (keyCount, prefaceCount, prefaceHash)
  }

  private init(_ entry: CachedData, keyHash: [UInt8]) {
    cached = CachedDataHead(entry)
    cached.data = nil
    (bodyHash, self.keyHash) = (ContentID(of: entry.data), keyHash)
  }

  // MARK: Checks

  /// Returns the metadata and the key of a preface, or `nil` if it does not match its checksum.
  func open(preface: Data) -> (metadata: Data, key: CacheKey?)? {
    guard preface.count == prefaceCount, ContentID(of: preface) == prefaceHash else { return nil }
    let key = keyCount > 0 ? CacheKey(bytes: Array(preface.prefix(keyCount))) : nil
    return (hasMetadataInPreface ? Data(preface.dropFirst(keyCount)) : cached.metadata, key)
  }

  /// Returns the entry of a whole object, or `nil` if its bytes do not match their checksums.
  func open(object: Data) -> CachedData? {
    guard object.count == prefaceCount + cached.byteCount,
      let (metadata, _) = open(preface: object.prefix(prefaceCount))
    else {
      return nil
    }
    let body = Data(object.dropFirst(prefaceCount))
    guard ContentID(of: body) == bodyHash else { return nil }
    var entry = CachedData(cached, body)
    entry.metadata = metadata
    return entry
  }
}

/// The result of reading an object's head.
enum FoundHead {
  /// A head, and the entity tag of the object.
  case head(EntryHead, tag: String?)
  /// The object has a head that is damaged, or of another key.
  case damaged
  /// The object does not belong to the cache.
  case foreign

  init(_ response: HTTPResponse, for keyHash: [UInt8]?) {
    guard let field = response.headers[EntryHead.field] else {
      self = .foreign
      return
    }
    guard let head = EntryHead(encoded: field), keyHash.map({ $0 == head.keyHash }) ?? true else {
      self = .damaged
      return
    }
    self = .head(head, tag: response.headers["ETag"])
  }
}
