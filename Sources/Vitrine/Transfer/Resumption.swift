import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// The beginning of a body that an earlier download has left, and what is needed to ask for the rest.
struct Resumption: Sendable {
  let partial: PartialBody
  /// How many bytes there are.
  var count: Int { partial.count }
  /// The bytes, until they are taken: they may be many, and are not to be in memory twice.
  private let prefix: Lock<Data>
  /// The checksum of these bytes, to be gone on with.
  let hash: ContentHash
  /// The head that they came with.
  let stored: StoredResponse
  /// How many bytes the whole has, where the server said so.
  let total: Int?
  private let tag: String

  /// Looks for one that a request with these fields could go on from.
  init?(for key: CacheKey, in disk: any PartialStoring, fields: HTTPFields) async {
    guard let partial = await disk.partial(for: key), let head = PartialHead(encoded: partial.metadata),
      let tag = head.stored.strongEntityTag, partial.count > 0, partial.count < head.total ?? .max
    else { return nil }
    // What came for other fields is no part of this answer.
    guard head.stored.answers(fields), let prefix = await partial.bytes(0..<partial.count),
      prefix.count == partial.count
    else { return nil }
    var hash = ContentHash()
    hash.append(prefix)
    (self.partial, self.prefix, self.tag, self.hash) = (partial, Lock(prefix), tag, hash)
    (stored, total) = (head.stored, head.total)
  }

  /// Gives the bytes, once.
  func takePrefix() -> Data {
    prefix.withLock { prefix in
      defer { prefix = Data() }
      return prefix
    }
  }

  /// Asks for the rest, or for all of it if the file has changed (RFC 9110, sections 13.1.5 and 14.2).
  func ask(in request: inout HTTPRequest) {
    request.headers["Range"] = "bytes=\(count)-"
    request.headers["If-Range"] = tag
  }

  /// Whether a response of status 206 brings the rest of the same bytes.
  ///
  /// Without the strong tag in it nothing tells.
  func isContinued(by response: HTTPResponse) -> Bool {
    guard let range = ContentRange(response), range.start == count, response.headers["ETag"] == tag else {
      return false
    }
    guard let total, let now = range.total else { return true }
    return total == now
  }
}

/// What is kept beside the beginning of a body: how long it will be, and the head that it came with.
struct PartialHead: Sendable {
  let total: Int?
  let stored: StoredResponse

  init(total: Int?, stored: StoredResponse) {
    (self.total, self.stored) = (total, stored)
  }

  /// What tells images made of the beginning from those of other versions; `nil` where nothing does for good.
  var beginningID: ContentID? { stored.strongEntityTag.map { ContentID(ofBodyTagged: $0) } }

  /// Whether a download that breaks off could and should go on: it names its bytes for good, may be stored, and is not small.
  var isWorthKeeping: Bool {
    stored.status == 200 && stored.isStorable && stored.strongEntityTag != nil && total ?? .max >= 256 << 10
  }

  /// The length in eight bytes, little end first and all ones where it is not known, then the head.
  var encoded: Data {
    let number = total.map { UInt64($0) } ?? .max
    return Data((0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }) + stored.encoded
  }

  init?(encoded: Data) {
    guard encoded.count > 8, let stored = StoredResponse(encoded: Data(encoded.dropFirst(8))) else { return nil }
    let number = encoded.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    (total, self.stored) = (Int(exactly: number), stored)
  }
}
