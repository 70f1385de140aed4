import VitrineRuntime

/// Entries that have expired here, and may have been renewed or replaced by another machine.
extension TieredDataCache {
  /// Returns an entry, or a fresher one of a remote tier behind the one that had it.
  func newest(_ entry: CachedData, _ key: CacheKey, after index: Int) async -> CachedData {
    guard let expires = entry.expires, expires <= clock.now else { return entry }
    for (number, place) in places.enumerated().dropFirst(index + 1) {
      guard case .remote(let tier) = place else { continue }
      let reading = changes.begin(key)
      guard let head = await tier.heads(for: [key]).first.flatMap({ $0 }), head.isFresher(than: expires) else {
        changes.end(reading)
        continue
      }
      if head.contentID == entry.contentID, head.kind == entry.kind {
        let isCurrent = changes.end(reading)
        var renewed = entry
        (renewed.expires, renewed.metadata) = (head.expires, head.metadata)
        for case .local(let cache, _) in places[..<number] where isCurrent {
          await cache.renew(key, contentID: head.contentID, expires: head.expires, metadata: head.metadata)
        }
        return renewed
      }
      guard let found = await tier.entry(for: key, isPeeking: false), found.isFresher(than: expires) else {
        changes.end(reading)
        continue
      }
      await promote(found, for: key, before: number, reading)
      return found
    }
    return entry
  }

  /// Returns heads, with those that have expired replaced by fresher ones of remote tiers.
  ///
  /// `near` are the numbers of those that are of local tiers.
  func newest(_ heads: [CachedDataHead?], _ keys: [CacheKey], _ near: [Int]) async -> [CachedDataHead?] {
    let now = clock.now
    let expired = near.filter { index in heads[index]?.expires.map { $0 <= now } ?? false }
    guard !expired.isEmpty else { return heads }
    var heads = heads
    for case .remote(let tier) in places {
      let found = await tier.heads(for: expired.map { keys[$0] })
      for (index, head) in zip(expired, found) {
        if let head, let expires = heads[index]?.expires, head.isFresher(than: expires) { heads[index] = head }
      }
    }
    return heads
  }
}

extension CachedDataHead {
  fileprivate func isFresher(than expires: Date) -> Bool { self.expires.map { $0 > expires } ?? true }
}

extension CachedData {
  fileprivate func isFresher(than expires: Date) -> Bool { self.expires.map { $0 > expires } ?? true }
}
