import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// The knowledge about the bytes on disk before a load looks there.
indirect enum StoredOriginal: Sendable {
  case unknown
  case missing
  case entry(CachedData)
  /// The bytes are not stored: this is the head of their response, as an entry without a body, for the revalidation of an
  /// image in memory.
  case head(CachedData)

  var head: CachedData? { if case .head(let head) = self { head } else { nil } }
}

/// All findings for a request, in all places, at one moment.
struct CacheLookup: Sendable {
  /// An image in memory after some of the request's processors.
  struct InMemory: Sendable {
    let image: LoadedImage
    let step: Int
  }

  /// A finished image on disk after some of the request's processors; its pixels have not been read.
  struct Finished: Sendable {
    let key: CacheKey
    let step: Int
    let contentID: ContentID
    /// The validity; `nil` if the metadata cannot be read.
    let validity: Validity?
    /// A Boolean value that indicates whether the image was stored with losses; see ``LoadedImage/isLossy``.
    var isLossy = false
  }

  /// The original on disk, without its bytes.
  struct Original: Sendable {
    let contentID: ContentID
    /// The response with the bytes; `nil` if the metadata cannot be read.
    let stored: StoredResponse?
  }

  /// The image in memory that has been through the most processors.
  var known: InMemory?
  /// A larger unprocessed image in memory.
  var larger: LargerVariant?
  /// The finished images on disk, in descending order of their processors.
  var finished: [Finished] = []
  /// The original on disk.
  var original: Original?
  /// The partial download.
  var partial: Resumption?
  /// The recent failure of the source, for as long as another attempt is not worthwhile.
  var failure: LoadError?
  /// The reason why the URL must not be requested at all.
  var objection: String?
  /// The state of the network.
  var access = NetworkAccess.full

  /// Returns `true` if an image was made from other bytes than the current ones.
  ///
  /// An image that the program stored was made from no bytes.
  func isOrphan(_ image: Finished) -> Bool {
    guard let original, image.contentID != .none else { return false }
    return original.contentID != image.contentID
  }
}

extension CacheLookup.Original {
  init(_ contentID: ContentID, metadata: Data) {
    self.init(contentID: contentID, stored: StoredResponse(encoded: metadata))
  }
}
