import VitrineRuntime

/// Writes blocks as records: the DC coefficient times 2, plus 1 if the sums of the block follow.
///
/// A record becomes cells once the DC coefficients before it are known.
struct RecordOutput: BlockOutput {
  /// Beyond it no difference to the true coefficient makes it one of 16 bits; twice it fits in 32 bits.
  static var limit: Int { 1 << 28 }

  let words: MutableElements<Int32>
  var next: Int

  @inline(__always)
  mutating func store(_ dc: Int, _ plan: BlockPlan) {
    words[next] = Int32(truncatingIfNeeded: dc &<< 1)
    next &+= 1
  }

  @inline(__always)
  mutating func store(_ dc: Int, sums: Elements<Int32>, _ plan: BlockPlan) {
    words[next] = Int32(truncatingIfNeeded: dc &<< 1 | 1)
    let end = next &+ 1 &+ plan.sumCount
    words.extracting(next &+ 1..<end).update(from: sums.extracting(0..<plan.sumCount))
    next = end
  }

  @inline(__always)
  mutating func endUnit() {}
}

/// Units of the second half of a scan, decoded on a thread of their own before it is known which units they are.
///
/// Codes that are read from anywhere in a scan are soon the right ones: after 37 to 200 bytes in the median, and 1.5 KB
/// at most, in photographs (self-synchronization: Klein and Wiseman, "Parallel Huffman Decoding with Applications to
/// JPEG Files", The Computer Journal 46, 2003). So the starts of the first units are noted. Once the first half arrives
/// at one of them, all units from there are right, but for the DC coefficients, which differ by the same number
/// throughout. Where a scan has restart markers, decoding begins at one, and there is no difference.
final class LaterUnits: @unchecked Sendable {
  // Sendable, because `monitor` guards what the two threads share. `lane` is the thread's once it has started, and
  // `notes`, `current`, `noted` and `correction` are always the other's. `bytes` are only read.

  /// The start of a unit: a number of bits from the first, and the DC coefficients before it.
  private struct Note {
    let offset: Int
    let predicted: SIMD4<Int>
  }

  /// Some units, one after another; written by one thread, and then read by the other.
  private final class Chunk: @unchecked Sendable {
    // Sendable, because it is passed on through `monitor`, and only one thread has it at a time.
    private let memory: OwnedElements<Int32>
    /// The place of the next unit.
    var next = 0
    var count = 0

    init(capacity: Int) { memory = OwnedElements(repeating: 0, count: capacity) }

    var words: MutableElements<Int32> { memory.elements }
  }

  private struct State {
    /// The chunks that have not been taken.
    var chunks: [Chunk] = []
    /// `nil` until the first units have been found.
    var notes: [Note]?
    var hasBegun = false
    var isCancelled = false
    /// True if the thread no longer uses anything.
    var isOver = false
  }

  /// The units of a chunk.
  private static let chunkLength = 256
  /// The bytes of chunks that may wait.
  private static let memoryLimit = 8 << 20
  /// The starts that are noted: a number of units, and of bits from the first.
  private static let (noteLimit, noteSpan) = (1024, 8 * 4096)
  /// The bits at which the first unit may turn out not to begin.
  private static let attemptLimit = 64

  /// The position in the file of the first byte.
  let start: Int
  private let plan: UnitPlan
  private let lane: UnitLane
  private let hasRestarts: Bool
  private let monitor = Monitor(State())
  private var notes: [Note]?
  private var noted = 0
  private var current: Chunk?
  /// The difference between the true DC coefficients and those of the records; `nil` until the first half has arrived.
  private var correction: SIMD4<Int>?

  /// True if the next units are those of ``take(_:into:)``.
  var isJoined: Bool { correction != nil }

  /// Starts the thread; ``end()`` must be called.
  ///
  /// The first half waits for the thread to begin if `isAwaited`, for tests. Otherwise it does without one that is late.
  /// Returns `nil` if nothing in the scan shows where units begin, or if there is no thread. `bytes` must outlive the
  /// call of ``end()``.
  init?(_ bytes: Elements<UInt8>, _ scan: JPEGScan, _ plan: UnitPlan, isAwaited: Bool) {
    guard plan.showsPhase || scan.restartInterval > 0 else { return nil }
    var start = scan.data.lowerBound + scan.data.count / 2
    var restarts = 0
    if scan.restartInterval > 0 {
      guard let found = Self.restart(bytes, start..<scan.data.upperBound) else { return nil }
      start = found
      restarts = Int(bytes[found - 1] & 7) + 1
    } else {
      // Not at a byte that was stuffed in. A scan has a header before its data.
      while start < scan.data.upperBound, bytes[start - 1] == 0xFF { start += 1 }
    }
    self.start = start
    self.plan = plan
    hasRestarts = scan.restartInterval > 0
    let data = start..<scan.data.upperBound
    lane = UnitLane(bytes, data, restartInterval: scan.restartInterval, restarts: restarts)
    guard startThread(named: "jpeg", { [self] in run() }) else { return nil }
    if isAwaited { monitor.wait { $0.hasBegun ? .leave(()) : .wait } }
  }

  /// Returns the position after the first restart marker.
  private static func restart(_ bytes: Elements<UInt8>, _ range: Range<Int>) -> Int? {
    var position = range.lowerBound
    while position + 1 < range.upperBound,
      let found = bytes.firstIndex(of: 0xFF, in: position..<range.upperBound - 1)
    {
      position = found + 1
      if 0xD0...0xD7 ~= bytes[position] { return position + 1 }
    }
    return nil
  }

  /// Stops the thread, and waits until it no longer uses the bytes.
  func end() {
    monitor.withLock { $0.isCancelled = true }
    monitor.broadcast()
    monitor.wait { state in state.isOver ? .leave(()) : .wait }
  }

  // MARK: The thread's side

  private func run() {
    let goesOn = monitor.withLock { state in
      state.hasBegun = true
      return !state.isCancelled
    }
    monitor.broadcast()
    if goesOn {
      let (notes, chunks) = hasRestarts ? ([], []) : findUnits()
      var isComplete = !hasRestarts && notes.isEmpty
      monitor.withLock { state in
        state.notes = notes
        state.chunks = chunks
      }
      monitor.broadcast()
      while !isComplete, isWanted() {
        let chunk = Chunk(capacity: capacity)
        isComplete = !decode(Self.chunkLength, into: chunk)
        monitor.withLock { $0.chunks.append(chunk) }
        monitor.broadcast()
      }
    }
    monitor.withLock { $0.isOver = true }
    monitor.broadcast()
  }

  private var capacity: Int { Self.chunkLength * plan.recordCapacity }

  /// Waits until there is room for a further chunk; returns `false` if none is wanted.
  private func isWanted() -> Bool {
    let limit = max(8, Self.memoryLimit / (capacity * 4))
    return monitor.wait { state in
      if state.isCancelled { return .leave(false) }
      return state.chunks.count < limit ? .leave(true) : .wait
    }
  }

  /// Decodes and notes the first units, beginning again one bit later where they are none.
  private func findUnits() -> ([Note], [Chunk]) {
    for _ in 0..<Self.attemptLimit {
      var notes: [Note] = []
      var chunks: [Chunk] = []
      var isGood = true
      while isGood, notes.count < Self.noteLimit,
        (notes.last?.offset ?? 0) < (notes.first?.offset ?? 0) + Self.noteSpan
      {
        notes.append(Note(offset: lane.reader.offset(of: lane.cursor), predicted: lane.predicted))
        if notes.count % Self.chunkLength == 1 { chunks.append(Chunk(capacity: capacity)) }
        isGood = decode(1, into: chunks[chunks.count - 1])
      }
      if isGood { return (notes, chunks) }
      guard !lane.reader.isAtMarker else { break }
      lane.predicted = SIMD4()
      lane.sums.entries.clear()
      lane.cursor.refill()
      lane.cursor.drop(1)
    }
    return ([], [])
  }

  /// Decodes further units into a chunk that has room for them.
  ///
  /// Returns `false` if the data are damaged or end; the chunk has the units before that.
  private func decode(_ units: Int, into chunk: Chunk) -> Bool {
    var left = units
    while left > 0 {
      guard lane.passRestart() != nil else { return false }
      let count = min(left, lane.unitsBeforeRestart)
      var output = RecordOutput(words: chunk.words, next: chunk.next)
      let got = plan.decode(count, lane, &output)
      chunk.next = output.next
      chunk.count += got
      lane.count(got)
      guard got == count else { return false }
      left -= count
    }
    return true
  }

  // MARK: The side of the first half

  /// Joins the first half if it has arrived at a unit of these.
  ///
  /// Returns `false` if that will not happen: these units are of no use.
  func join(_ first: UnitLane, isBehindRestart: Bool) -> Bool {
    if hasRestarts {
      guard first.reader.startPosition >= start else { return true }
      guard isBehindRestart, first.reader.startPosition == start, hasBegun else { return false }
      correction = SIMD4()
      return true
    }
    guard let origin = first.reader.markOffset else { return true }
    let offset = first.reader.offset(of: first.cursor) - origin
    guard offset >= 0 else { return true }
    guard let notes = notes ?? waitForNotes() else { return false }
    self.notes = notes
    while noted < notes.count, notes[noted].offset < offset { noted += 1 }
    guard noted < notes.count else { return false }
    guard notes[noted].offset == offset else { return true }
    correction = first.predicted &- notes[noted].predicted
    for _ in 0..<noted {
      guard let chunk = nextRecord() else { return false }
      // A record has a block's words for each block of the plan, as `RecordOutput` has written them.
      let blocks = plan.blocks
      for index in blocks.indices {
        chunk.next += chunk.words[chunk.next] & 1 == 0 ? 1 : 1 + blocks[index].sumCount
      }
    }
    return true
  }

  private var hasBegun: Bool { monitor.withLock { $0.hasBegun } }

  /// Returns `nil` if the thread has not begun: where processors are busy, nobody waits for it.
  private func waitForNotes() -> [Note]? {
    monitor.wait { state -> MonitorStep<[Note]?> in
      guard state.hasBegun else { return .leave(nil) }
      return state.notes.map { .leave($0) } ?? (state.isOver ? .leave(nil) : .wait)
    }
  }

  /// Returns the chunk of the next unit's record, and waits for it; `nil` if the data are damaged or end.
  private func nextRecord() -> Chunk? {
    while true {
      if let chunk = current, chunk.count > 0 {
        chunk.count -= 1
        return chunk
      }
      current = monitor.wait { state -> MonitorStep<Chunk?> in
        guard state.chunks.isEmpty else { return .leave(state.chunks.removeFirst()) }
        return state.isOver ? .leave(nil) : .wait
      }
      guard let chunk = current else { return nil }
      // There is room for another one.
      monitor.broadcast()
      chunk.next = 0
    }
  }

  /// Writes the next units as cells, and waits for them.
  ///
  /// Returns `false` if the data are damaged or end.
  func take(_ units: Int, into cells: inout CellOutput) -> Bool {
    guard let correction else { return false }
    let blocks = plan.blocks
    for _ in 0..<units {
      guard let chunk = nextRecord() else { return false }
      let words = chunk.words
      var next = chunk.next
      // A record has a block's words for each block of the plan, as `RecordOutput` has written them.
      for index in blocks.indices {
        let plan = blocks[index]
        let word = words[next]
        let dc = Int(word &>> 1) &+ correction[plan.component]
        guard dc >= -CellOutput.limit, dc < CellOutput.limit else { return false }
        next &+= 1
        if word & 1 == 0 {
          cells.store(dc, plan)
        } else {
          cells.store(dc, sums: words.elements.extracting(next..<next &+ plan.sumCount), plan)
          next &+= plan.sumCount
        }
      }
      chunk.next = next
      cells.endUnit()
    }
    return true
  }
}
