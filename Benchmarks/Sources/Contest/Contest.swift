import CAllocations
import Foundation

/// A contestant: one of several that do the same work, in turns.
package struct Contestant {
  package let name: String
  /// The target in nanoseconds of CPU time, or `nil` for none.
  package var target: Double?
  /// The maximum number of allocations, beyond which the whole run fails.
  ///
  /// Counts are the same in every run.
  package var allocationLimit: Double?
  /// Does the work this many times, one after the other unless the name says otherwise.
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

/// The CPU time of the process, all threads, in nanoseconds.
///
/// It does not include other processes on this machine.
package func processorTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

package func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
}

/// Runs contestants in turns, and prints medians of CPU time and allocations for one execution of the work.
///
/// With turns, a machine that slows down affects all of them alike.
///
/// - Returns: A message for each contestant with too many allocations.
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
    // Library threads add less than one in a hundred.
    if let limit = contestant.allocationLimit, allocations > limit + 0.01 {
      failures.append("\(title): \(contestant.name): \(number(allocations)) allocations, more than \(limit)")
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

/// Checks that the objects of this program and of Swift's libraries are counted, each once.
package func checkAllocationCounter() throws {
  guard allocations_are_counted() else { return }
  final class Thing {}
  var things: [Thing] = []
  things.reserveCapacity(1000)
  allocations_begin()
  for _ in 0..<1000 { things.append(Thing()) }
  let counted = allocations_end()
  guard counted.of_thread == 1000, counted.total >= 1000, things.count == 1000 else {
    throw BenchmarkError("created 1000 objects, but counted \(counted.of_thread) allocations")
  }
}

package func time(_ nanoseconds: Double) -> String {
  nanoseconds < 10_000 ? "\(Int(nanoseconds.rounded())) ns" : "\(Int((nanoseconds / 1000).rounded())) us"
}

package func number(_ value: Double) -> String {
  String(format: value >= 10 ? "%.0f" : "%.2f", value)
}
