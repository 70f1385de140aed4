import VitrineRuntime

extension DiskCache {
  /// Returns what is kept for a key, fresh or not; does not count as use.
  ///
  /// The bytes are read and checked. What is damaged is not dropped: that is for who wants to use it.
  public func peek(_ key: CacheKey) async -> CachedData? {
    let hash = await hash(of: key)
    let now = clock.now.timeIntervalSinceReferenceDate
    // A compaction may move the record in between; then it is there at the second look.
    for _ in 0..<3 {
      let (view, entry, segment, renewalSegment) = shared.withLock { state in
        let entry = state.index[hash]
        return (
          state.staged[hash], entry, entry.flatMap { state.segments[$0.segment] },
          entry.flatMap { state.segments[$0.renewalSegment] },
        )
      }
      switch view?.content {
      case .entry(let stagedKey, let data): return stagedKey == key && !isOver(data.stored, now) ? data : nil
      case .removed: return nil
      case .renewal, nil: break
      }
      guard let entry, let segment, !isOver(Date(timeIntervalSinceReferenceDate: entry.stored), now) else { return nil }
      let folder = folder
      let answer = try? await reading.run(priority: .high) { _ in
        ReadAnswer(found: folder.entry(entry, hash: hash, in: segment, renewalIn: renewalSegment))
      }
      // Cancelled, or no thread to be had.
      guard let answer else { return nil }
      guard let read = answer.found else {
        guard isOutdated(entry, hash) else { return nil }
        continue
      }
      guard key.hasBytes(read.key) else { return nil }
      var data = read.data
      if case .renewal(_, let expires, let metadata) = view?.content {
        data.expires = expires == .infinity ? nil : Date(timeIntervalSinceReferenceDate: expires)
        data.metadata = metadata
      }
      return data
    }
    return nil
  }
}
