import VitrineRuntime

/// Writes data to the device, and afterwards does the work that relies on it.
extension DiskWriter {
  func syncIfDue() {
    guard !isSyncScheduled else { return }
    isSyncScheduled = true
    // The timer does not keep the writer alive.
    clock.schedule(after: options.syncInterval) { [weak self, writing] in
      _ = try? writing.enqueue(priority: .low) { [weak self] _ in self?.syncBeside() }
    }
  }

  /// Syncs the names in the folder if any has changed.
  func syncNames() throws(FileError) {
    guard nameChanges.synced < nameChanges.all else { return }
    try folder.files.syncFolder(folder.path)
    nameChanges.synced = nameChanges.all
  }

  /// Syncs everything that is written, with one sync per file.
  func sync() throws(FileError) {
    isSyncScheduled = false
    // A deleted folder has nothing left to sync.
    if lockFile?.isDeleted != false { return }
    repeat {
      for (id, (file, _)) in unsynced {
        try file.sync()
        unsynced[id] = nil
      }
      try syncNames()
    } while try settle(upTo: owedMoves.count, shared.withLock { $0.replacedBodies })
  }

  /// Does the work that waited for a sync, and returns `true` if it wrote further records.
  private func settle(upTo moves: Int, _ bodies: [UInt64]) throws(FileError) -> Bool {
    if !bodies.isEmpty {
      let replaced = Set(bodies)
      shared.withLock { state in
        guard state.epoch == epoch else { return }
        state.replacedBodies.removeAll { replaced.contains($0) }
        state.doomed.bodies += bodies
      }
      removeDoomed()
    }
    let due = owedMoves.prefix(moves)
    owedMoves.removeFirst(due.count)
    for move in due { try appendRemoval(of: move.hash, sequence: move.sequence, lane: move.lane) }
    try flushLanes()
    return !due.isEmpty
  }

  /// Syncs all data written so far, while further data is written.
  private func syncBeside() {
    isSyncScheduled = false
    guard write(), lockFile?.isDeleted == false else { return }
    let (files, names, folder) = (unsynced, nameChanges, folder)
    let (moves, replaced, epoch) = (owedMoves.count, shared.withLock { $0.replacedBodies }, epoch)
    let index = isIndexOutdated ? encodeIndex() : nil
    let isEnqueued = try? syncing.enqueue { [self] _ in
      let result = Result { () throws(FileError) in
        for (file, _) in files.values { try file.sync() }
        if names.synced < names.all { try folder.files.syncFolder(folder.path) }
      }
      _ = try? writing.enqueue { [self] _ in
        // Everything was removed meanwhile, or the folder may already belong to another cache.
        guard epoch == self.epoch, lockFile != nil else { return }
        // Data written since then is not synced yet.
        for (id, synced) in files where unsynced[id]?.writes == synced.writes { unsynced[id] = nil }
        do throws(FileError) {
          try result.get()
          nameChanges.synced = max(nameChanges.synced, names.all)
          if try settle(upTo: min(moves, owedMoves.count), replaced) { syncIfDue() }
          if let index { try replaceIndex(index) }
        } catch {
          fail([], error)
        }
      }
    }
    if isEnqueued == nil { flush() }
  }

  /// Writes staged operations and uses, and syncs everything.
  func flush() {
    guard write() else { return }
    do throws(FileError) {
      try sync()
      if isIndexOutdated { try writeIndex() }
    } catch {
      fail([], error)
    }
  }

  /// Writes staged operations and uses, and returns `true` if there is something to sync.
  private func write() -> Bool {
    drain()
    guard shared.withLock({ $0.phase == .open && !$0.isReader && $0.retryUptime == nil }) else { return false }
    do throws(FileError) {
      // Without the removal, an entry found damaged would return at the next opening.
      let owed = shared.withLock { $0.owedRemovals }
      for (hash, sequence) in owed { try appendRemoval(of: hash, sequence: sequence) }
      try appendUses()
      try flushLanes()
      shared.withLock { state in
        for (hash, sequence) in owed where state.owedRemovals[hash] == sequence { state.owedRemovals[hash] = nil }
      }
      return true
    } catch {
      fail([], error)
      return false
    }
  }

  // MARK: - The index

  /// Writes the index file.
  ///
  /// Its entries must have reached the device, since the index is trusted over the segments.
  func writeIndex() throws(FileError) {
    if let index = encodeIndex() { try replaceIndex(index) }
  }

  private func encodeIndex() -> [UInt8]? {
    isIndexOutdated = false
    let state = shared.withLock { $0.forIndexFile }
    return state.epoch == epoch && state.owedRemovals.isEmpty ? IndexFile.encode(state) : nil
  }

  private func replaceIndex(_ bytes: [UInt8]) throws(FileError) {
    guard lockFile != nil, shared.withLock({ $0.epoch == epoch }) else { return }
    try folder.replace("index", bytes)
    shared.withLock { $0.indexFileSize = bytes.count }
  }
}
