import CLibJXL
import VitrineImaging
import VitrineRuntime

/// The threads on which libjxl decodes the blocks of one picture: the caller's, and others that end with this object.
@safe
final class JXLThreads: Sendable {
  /// A function that libjxl has this call, and for which it waits.
  // @unchecked: libjxl allows the calls on several threads, and keeps the value that `context` points to until they are over.
  @safe
  private struct Work: @unchecked Sendable {
    let function: JxlParallelRunFunction
    let context: UnsafeMutableRawPointer?

    func call(_ value: UInt32, on thread: Int) { unsafe function(context, value, thread) }
  }

  private struct State {
    /// `nil` between two ranges of calls.
    var work: Work?
    /// The values with which it has not been called yet.
    var values: Range<UInt32> = 0..<0
    /// The number of other threads that are in a call.
    var running = 0
    var hasEnded = false

    mutating func takeValue() -> UInt32? {
      guard let value = values.first else { return nil }
      values = value + 1..<values.upperBound
      return value
    }
  }

  /// The number of threads, including the caller's.
  let count: Int
  private let monitor: Monitor<State>
  private let others: [JoinableThread]

  /// Starts all threads but the caller's; fewer, if the system refuses some.
  init(count: Int) {
    let monitor = Monitor(State())
    let others = (1..<max(1, count)).compactMap { number in
      JoinableThread(named: "jxl") { Self.work(as: number, monitor) }
    }
    (self.monitor, self.others) = (monitor, others)
    // A thread that was refused leaves a gap in the numbers, which libjxl only uses to tell threads apart.
    self.count = max(1, count)
  }

  deinit {
    monitor.withLock { $0.hasEnded = true }
    monitor.broadcast()
    for thread in others { thread.join() }
  }

  private static func work(as number: Int, _ monitor: Monitor<State>) {
    while true {
      let next = monitor.wait { state -> MonitorStep<(work: Work, value: UInt32)?> in
        if state.hasEnded { return .leave(nil) }
        guard let work = state.work, let value = state.takeValue() else { return .wait }
        state.running += 1
        return .leave((work, value))
      }
      guard let next else { return }
      next.work.call(next.value, on: number)
      monitor.withLock { $0.running -= 1 }
      monitor.broadcast()
    }
  }

  /// Calls `work` with all values, on all threads; blocks until that is done.
  ///
  /// It must not stop before: libjxl ends the process if some of its calls were left out. So who cancels waits for the
  /// end.
  private func run(_ work: Work, _ values: Range<UInt32>) {
    monitor.withLock { ($0.work, $0.values) = (work, values) }
    if values.count > 1 { monitor.broadcast() }
    while let value = monitor.withLock({ $0.takeValue() }) {
      work.call(value, on: 0)
    }
    monitor.wait { state -> MonitorStep<Void> in
      guard state.running == 0 else { return .wait }
      state.work = nil
      return .leave(())
    }
  }

  /// libjxl's way to call this; the first argument points to the threads.
  static let runner: JxlParallelRunner = { threads, context, start, function, first, end in
    guard let threads = unsafe threads, let start = unsafe start, let function = unsafe function, first <= end else {
      return JXL_PARALLEL_RET_RUNNER_ERROR
    }
    // The reader holds them longer than the decoder that calls this.
    let own = unsafe Unmanaged<JXLThreads>.fromOpaque(threads).takeUnretainedValue()
    let status = unsafe start(context, own.count)
    guard status == 0 else { return status }
    unsafe own.run(Work(function: function, context: context), first..<end)
    return 0
  }
}
