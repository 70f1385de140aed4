/// What was asked for and is not written yet.
///
/// What is replaced or dropped is returned and not released: the lock is held, and the last reference to somebody's bytes may
/// run anybody's code.
extension DiskState {
  mutating func stage(_ operation: StagedOperation, _ view: StagedView) -> StagedView? {
    queue.append(operation)
    stagedBytes += operation.byteCount
    return staged.updateValue(view, forKey: operation.hash)
  }

  /// Takes the next operations to be written, up to some bytes, and apart from them those that a later one makes void.
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
    // Moved out, so that what remains in the queue holds nobody's bytes.
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
    stagedBytes -= operation.byteCount
    guard staged[operation.hash]?.sequence == operation.sequence else { return nil }
    return staged.removeValue(forKey: operation.hash)
  }

  /// For a cache that may not write: what it stored first goes first.
  mutating func forgetOldestStaged(over limit: Int) -> [(StagedOperation, StagedView?)] {
    var forgotten: [(StagedOperation, StagedView?)] = []
    while stagedBytes > limit, let operation = takeFirst() { forgotten.append((operation, unstage(operation))) }
    return forgotten
  }
}
