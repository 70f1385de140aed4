/// The operations that are not written yet.
///
/// Replaced and dropped entries are returned instead of released: the lock is held, and releasing the last reference to
/// bytes may run any code.
extension DiskState {
  mutating func stage(_ operation: StagedOperation, _ view: StagedView) -> StagedView? {
    queue.append(operation)
    stagedBytes += operation.byteCount
    return staged.updateValue(view, forKey: operation.hash)
  }

  /// Takes the next operations to write, up to `limit` bytes, and separately the operations that a later one has made
  /// void.
  mutating func takeBatch(upTo limit: Int) -> (batch: [StagedOperation], void: [StagedOperation]) {
    var batch: [StagedOperation] = []
    var void: [StagedOperation] = []
    var bytes = 0
    while bytes < limit, let operation = takeFirst() {
      if case .put = operation.operation, staged[operation.hash]?.entrySequence != operation.sequence {
        stagedBytes -= operation.byteCount
        void.append(operation)
        continue
      }
      bytes += operation.byteCount
      batch.append(operation)
    }
    return (batch, void)
  }

  private mutating func takeFirst() -> StagedOperation? {
    guard queueStart < queue.count else { return nil }
    // Moved out, so that the queue holds no bytes of it.
    var operation = StagedOperation(hash: queue[queueStart].hash, sequence: 0, operation: .remove)
    swap(&operation, &queue[queueStart])
    queueStart += 1
    if queueStart == queue.count {
      queue.removeAll(keepingCapacity: queue.count < 1024)
      queueStart = 0
    } else if queueStart > max(1024, queue.count / 2) {
      queue.removeFirst(queueStart)
      queueStart = 0
    }
    return operation
  }

  mutating func unstage(_ operation: StagedOperation) -> StagedView? {
    // A streamed entry has not been staged.
    if operation.body == nil { stagedBytes -= operation.byteCount }
    guard staged[operation.hash]?.sequence == operation.sequence else { return nil }
    return staged.removeValue(forKey: operation.hash)
  }

  /// Drops the oldest staged operations, for a cache that may not write.
  mutating func forgetOldestStaged(over limit: Int) -> [(StagedOperation, StagedView?)] {
    var forgotten: [(StagedOperation, StagedView?)] = []
    while stagedBytes > limit, let operation = takeFirst() { forgotten.append((operation, unstage(operation))) }
    return forgotten
  }
}
