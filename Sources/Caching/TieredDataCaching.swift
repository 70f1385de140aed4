import VitrineRuntime

/// A cache that consists of caches on this machine and others, such as `TieredDataCache` of VitrineTiers.
package protocol TieredDataCaching: DataCaching {
  /// The cache that stores partial bodies; `nil` if none does.
  var partialStoring: DiskCache? { get }

  /// Renews an entry on this machine, and removes it from the others.
  func renewHere(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async -> Bool
}

extension DataCaching {
  /// Renews an entry as ``renew(_:contentID:expires:metadata:)`` does; other machines drop an entry that has become
  /// private.
  @discardableResult
  package func renew(
    _ key: CacheKey,
    contentID: ContentID,
    expires: Date?,
    metadata: Data,
    isPrivate: Bool,
  ) async -> Bool {
    guard isPrivate, let tiers = self as? any TieredDataCaching else {
      return await renew(key, contentID: contentID, expires: expires, metadata: metadata)
    }
    return await tiers.renewHere(key, contentID: contentID, expires: expires, metadata: metadata)
  }
}
