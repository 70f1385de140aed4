import VitrineRuntime

/// Passes rows on to another taker on a thread of its own, so that a decoder and the work on its rows have a core each.
///
/// Rows travel in chunks, and the decoder waits while two are on their way. The thread begins with the first full chunk;
/// where the system refuses one, the rows are passed on at once.
package final class RowRelay<Taker: RowTaking & SendableMetatype>: RowTaking, @unchecked Sendable {
  // Sendable, because `monitor` guards what the two threads share, and only one of them uses the taker and the chunk:
  // `taker` is the decoder's until the thread starts, the thread's until it is over, and then the decoder's again.
  // `rowLength` is set before the thread starts; the other variables are always the decoder's.

  private struct State {
    /// The full chunks, in order.
    var full: [[UInt8]] = []
    /// Chunks to be filled again.
    var spare: [[UInt8]] = []
    /// True if no further chunk comes.
    var isComplete = false
    var isCancelled = false
    /// True if the thread no longer uses the taker.
    var isOver = false
    var failure: ImageError?
  }

  /// The number of full chunks for which the decoder does not wait.
  private static var queueLimit: Int { 2 }
  /// The size of a chunk, in bytes; at least one row.
  private static var chunkSize: Int { 1 << 20 }
  /// The bytes that a relay holds, besides its taker.
  package static var byteCount: Int { (queueLimit + 2) * chunkSize }

  /// The receiver of the rows; use it only after ``finish()``.
  package private(set) var taker: Taker
  private let niceness: CInt
  private let hasThread: Bool
  private let monitor = Monitor(State())
  private var chunk: [UInt8] = []
  private var rowLength = 0
  private var isRunning = false

  /// Creates a relay.
  ///
  /// - Parameters:
  ///   - taker: The receiver of the rows.
  ///   - niceness: How much the thread yields to others; see `startThread`.
  ///   - hasThread: A Boolean value that indicates whether rows may be passed on by another thread.
  package init(_ taker: Taker, niceness: CInt, hasThread: Bool) {
    (self.taker, self.niceness, self.hasThread) = (taker, niceness, hasThread)
  }

  package func begin(_ head: RowHead) throws(ImageError) { try taker.begin(head) }

  package func take(_ row: UnsafeRawBufferPointer) throws(ImageError) {
    guard hasThread else { return try unsafe taker.take(row) }
    if chunk.count + row.count > max(Self.chunkSize, row.count) { try passOn() }
    if rowLength == 0 { rowLength = row.count }
    if chunk.isEmpty { chunk.reserveCapacity(max(Self.chunkSize, row.count)) }
    // Copies the bytes; the row is the decoder's memory.
    unsafe chunk.append(contentsOf: row)
  }

  /// Waits until the taker has all rows.
  ///
  /// - Throws: The error of the taker.
  package func finish() throws(ImageError) {
    guard isRunning else { return try deliver(chunk) }
    try passOn()
    monitor.withLock { $0.isComplete = true }
    monitor.broadcast()
    try waitForEnd()
  }

  /// Waits until the taker is no longer used; rows that it does not have yet are dropped.
  package func cancel() {
    guard isRunning else { return }
    monitor.withLock { ($0.isComplete, $0.isCancelled) = (true, true) }
    monitor.broadcast()
    try? waitForEnd()
  }

  private func waitForEnd() throws(ImageError) {
    let failure = monitor.wait { state -> MonitorStep<ImageError?> in state.isOver ? .leave(state.failure) : .wait }
    isRunning = false
    chunk = []
    if let failure { throw failure }
  }

  // MARK: The decoder's side

  /// Passes the chunk to the thread, and starts that for the first one.
  private func passOn() throws(ImageError) {
    if !isRunning {
      isRunning = startThread(named: "pyramid", niceness: niceness) { [self] in run() }
      guard isRunning else {
        try deliver(chunk)
        chunk.removeAll(keepingCapacity: true)
        return
      }
    }
    let filled = chunk
    chunk = []
    let (next, failure) = monitor.wait { state -> MonitorStep<([UInt8], ImageError?)> in
      if let failure = state.failure { return .leave(([], failure)) }
      guard state.full.count < Self.queueLimit else { return .wait }
      state.full.append(filled)
      return .leave((state.spare.popLast() ?? [], nil))
    }
    monitor.broadcast()
    if let failure { throw failure }
    chunk = next
  }

  // MARK: The thread's side

  private func run() {
    while var chunk = next() {
      do throws(ImageError) {
        try deliver(chunk)
      } catch {
        monitor.withLock { $0.failure = error }
        break
      }
      chunk.removeAll(keepingCapacity: true)
      let emptied = chunk
      monitor.withLock { $0.spare.append(emptied) }
    }
    monitor.withLock { state in
      state.isOver = true
      (state.full, state.spare) = ([], [])
    }
    monitor.broadcast()
  }

  private func next() -> [UInt8]? {
    let chunk = monitor.wait { state -> MonitorStep<[UInt8]?> in
      if state.isCancelled { return .leave(nil) }
      guard state.full.isEmpty else { return .leave(state.full.removeFirst()) }
      return state.isComplete ? .leave(nil) : .wait
    }
    // There is room for another one.
    monitor.broadcast()
    return chunk
  }

  private func deliver(_ chunk: [UInt8]) throws(ImageError) {
    guard rowLength > 0 else { return }
    let result = unsafe chunk.withUnsafeBytes { bytes -> Result<Void, ImageError> in
      do throws(ImageError) {
        for start in stride(from: 0, to: bytes.count, by: rowLength) {
          // The slice checks the bounds.
          try unsafe taker.take(UnsafeRawBufferPointer(rebasing: bytes[start..<start + rowLength]))
        }
        return .success(())
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }
}
