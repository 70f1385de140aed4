package import VitrineCaching
package import VitrineImaging
import VitrineRuntime

/// A form of a URL's picture in the disk cache: the original, an image after decoding and processing, or a file of such
/// an image.
package struct StoredForm: Sendable {
  /// The entry of the cache.
  package let entry: DataCacheEntry
  /// The size in pixels; `nil` for an original, and for an entry whose head is damaged.
  package private(set) var size: Explanation.Size?
  /// The format of an encoded image; `nil` for other forms.
  package private(set) var format: ImageFormat?
  /// A Boolean value that indicates whether the entry was stored under other header fields than the request's, by which
  /// another request finds it.
  package let isForOtherFields: Bool
  /// A Boolean value that indicates whether the entry was made of other bytes than the original has.
  package let isOrphan: Bool

  fileprivate init(_ entry: DataCacheEntry, _ head: CachedDataHead?, of keys: RequestKeys, original: ContentID?) {
    self.entry = entry
    isForOtherFields = entry.key != keys.fetch && !entry.key.isExtension(of: keys.images)
    isOrphan =
      entry.kind == .finished && !isForOtherFields && original != nil && head != nil && head?.contentID != original
    guard entry.kind == .finished, let head else { return }
    if let header = FinishedImage.Header(encoded: head.metadata) {
      size = Explanation.Size(width: header.width, height: header.height)
    } else if let header = EncodedImage.Header(encoded: head.metadata) {
      (size, format) = (Explanation.Size(width: header.width, height: header.height), header.format)
    }
  }
}

extension ImagePipeline {
  /// Returns all entries of the disk cache that were made of a request's source, in any size, the original first.
  ///
  /// Nothing counts as used. Complexity: O(n) in the entries of the cache.
  package func storedForms(of request: ImageRequest) async -> [StoredForm] {
    let request = context.prepared(request)
    guard let disk = context.disk(for: request, .diskReads) else { return [] }
    let keys = request.keys
    let entries = await disk.entries().filter { $0.key == keys.plain || $0.key.isExtension(of: keys.plain) }
      .sorted { ($0.kind == .original ? 0 : 1, $0.stored) < ($1.kind == .original ? 0 : 1, $1.stored) }
    let heads = await disk.heads(for: entries.map(\.key))
    // A custom cache may return too few heads, which say nothing.
    guard heads.count == entries.count else { return [] }
    let original = zip(entries, heads).first { $0.0.key == keys.fetch }?.1?.contentID
    return zip(entries, heads).map { StoredForm($0, $1, of: keys, original: original) }
  }
}
