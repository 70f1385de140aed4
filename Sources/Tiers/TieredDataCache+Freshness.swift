package import VitrineCaching
import VitrineRuntime

/// Look-ups of expired entries, which another machine may have renewed or replaced.
extension TieredDataCache {
  /// Returns an entry, or a fresher one from a remote tier after `index`.
  func newest(_ entry: CachedData, _ key: CacheKey, after index: Int) async -> CachedData {
    guard let expires = entry.expires, expires <= clock.now else { return entry }
    for (number, place) in places.enumerated().dropFirst(index + 1) {
      guard case .remote(let tier) = place else { continue }
      let reading = changes.begin(key)
      guard let head = await tier.heads(for: [key]).first.flatMap({ $0 }), head.replaces(CachedDataHead(entry)) else {
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
      guard let found = await tier.entry(for: key, isPeeking: false).entry,
        CachedDataHead(found).replaces(CachedDataHead(entry))
      else {
        changes.end(reading)
        continue
      }
      await promote(found, for: key, before: number, reading)
      return found
    }
    return entry
  }

  /// Returns heads, of which expired ones are replaced by fresher ones from remote tiers.
  ///
  /// `near` are the indices of heads from local tiers.
  func newest(_ heads: [CachedDataHead?], _ keys: [CacheKey], _ near: [Int]) async -> [CachedDataHead?] {
    let now = clock.now
    let expired = near.filter { index in heads[index]?.expires.map { $0 <= now } ?? false }
    guard !expired.isEmpty else { return heads }
    var heads = heads
    for case .remote(let tier) in places {
      let found = await tier.heads(for: expired.map { keys[$0] })
      for (index, head) in zip(expired, found) {
        if let head, let near = heads[index], head.replaces(near) { heads[index] = head }
      }
    }
    return heads
  }
}

extension CachedDataHead {
  /// Returns `true` if this head may be served in place of an expired entry of the same key.
  ///
  /// Other content must have been stored later: content that a server has replaced may have had a longer lifetime.
  fileprivate func replaces(_ near: CachedDataHead) -> Bool {
    guard let end = near.expires, expires.map({ $0 > end }) ?? true else { return false }
    return contentID == near.contentID && kind == near.kind || stored > near.stored
  }
}

extension CachedData {
  /// A Boolean value that indicates whether remote tiers do not store the entry.
  var staysHere: Bool { isMachineLocal || isPrivate }
}

/// Renewals that make an entry private.
extension TieredDataCache: TieredDataCaching {
  /// Renews the entry in local tiers, and removes it from remote ones.
  package func renewHere(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async -> Bool {
    changes.beginChange(of: key)
    defer { changes.endChange(of: key) }
    var isRenewed = false
    for place in places.reversed() {
      switch place {
      case .local(let cache, _):
        isRenewed = await cache.renew(key, contentID: contentID, expires: expires, metadata: metadata) || isRenewed
      case .remote(let tier): tier.remove(key, nil)
      }
    }
    return isRenewed
  }
}
