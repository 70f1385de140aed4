// make bench NAME=pipeline: the cost of an image in memory, on disk, from a server and cold, in CPU time and allocations,
// compared with Foundation and with handwritten solutions.
//
// ROUNDS=n sets the number of rounds (11 by default). Arguments select sections (memory, cold, waiting, disk, network).
// `--page FILE` measures nothing and draws what the images of a page wait for. Exits with status 3 if a contestant
// exceeds its limit of allocations.

import Contest
import Foundation

if CommandLine.arguments.dropFirst().first == "serve" { serve(folder: CommandLine.arguments[2]) }

let scratch = FileManager.default.temporaryDirectory.appending(
  path: "vitrine-bench-\(ProcessInfo.processInfo.processIdentifier)"
)
try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
if let index = CommandLine.arguments.firstIndex(of: "--page"), index + 1 < CommandLine.arguments.count {
  // A warm-up, so that one-time work of the process is not in the drawing.
  _ = try await loadPage(in: scratch.appending(path: "first"))
  var picture = PagePicture(try await loadPage(in: scratch.appending(path: "second")))
  try Data(picture.svg().utf8).write(to: URL(filePath: CommandLine.arguments[index + 1]))
  try? FileManager.default.removeItem(at: scratch)
  exit(0)
}

let rounds = Int(ProcessInfo.processInfo.environment["ROUNDS"] ?? "") ?? 11
let chosen = Set(CommandLine.arguments.dropFirst())
func isChosen(_ section: String) -> Bool { chosen.isEmpty || chosen.contains(section) }

say("# Pipeline: one image, by its location\n")
say("- medians of \(rounds) rounds, contestants in turns; CPU time of the whole process, all threads")
try checkAllocationCounter()

var failures: [String] = []
if isChosen("cold") { failures += try await benchCold(rounds: rounds) }
if isChosen("waiting") { await measureWaiting() }
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
exit(failures.isEmpty ? 0 : 3)
