import VitrineRuntime

/// Does work for all sources on several threads, and passes on the results in order, on the calling thread.
enum Batch {
  /// The default maximum number of concurrent loads.
  static let standardConnections = 6

  /// The default concurrency limit: the number of cores for files, more for URLs, which mostly wait.
  static func standardWidth(for sources: [Source]) -> Int {
    let cores = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    if sources.allSatisfy(\.isURL) { return standardConnections }
    return sources.contains(where: \.isURL) ? max(cores, standardConnections) : cores
  }

  /// Does the work once for each distinct source, and reports every argument in order.
  ///
  /// - Parameters:
  ///   - arguments: The sources as given, including repeats.
  ///   - width: The maximum number of concurrent sources.
  ///   - console: The console that shows the progress.
  ///   - work: Does the work for one source, on a thread of the batch.
  ///   - finish: Turns each result into an outcome, from the first to the last.
  ///   - report: Reports the outcome of every argument, in order, and returns whether it succeeded.
  /// - Returns: The number of arguments that failed.
  static func run<Value: Sendable, Outcome>(
    _ arguments: [ByteString],
    width: Int,
    console: Console,
    work: @escaping @Sendable (Source) -> Value,
    finish: (Source, Value) -> Outcome,
    report: (_ argument: ByteString, Outcome, _ isRepeat: Bool) -> Bool,
  ) -> Int {
    let (sources, places) = Source.numbered(arguments)
    var outcomes: [(outcome: Outcome, isReported: Bool)] = []
    var reported = 0
    var failures = 0
    run(count: sources.count, width: min(width, sources.count)) { index in
      work(sources[index])
    } finish: { index, value in
      outcomes.append((finish(sources[index], value), false))
      while reported < arguments.count, places[reported] < outcomes.count {
        let known = outcomes[places[reported]]
        if !report(arguments[reported], known.outcome, known.isReported) { failures += 1 }
        outcomes[places[reported]].isReported = true
        reported += 1
      }
      console.advance()
    }
    return failures
  }

  /// - Parameters:
  ///   - count: The number of pieces of work.
  ///   - width: The maximum number of concurrent pieces.
  ///   - work: Does one piece of work, on a thread of the batch.
  ///   - finish: Receives each result, from the first to the last.
  private static func run<Value: Sendable>(
    count: Int,
    width: Int,
    work: @escaping @Sendable (Int) -> Value,
    finish: (Int, Value) -> Void,
  ) {
    let results = Monitor([Value?](repeating: nil, count: count))
    let queue = WorkQueue(label: "images", width: width)
    // Results waiting for an earlier one take memory, so limit how far ahead work begins.
    let ahead = width * 4
    var begun = 0
    for index in 0..<count {
      while begun < min(count, index + ahead) {
        let next = begun
        begun += 1
        let store: @Sendable () -> Void = {
          let value = work(next)
          results.withLock { $0[next] = value }
          results.signal()
        }
        do {
          try queue.enqueue { _ in store() }
        } catch {
          // The system has no thread to spare, so do the work here.
          store()
        }
      }
      finish(index, results.wait { values in values[index].take().map { .leave($0) } ?? .wait })
    }
  }
}

/// Blocks the calling thread until asynchronous work is done.
///
/// Only for threads outside the concurrency runtime.
func blocking<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) -> Value {
  let answer = Monitor<Value?>(nil)
  Task {
    let value = await work()
    answer.withLock { $0 = value }
    answer.signal()
  }
  return answer.wait { $0.map { .leave($0) } ?? .wait }
}
