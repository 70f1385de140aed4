import VitrineRuntime

/// Streamed bodies, and partial bodies of broken downloads, for later downloads to resume.
///
/// ```swift
/// if let partial = await cache.partial(for: key) {
///   // Range: bytes=partial.count-, If-Range: the validator in partial.metadata
///   // 206: go on; 200 or 416: start over, with no partial.
/// }
/// let writer = await cache.partialWriter(for: key, metadata: validators, after: partial)
/// ```
///
/// A writer ends with ``BodyWriter/seal(kind:metadata:contentID:expires:stored:)`` if the body is complete, with
/// ``BodyWriter/keep()`` if the connection broke, and with ``BodyWriter/drop()`` if the bytes are useless.
extension DiskCache {
  /// Creates a writer for a body whose length need not be known.
  ///
  /// The first 256 KB are held in memory before a file is created.
  public func bodyWriter(for key: CacheKey) async -> BodyWriter {
    let hash = await hash(of: key)
    return BodyWriter(self, key, hash, StreamedBody(key, hash, isPartial: false, metadata: Data()), hasStarted: false)
  }

  /// Returns a partial body, verified against its checksums.
  ///
  /// Returns `nil` if there is none, or a writer is appending to it.
  package func partial(for key: CacheKey) async -> PartialBody? {
    let hash = await hash(of: key)
    let oldest = clock.now.timeIntervalSinceReferenceDate - DiskOptions.partialLifetime
    let found = shared.withLock { state -> (number: UInt64, epoch: Int)? in
      guard let number = state.partials[hash], let file = state.streamed[number] else { return nil }
      return file.changed > oldest ? (number, state.epoch) : nil
    }
    guard let found else { return nil }
    let (folder, reading) = (folder, reading)
    let answer = try? await reading.run { _ in
      [folder.partial(found.number, key: key, epoch: found.epoch, reading: reading)]
    }
    // The task was cancelled, or no thread was available.
    guard let partial = answer?.first else { return nil }
    // No checkpoint matched, so the whole body is unusable.
    if partial == nil { await removePartial(for: key) }
    return partial
  }

  /// Creates a writer for a body that may outlive its download.
  ///
  /// - Parameters:
  ///   - key: The key to store the body under.
  ///   - metadata: The ``PartialBody/metadata`` of a new body. A resumed one keeps its own.
  ///   - partial: The partial body to resume. `nil` begins from nothing and drops an older partial body of the key.
  /// - Returns: The writer, or `nil` if `partial` is gone or another writer has resumed it.
  package func partialWriter(
    for key: CacheKey,
    metadata: Data,
    after partial: PartialBody?,
  ) async -> BodyWriter? {
    let hash = await hash(of: key)
    let stream = StreamedBody(key, hash, isPartial: true, metadata: metadata)
    guard let partial else {
      await removePartial(for: key)
      return BodyWriter(self, key, hash, stream, hasStarted: false)
    }
    guard partial.hash == hash, !isReadOnly else { return nil }
    let isMine = shared.withLock { state in
      guard state.epoch == partial.epoch, state.partials[hash] == partial.number else { return false }
      state.partials[hash] = nil
      return true
    }
    guard isMine else { return nil }
    guard await onWriter({ $0.goOn(with: stream, after: partial) }) == true else { return nil }
    return BodyWriter(self, key, hash, stream, hasStarted: true)
  }

  /// Drops a partial body, unless a writer is appending to it.
  package func removePartial(for key: CacheKey) async {
    let hash = await hash(of: key)
    let isThere = shared.withLock { state in
      guard let number = state.partials[hash] else { return false }
      state.doomPartial(number)
      return true
    }
    guard isThere, !isReadOnly else { return }
    await onWriter { $0.removeDoomed() }
  }
}
