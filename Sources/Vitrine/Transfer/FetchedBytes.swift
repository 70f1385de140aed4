import Synchronization
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// The result of a fetch.
///
/// It is two pointers wide: functions that wait for bytes must not have room for all of their properties.
@dynamicMemberLookup
struct FetchedBytes: Sendable {
  struct Fields: Sendable {
    let content: ImageBytes
    /// The identity of the bytes, which distinguishes versions of the image.
    let contentID: ContentID
    let validity: Validity
    let origin: ImageResponse.Origin
    var isStale = false
    /// A Boolean value that indicates whether the bytes are stale, and must be revalidated while they are served.
    var isRevalidationDue = false
    let status: Int?
    /// The known header fields of the response.
    var headers: HTTPFields = [:]
    /// The URL after redirects.
    var url: String?
    /// A Boolean value that indicates whether the bytes are a small picture of the source that another program has made.
    var isThumbnail = false
    /// The place of the request that fetched or revalidated the bytes; `nil` without a request.
    var sequence: SourceRecord.Sequence?
    /// The head of a body that is still arriving; `nil` for whole bytes.
    var arriving: BodySink.Head?
    /// The image that has been made of these bytes, the beginning of a body; `nil` for whole bytes.
    var image: LoadedImage?
  }

  private var fields: Box<Fields>
  /// The receiver of a verdict on the bytes; `nil` if none is needed.
  private(set) var commit: PendingCommit?

  init(
    _ content: ImageBytes,
    contentID: ContentID,
    validity: Validity,
    origin: ImageResponse.Origin,
    status: Int?,
    _ change: (inout Fields) -> Void = { _ in },
  ) {
    var fields = Fields(content: content, contentID: contentID, validity: validity, origin: origin, status: status)
    change(&fields)
    self.fields = Box(fields)
  }

  /// The whole bytes, or the beginning of a file that was only opened for its decoder.
  var data: Data { fields.value.content.beginning }

  subscript<Value>(dynamicMember member: KeyPath<Fields, Value>) -> Value { fields.value[keyPath: member] }

  /// Returns the bytes with other properties.
  func changing(_ change: (inout Fields) -> Void) -> FetchedBytes {
    var (copy, fields) = (self, fields.value)
    change(&fields)
    copy.fields = Box(fields)
    return copy
  }
}

extension FetchedBytes {
  /// Creates the bytes of a source that needs no network.
  init(local content: ImageBytes, isThumbnail: Bool = false) {
    self.init(content, contentID: .none, validity: .unlimited, origin: .local, status: nil) {
      $0.isThumbnail = isThumbnail
    }
  }

  /// Creates the bytes so far of a body that is arriving.
  init(_ data: Data, of head: BodySink.Head) {
    self.init(.data(data), contentID: .none, validity: .unlimited, origin: .network, status: head.response.status) {
      $0.arriving = head
    }
  }

  /// Creates bytes from the beginning of a body that could be resumed; returns `nil` for any other body.
  init?(_ data: Data, beginning head: BodySink.Head, _ validity: Validity) {
    guard let contentID = head.partial.beginningID else { return nil }
    self.init(.data(data), contentID: contentID, validity: validity, origin: .network, status: head.stored.status)
  }
}

extension FetchedBytes {
  /// Returns the same bytes, which a caller is to judge.
  func with(_ commit: PendingCommit) -> FetchedBytes {
    var bytes = self
    bytes.commit = commit
    return bytes
  }
}

extension FetchedBytes: LoadedValue {
  var origin: ImageResponse.Origin { self[dynamicMember: \.origin] }
  var isStale: Bool { self[dynamicMember: \.isStale] }
  var status: Int? { self[dynamicMember: \.status] }
  var byteCount: Int { self[dynamicMember: \.content].byteCount }
}

extension LoadedImage {
  /// Creates an image made from bytes.
  convenience init(_ container: ImageContainer, of bytes: FetchedBytes, _ parameters: DecodeParameters?) {
    self.init(
      container,
      bytes.contentID,
      bytes.validity,
      status: bytes.status,
      byteCount: bytes.byteCount,
      // No other image is made from a thumbnail.
      bytes.isThumbnail ? nil : parameters,
      isLossy: bytes.isThumbnail,
      isThumbnail: bytes.isThumbnail,
    )
  }
}

extension EncodedImage {
  /// Creates an encoded image from the original bytes.
  init(original bytes: FetchedBytes, _ info: ImageInfo) {
    (data, format, width, height) = (bytes.data, info.format, info.width, info.height)
    (origin, isStale, status, isOriginal) = (bytes.origin, bytes.isStale, bytes.status, true)
    (source, validity, isRevalidationDue) = (bytes.contentID, bytes.validity, bytes.isRevalidationDue)
    // Only its header was read.
    damage = nil
  }
}

extension DataResponse {
  init(_ bytes: FetchedBytes) {
    (data, origin, isStale, status) = (bytes.data, bytes.origin, bytes.isStale, bytes.status)
    (headers, location) = (bytes.headers, bytes.url)
  }
}

extension ImageResponse {
  /// Creates the response for an image made from bytes, with their origin and staleness.
  init(_ image: LoadedImage, from bytes: FetchedBytes) {
    self.init(image, from: bytes.origin, isStale: bytes.isStale, isRevalidationDue: bytes.isRevalidationDue)
  }
}

/// The bytes from servers that no caller has accepted or rejected yet.
///
/// A load of another size takes them from here while the first load decodes them, and downloads nothing.
final class ArrivedBytes: Sendable {
  private struct Entry {
    weak var commit: PendingCommit?
  }

  private struct State {
    var entries: [LoadKey: Entry] = [:]
    /// The number of entries at which those without an answer are dropped.
    var sweepCount = 16
  }

  private let state = Lock(State())

  func add(_ commit: PendingCommit, for key: LoadKey) {
    // The last reference to an answer must not go under the lock.
    let others = state.withLock { state -> [LoadKey: PendingCommit] in
      let others = state.entries.count < state.sweepCount ? [:] : state.entries.compactMapValues(\.commit)
      if state.entries.count >= state.sweepCount {
        state.entries = others.mapValues { Entry(commit: $0) }
        state.sweepCount = max(16, 2 * others.count)
      }
      state.entries[key] = Entry(commit: commit)
      return others
    }
    withExtendedLifetime(others) {}
  }

  /// Returns the bytes for a key until their first verdict.
  func bytes(for key: LoadKey) -> FetchedBytes? {
    guard let commit = state.withLock({ $0.entries[key]?.commit }) else { return nil }
    return commit.isOpen ? commit.bytes.with(commit) : nil
  }
}

/// The verdict on bytes from a server, which a caller accepts or rejects.
///
/// The first verdict counts. Another caller may still ask to store accepted bytes later.
final class PendingCommit: Sendable {
  typealias Verdict = CacheWriter.Verdict

  private static let (good, bad, kept): (UInt8, UInt8, UInt8) = (1, 2, 3)

  /// The verdict so far; 0 if there is none.
  private let word = Atomic<UInt8>(0)
  private let settle: @Sendable (Verdict) -> Void
  /// The bytes, without this.
  fileprivate let bytes: FetchedBytes

  init(to bytes: FetchedBytes, _ settle: @escaping @Sendable (Verdict) -> Void) {
    (self.bytes, self.settle) = (bytes, settle)
  }

  /// A Boolean value that indicates whether the bytes have yet to be judged.
  var isOpen: Bool { word.load(ordering: .acquiring) == 0 }

  /// Accepts the bytes, and stores them if `keeps` is `true`.
  func accept(keeps: Bool = true) {
    if say(Self.good, after: 0) { settle(.good(isKept: keeps)) }
    if keeps, say(Self.kept, after: Self.good) { settle(.keep) }
  }

  /// Rejects the bytes.
  func reject() {
    if say(Self.bad, after: 0) { settle(.bad) }
  }

  private func say(_ next: UInt8, after last: UInt8) -> Bool {
    word.compareExchange(expected: last, desired: next, ordering: .acquiringAndReleasing).exchanged
  }
}
