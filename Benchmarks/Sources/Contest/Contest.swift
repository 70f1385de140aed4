import CAllocations
import Foundation

/// What is measured: one of several that do the same work, in their turns.
package struct Contestant {
  package let name: String
  /// At most this, in nanoseconds of CPU; nil where nothing was promised.
  package var target: Double?
  /// At most so many allocations, or the whole run fails: counts are the same in every run, and so can be held to.
  package var allocationLimit: Double?
  /// Does the work so many times; one after the other, or however its name says.
  package let run: (_ count: Int) async throws -> Void

  package init(
    name: String,
    target: Double? = nil,
    allocationLimit: Double? = nil,
    run: @escaping (_ count: Int) async throws -> Void,
  ) {
    (self.name, self.target, self.allocationLimit, self.run) = (name, target, allocationLimit, run)
  }
}

/// CPU time of the process, all threads, in nanoseconds: what others do on this machine does not count.
package func processorTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

package func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
}

/// Lets contestants take turns and prints medians of CPU time, and allocations, for one time of the work.
///
/// Taking turns, a machine that gets slower meanwhile slows all of them.
///
/// - Returns: A sentence for each that allocates more than it may.
package func contest(_ title: String, _ contestants: [Contestant], count: Int, rounds: Int) async throws -> [String] {
  say("\n### \(title)\n")
  say("| | CPU | least | at most | allocations |")
  say("|---|---:|---:|---:|---:|")
  var times = [[Double]](repeating: [], count: contestants.count)
  for round in 0...rounds {
    for (index, contestant) in contestants.enumerated() {
      let begin = processorTime()
      try await contestant.run(count)
      // The first round warms up.
      if round > 0 { times[index].append((processorTime() - begin) / Double(count)) }
    }
  }
  var failures: [String] = []
  for (index, contestant) in contestants.enumerated() {
    allocations_begin()
    try await contestant.run(count)
    let allocations = Double(allocations_end().total) / Double(count)
    // What the libraries' own threads do now and then is less than one in a hundred.
    if let limit = contestant.allocationLimit, allocations > limit + 0.01 {
      failures.append("\(title): \(contestant.name): \(number(allocations)) allocations, at most \(limit) are allowed")
    }
    let limit = contestant.target.map { target in
      time(target) + (median(times[index]) > target ? " (missed)" : "")
    }
    say(
      "| \(contestant.name) | \(time(median(times[index]))) | \(time(times[index].min() ?? .nan)) | \(limit ?? "")"
        + " | \(allocations_are_counted() ? number(allocations) : "-") |"
    )
  }
  return failures
}

/// Whether objects made here and in the libraries of Swift are counted, each once.
package func checkAllocationCounter() throws {
  guard allocations_are_counted() else { return }
  final class Thing {}
  var things: [Thing] = []
  things.reserveCapacity(1000)
  allocations_begin()
  for _ in 0..<1000 { things.append(Thing()) }
  let counted = allocations_end()
  guard counted.of_thread == 1000, counted.total >= 1000, things.count == 1000 else {
    throw BenchmarkError("1000 objects were made, and \(counted.of_thread) allocations counted")
  }
}

package func time(_ nanoseconds: Double) -> String {
  nanoseconds < 10_000 ? "\(Int(nanoseconds.rounded())) ns" : "\(Int((nanoseconds / 1000).rounded())) us"
}

package func number(_ value: Double) -> String {
  String(format: value >= 10 ? "%.0f" : "%.2f", value)
}
