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
  private static let version: UInt8 = 1
  /// The maximum number of bytes in the field, where three bytes take four characters.
  private static let limit = 1400
  private static let keyHashCount = 16

  var kind: CachedData.Kind
  var byteCount: Int
  var bodyHash: ContentID
  var contentID: ContentID
  var expires: Date?
  var stored: Date
  var keyHash: [UInt8]
  /// The metadata of the entry; empty if they are in the preface.
  var metadata = Data()
  /// The number of bytes of the key in the preface; 0 if the name of the object has the key.
  var keyCount = 0
  /// The number of bytes before the body.
  var prefaceCount = 0
  var prefaceHash = ContentID(of: Data())

  /// Creates the head of an entry, and the preface that it needs.
  ///
  /// - Parameters:
  ///   - entry: The entry.
  ///   - key: Its key.
  ///   - isNameCut: A Boolean value that indicates whether the name of the object does not contain the whole key.
  /// - Returns: The head and the preface.
  static func make(_ entry: CachedData, _ key: CacheKey, isNameCut: Bool) -> (head: EntryHead, preface: Data) {
    var head = EntryHead(
      kind: entry.kind,
      byteCount: entry.data.count,
      bodyHash: ContentID(of: entry.data),
      contentID: entry.contentID,
      expires: entry.expires,
      stored: entry.stored,
      keyHash: hash(of: key),
    )
    let preface = head.setMetadata(entry.metadata, key: isNameCut ? key : nil)
    return (head, preface)
  }

  /// Sets the metadata, and returns the preface that this requires.
  mutating func setMetadata(_ metadata: Data, key: CacheKey?) -> Data {
    self.metadata = metadata
    var preface = Data()
    keyCount = 0
    if let key {
      preface.append(contentsOf: key.bytes)
      keyCount = key.bytes.count
    }
    (prefaceCount, prefaceHash) = (preface.count, ContentID(of: preface))
    guard encodedBytes.count > Self.limit else { return preface }
    preface.append(metadata)
    self.metadata = Data()
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
    var bytes = Data([Self.version, kind.rawValue])
    func append(_ word: UInt64) {
      for place in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(8 * place))) }
    }
    append(UInt64(byteCount))
    append(bodyHash.low)
    append(bodyHash.high)
    append(contentID.low)
    append(contentID.high)
    append((expires?.timeIntervalSince1970 ?? .infinity).bitPattern)
    append(stored.timeIntervalSince1970.bitPattern)
    append(UInt64(keyCount))
    append(UInt64(prefaceCount))
    append(prefaceHash.low)
    append(prefaceHash.high)
    bytes.append(contentsOf: keyHash)
    bytes.append(metadata)
    append(ContentID(of: bytes).low)
    return bytes
  }

  /// Decodes the value of the field, or returns `nil` if it is damaged or of another version.
  init?(encoded: String) {
    guard let data = Data(base64Encoded: encoded) else { return nil }
    let bytes = [UInt8](data)
    let fixed = 2 + 11 * 8 + Self.keyHashCount
    guard bytes.count >= fixed + 8, bytes[0] == Self.version, let kind = CachedData.Kind(rawValue: bytes[1]) else {
      return nil
    }
    func word(at offset: Int) -> UInt64 {
      bytes[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    guard word(at: bytes.count - 8) == ContentID(of: Data(bytes.dropLast(8))).low else { return nil }
    let words = (0..<11).map { word(at: 2 + 8 * $0) }
    guard [words[0], words[7], words[8]].allSatisfy({ $0 < 1 << 40 }), words[7] <= words[8] else { return nil }
    let (expires, stored) = (Double(bitPattern: words[5]), Double(bitPattern: words[6]))
    guard stored.isFinite, !expires.isNaN else { return nil }
    self.kind = kind
    byteCount = Int(words[0])
    bodyHash = ContentID(low: words[1], high: words[2])
    contentID = ContentID(low: words[3], high: words[4])
    self.expires = expires.isFinite ? Date(timeIntervalSince1970: expires) : nil
    self.stored = Date(timeIntervalSince1970: stored)
    (keyCount, prefaceCount) = (Int(words[7]), Int(words[8]))
    prefaceHash = ContentID(low: words[9], high: words[10])
    keyHash = Array(bytes[2 + 88..<fixed])
    metadata = Data(bytes[fixed..<bytes.count - 8])
  }

  private init(
    kind: CachedData.Kind,
    byteCount: Int,
    bodyHash: ContentID,
    contentID: ContentID,
    expires: Date?,
    stored: Date,
    keyHash: [UInt8],
  ) {
    (self.kind, self.byteCount, self.bodyHash, self.contentID) = (kind, byteCount, bodyHash, contentID)
    (self.expires, self.stored, self.keyHash) = (expires, stored, keyHash)
  }

  // MARK: Checks

  /// Returns the metadata and the key of a preface, or `nil` if it does not match its checksum.
  func open(preface: Data) -> (metadata: Data, key: CacheKey?)? {
    guard preface.count == prefaceCount, ContentID(of: preface) == prefaceHash else { return nil }
    let key = keyCount > 0 ? CacheKey(bytes: Array(preface.prefix(keyCount))) : nil
    return (hasMetadataInPreface ? Data(preface.dropFirst(keyCount)) : metadata, key)
  }

  /// Returns the entry of a whole object, or `nil` if its bytes do not match their checksums.
  func open(object: Data) -> CachedData? {
    guard object.count == prefaceCount + byteCount, let (metadata, _) = open(preface: object.prefix(prefaceCount))
    else {
      return nil
    }
    let body = Data(object.dropFirst(prefaceCount))
    guard ContentID(of: body) == bodyHash else { return nil }
    return CachedData(
      data: body,
      kind: kind,
      metadata: metadata,
      contentID: contentID,
      expires: expires,
      stored: stored,
    )
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
