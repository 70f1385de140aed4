package import VitrineRuntime

/// Keeps what has come of a body whose download was broken off, for a later one to go on from it.
///
/// ```swift
/// if let partial = await cache.partial(for: key) {
///   // Range: bytes=partial.count-, If-Range: the validator in partial.metadata
///   // 206: go on; 200 or 416: start over, with no partial.
/// }
/// let writer = await cache.partialWriter(for: key, metadata: validators, after: partial)
/// ```
///
/// Who writes ends with ``BodyWriter/seal(kind:metadata:contentID:expires:stored:)`` when the body is whole, with
/// ``BodyWriter/keep()`` when the connection broke, and with ``BodyWriter/drop()`` when it turned out to be of no use.
package protocol PartialStoring: DataCaching {
  /// Returns what has come of a body, checked against its checksums; `nil` if there is nothing, or somebody goes on with
  /// it just now.
  func partial(for key: CacheKey) async -> PartialBody?

  /// Begins a body that may outlive its download.
  ///
  /// - Parameters:
  ///   - key: The key that it is to be kept for.
  ///   - metadata: What ``PartialBody/metadata`` is to say; that of `partial` stays.
  ///   - partial: What to go on from; from nothing if `nil`, and then an older part of the key's body is dropped.
  /// - Returns: The writer; `nil` if `partial` is not there any more or somebody else goes on from it.
  func partialWriter(for key: CacheKey, metadata: Data, after partial: PartialBody?) async -> BodyWriter?

  /// Drops what has come of a body, unless somebody goes on with it.
  func removePartial(for key: CacheKey) async
}

extension DiskCache: PartialStoring {
  /// Begins a body whose length need not be known.
  ///
  /// Nothing is written before 256 KB of it have come.
  public func bodyWriter(for key: CacheKey) async -> BodyWriter {
    let hash = await hash(of: key)
    return BodyWriter(self, key, hash, StreamedBody(key, hash, isPartial: false, metadata: Data()), hasStarted: false)
  }

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
    // Cancelled, or no thread to be had.
    guard let partial = answer?.first else { return nil }
    // Nothing of it is whole.
    if partial == nil { await removePartial(for: key) }
    return partial
  }

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
      state.streamed[partial.number]?.isOpen = true
      return true
    }
    guard isMine else { return nil }
    guard await onWriter({ $0.goOn(with: stream, after: partial) }) == true else { return nil }
    return BodyWriter(self, key, hash, stream, hasStarted: true)
  }

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
