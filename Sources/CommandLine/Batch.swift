import VitrineRuntime

/// Does work for every source on several threads and hands the results over in order, on the calling thread.
enum Batch {
  /// How many addresses are loaded at once, unless told.
  static let standardConnections = 6

  /// How many sources are worked on at once, unless told: files need a core each, addresses wait more than they work.
  static func standardWidth(for sources: [Source]) -> Int {
    let cores = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    if sources.allSatisfy(\.isURL) { return standardConnections }
    return sources.contains(where: \.isURL) ? max(cores, standardConnections) : cores
  }

  /// Does the work for each different source once, and reports every argument in its place.
  ///
  /// - Parameters:
  ///   - arguments: The sources as they were given, repeats among them.
  ///   - width: How many are worked on at once.
  ///   - console: Told of each source that is done.
  ///   - work: Does one source, on a thread of the batch.
  ///   - finish: Takes each result, from the first to the last, and makes of it what is reported.
  ///   - report: Called for every argument, in order; says whether it was done.
  /// - Returns: How many arguments were not done.
  static func run<Value: Sendable, Outcome>(
    _ arguments: [ByteString],
    width: Int,
    console: Console,
    work: @escaping @Sendable (Source) -> Value,
    finish: (Source, Value) -> Outcome,
    report: (_ argument: ByteString, Outcome, _ isRepeat: Bool) -> Bool,
  ) -> Int {
    let sources = Source.different(among: arguments)
    var outcomes: [Source: (outcome: Outcome, isReported: Bool)] = [:]
    var reported = 0
    var failures = 0
    run(count: sources.count, width: min(width, sources.count)) { index in
      work(sources[index])
    } finish: { index, value in
      outcomes[sources[index]] = (finish(sources[index], value), false)
      while reported < arguments.count, let known = outcomes[Source(arguments[reported])] {
        if !report(arguments[reported], known.outcome, known.isReported) { failures += 1 }
        outcomes[Source(arguments[reported])]?.isReported = true
        reported += 1
      }
      console.advance()
    }
    return failures
  }

  /// - Parameters:
  ///   - count: How many pieces of work there are.
  ///   - width: How many are done at once.
  ///   - work: Does one piece, on a thread of the batch.
  ///   - finish: Takes each result, from the first to the last.
  private static func run<Value: Sendable>(
    count: Int,
    width: Int,
    work: @escaping @Sendable (Int) -> Value,
    finish: (Int, Value) -> Void,
  ) {
    let results = Monitor<[Int: Value]>([:])
    let queue = WorkQueue(label: "images", width: width)
    // Results that wait for an earlier one take memory, so only so many are begun ahead of it.
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
          // The system has no thread to give: then it is done here.
          store()
        }
      }
      finish(index, results.wait { values in values.removeValue(forKey: index).map { .leave($0) } ?? .wait })
    }
  }
}

/// Waits, blocking the calling thread, for what is awaited on others.
///
/// For threads of our own only.
func blocking<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) -> Value {
  let answer = Monitor<Value?>(nil)
  Task {
    let value = await work()
    answer.withLock { $0 = value }
    answer.signal()
  }
  return answer.wait { $0.map { .leave($0) } ?? .wait }
}
