// make bench: what an image costs when it is in memory, on the disk, on a server, in CPU time and allocations, beside what
// Foundation has for it.
//
// ROUNDS=n measures n times (11 by default); the names of sections as arguments (memory, disk, network) measure these only.
// Ends with status 1 where something allocates more than it may.

import Contest
import Foundation

if CommandLine.arguments.dropFirst().first == "serve" { serve(folder: CommandLine.arguments[2]) }

let rounds = Int(ProcessInfo.processInfo.environment["ROUNDS"] ?? "") ?? 11
let chosen = Set(CommandLine.arguments.dropFirst())
func isChosen(_ section: String) -> Bool { chosen.isEmpty || chosen.contains(section) }

let scratch = FileManager.default.temporaryDirectory.appending(
  path: "vitrine-bench-\(ProcessInfo.processInfo.processIdentifier)"
)
try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)

say("# Pipeline: one image, by where it is\n")
for fact in machineFacts() { say("- \(fact)") }
say("- medians of \(rounds) rounds, contestants in turns; CPU time of the whole process, all threads")
try checkAllocationCounter()

var failures: [String] = []
if isChosen("memory") {
  for count in [300, 10_000] { failures += try await benchMemory(count, rounds: rounds) }
}
if isChosen("disk") || isChosen("network") {
  let photographs = try Photographs(in: scratch.appending(path: "www"))
  say("\n\(photographs.description)")
  if isChosen("disk") {
    failures += try await benchDisk(photographs, in: scratch.appending(path: "cache"), rounds: rounds)
  }
  if isChosen("network") { failures += try await benchNetwork(photographs, in: scratch, rounds: rounds) }
}
for failure in failures { FileHandle.standardError.write(Data("bench: \(failure)\n".utf8)) }
try? FileManager.default.removeItem(at: scratch)
exit(failures.isEmpty ? 0 : 1)
