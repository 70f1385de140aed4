// make bench NAME=cache: the cost of a memory cache by itself, compared with Foundation's and with handwritten ones.
//
// ROUNDS=n sets the number of rounds (11 by default), THREADS=1,2,4,8,16 the numbers of threads (1,2 by default). Exits
// with status 3 if a contestant exceeds its limit of allocations.

import Contest
import Foundation

let rounds = Int(ProcessInfo.processInfo.environment["ROUNDS"] ?? "") ?? 11
say("# Memory cache\n")
say("- medians of \(rounds) rounds, contestants in turns; CPU time of the whole process")
say("- by threads: time on the wall, with the ratio to the first number of threads")
try checkAllocationCounter()

var failures: [String] = []
for count in [300, 10_000] { failures += try await benchMemory(count, rounds: rounds) }
failures += try await benchInsertion(10_000, rounds: rounds)
for failure in failures { FileHandle.standardError.write(Data("bench-cache-memory: \(failure)\n".utf8)) }
exit(failures.isEmpty ? 0 : 3)
