// make bench-cache: what a cache in memory costs by itself, beside what Foundation has, and what one writes by hand.
//
// ROUNDS=n measures n times (11 by default). Ends with status 1 where something allocates more than it may.

import Contest
import Foundation

let rounds = Int(ProcessInfo.processInfo.environment["ROUNDS"] ?? "") ?? 11
say("# Memory cache\n")
for fact in machineFacts() { say("- \(fact)") }
say("- medians of \(rounds) rounds, contestants in turns; CPU time of the whole process, by threads: time on the wall")
try checkAllocationCounter()

var failures: [String] = []
for count in [300, 10_000] { failures += try await benchMemory(count, rounds: rounds) }
failures += try await benchInsertion(10_000, rounds: rounds)
for failure in failures { FileHandle.standardError.write(Data("bench-cache-memory: \(failure)\n".utf8)) }
exit(failures.isEmpty ? 0 : 1)
