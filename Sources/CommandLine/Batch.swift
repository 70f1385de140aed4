import VitrineRuntime

/// Does work for every source on several threads and hands the results over in order, on the calling thread.
enum Batch {
  /// - Parameters:
  ///   - count: How many pieces of work there are.
  ///   - width: How many are done at once.
  ///   - work: Does one piece, on a thread of the batch.
  ///   - finish: Takes each result, from the first to the last.
  static func run<Value: Sendable>(
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
