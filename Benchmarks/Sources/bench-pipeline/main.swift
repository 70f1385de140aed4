// make bench: what an image costs when it is in memory, on the disk, on a server, in CPU time and allocations, beside what
// Foundation has for it.
//
// ROUNDS=n measures n times (11 by default); the names of sections as arguments (memory, disk, network) measure these only.

import Foundation

if CommandLine.arguments.dropFirst().first == "serve" { serve(folder: CommandLine.arguments[2]) }

let rounds = Int(ProcessInfo.processInfo.environment["ROUNDS"] ?? "") ?? 11
let chosen = Set(CommandLine.arguments.dropFirst())
func isChosen(_ section: String) -> Bool { chosen.isEmpty || chosen.contains(section) }

let scratch = FileManager.default.temporaryDirectory.appending(
  path: "vitrine-bench-\(ProcessInfo.processInfo.processIdentifier)"
)
try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: scratch) }

say("# Pipeline: one image, by where it is\n")
for fact in machineFacts() { say("- \(fact)") }
say("- medians of \(rounds) rounds, contestants in turns; CPU time of the whole process, all threads")

if isChosen("memory") { try await benchMemory(rounds: rounds) }
if isChosen("disk") || isChosen("network") {
  let photographs = try Photographs(in: scratch.appending(path: "www"))
  say("\n\(photographs.description)")
  if isChosen("disk") { try await benchDisk(photographs, in: scratch.appending(path: "cache"), rounds: rounds) }
  if isChosen("network") { try await benchNetwork(photographs, in: scratch, rounds: rounds) }
}
