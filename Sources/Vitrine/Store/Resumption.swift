import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// The beginning of a body from an earlier download, with everything needed to request the rest.
///
/// It is a class, since most requests have none, and each reference passes through many values.
final class Resumption: Sendable {
  /// The file that is continued; `nil` if the bytes were in memory.
  let partial: PartialBody?
  /// The number of bytes.
  let count: Int
  /// The bytes, until they are taken; they may be many, and must not be in memory twice.
  private let prefix: Lock<Data>
  /// The checksum of these bytes, to be continued.
  let hash: ContentHash
  /// The head of the response with these bytes.
  let stored: StoredResponse
  /// The number of bytes of the whole body, if the server sent it.
  let total: Int?
  private let validator: String

  /// Looks on disk for a partial download that a request with these fields can resume.
  convenience init?(for key: CacheKey, in disk: DiskCache, fields: HTTPFields) async {
    guard let partial = await disk.partial(for: key), let head = PartialHead(encoded: partial.metadata),
      head.isResumable(at: partial.count, fields), let prefix = await partial.bytes(0..<partial.count),
      prefix.count == partial.count
    else { return nil }
    var hash = ContentHash()
    hash.append(prefix)
    self.init(head, prefix, hash, partial)
  }

  /// Looks in memory for a partial download that a request with these fields can resume.
  convenience init?(for key: CacheKey, in memory: PartialMemory, fields: HTTPFields) {
    guard let known = memory.partial(for: key), known.head.isResumable(at: known.bytes.count, fields) else {
      return nil
    }
    self.init(known.head, known.bytes, known.hash, nil)
  }

  private init?(_ head: PartialHead, _ prefix: Data, _ hash: ContentHash, _ partial: PartialBody?) {
    guard let validator = head.stored.rangeValidator else { return nil }
    (self.partial, count, self.prefix, self.hash) = (partial, prefix.count, Lock(prefix), hash)
    (self.validator, stored, total) = (validator, head.stored, head.total)
  }

  /// Returns the bytes at the first call, and no bytes later.
  func takePrefix() -> Data {
    prefix.withLock { prefix in
      defer { prefix = Data() }
      return prefix
    }
  }

  /// Adds the fields that request the rest, or the whole if the file has changed (RFC 9110, sections 13.1.5 and 14.2).
  func apply(to request: inout HTTPRequest) {
    request.headers["Range"] = "bytes=\(count)-"
    request.headers["If-Range"] = validator
  }

  /// Returns `true` if a response of status 206 has the rest of the same bytes.
  ///
  /// Its validators, its place and the length of the whole must match the beginning.
  func isContinued(by response: HTTPResponse) -> Bool {
    guard let range = ContentRange(response), range.start == count, range.isOfFile(ofLength: total) else {
      return false
    }
    return stored.headers.isSameVersion(as: response.headers)
  }
}

/// The metadata of a partial download: the length of the whole body, and the head of the response.
struct PartialHead: Sendable {
  let total: Int?
  let stored: StoredResponse

  init(total: Int?, stored: StoredResponse) {
    (self.total, self.stored) = (total, stored)
  }

  /// The identity of images made from the beginning; `nil` if the version is not certain.
  var beginningID: ContentID? { stored.strongEntityTag.map { ContentID(ofBodyTagged: $0) } }

  /// A Boolean value that indicates whether an interrupted download should be resumed: it has a strong validator, may
  /// be stored, and is not small.
  var isWorthKeeping: Bool {
    stored.status == 200 && stored.isStorable && stored.rangeValidator != nil && total ?? .max >= PartialMemory.minimum
  }

  /// Returns `true` if a request with these fields can resume the download after `count` bytes.
  ///
  /// Bytes received for other fields belong to another response.
  fileprivate func isResumable(at count: Int, _ fields: HTTPFields) -> Bool {
    count > 0 && count < total ?? .max && stored.answers(fields)
  }

  /// The length in eight bytes, least significant first and all ones if unknown, then the head.
  var encoded: Data {
    var head = HeadWriter()
    head.append(total.map { UInt64($0) } ?? .max)
    head.append(stored.encoded)
    return head.data
  }

  init?(encoded: Data) {
    guard var head = HeadReader(encoded), let total = head.uint64(), let rest = head.data(head.remaining),
      let stored = StoredResponse(encoded: rest)
    else { return nil }
    (self.total, self.stored) = (Int(exactly: total), stored)
  }
}
