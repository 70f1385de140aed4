import VitrineCaching

/// What a request has to do with the caches that there are.
extension JobContext {
  /// What it says; a cache that is not there keeps no two requests apart.
  func caches(of request: ImageRequest) -> CacheUse {
    var caches = request.caches
    if memoryCache == nil { caches.formUnion(.memory) }
    if diskCache == nil { caches.formUnion(.disk) }
    return caches
  }

  /// The memory cache, if the request uses it so.
  func memory(for request: ImageRequest, _ use: CacheUse) -> MemoryCache<CachedImage>? {
    request.keepsEncodedData || !request.caches.contains(use) ? nil : memoryCache
  }

  /// The cache of bytes, if the request uses it so.
  func disk(for request: ImageRequest, _ use: CacheUse) -> (any DataCaching)? {
    request.caches.contains(use) ? diskCache : nil
  }

  /// Drops what was made of other bytes than those that have just come and are kept nowhere; else it would go on being served.
  func dropOutdated(_ request: ImageRequest, by contentID: ContentID) {
    guard let diskCache else { return }
    let keys = request.keys
    pendingWrites.add(for: keys.fetch) {
      guard let old = await diskCache.contentID(for: keys.fetch), old != contentID else { return }
      await diskCache.remove(keys.fetch)
      // Without the bytes nothing would tell that these are out of date.
      await diskCache.removeAll(extending: keys.images)
    }
  }

  /// The same for an image as it is shown, where its bytes are not there.
  func dropOutdatedFinished(_ request: ImageRequest, by contentID: ContentID) {
    guard let diskCache, request.isChanged, contentID != .none else { return }
    let key = request.keys.image
    pendingWrites.add(for: key) {
      guard let old = await diskCache.contentID(for: key), old != contentID else { return }
      await diskCache.remove(key)
    }
  }
}
