// make bench NAME=cache: the cost of a disk cache, compared with a file per entry, SQLite and LMDB.
//
// Every store gets the same bytes in the same order, none syncs per entry, and all reads are served by the system's
// page cache. ROUNDS=n sets the number of rounds for the median (3 by default). Arguments select sections (entries,
// pixels, open, bursts, full, stream); `alone` runs only Vitrine, for a profiler.

import Foundation

/// Prints a line and flushes it, even if the output is not a terminal.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

let rounds = Int(ProcessInfo.processInfo.environment["ROUNDS"] ?? "") ?? 3
let scratch = FileManager.default.temporaryDirectory.appending(
  path: "vitrine-bench-cache-\(ProcessInfo.processInfo.processIdentifier)"
)
try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: scratch) }

say("# Disk cache\n")
say("- medians of \(rounds) rounds, in turns; no sync per entry; all data in the system's page cache")
say("- Vitrine hashes every content and verifies a checksum at every get; the others do neither")

let all: [any Store.Type] = [
  VitrineStore.self, FileStore.self, SQLiteStore.self, SQLiteBatchStore.self, LMDBStore.self,
]
let stores = CommandLine.arguments.contains("alone") ? [VitrineStore.self] : all
let sections = Set(CommandLine.arguments.dropFirst()).subtracting(["alone"])
func isChosen(_ section: String) -> Bool { sections.isEmpty || sections.contains(section) }

if isChosen("entries") {
  try await compare(stores, in: scratch, count: 20_000, size: 20_000, isEvicting: true, rounds: rounds)
}
// The pixels of an image of 300x225.
if isChosen("pixels") {
  try await compare(stores, in: scratch, count: 1000, size: 270_000, isEvicting: false, rounds: rounds)
}
if isChosen("open") { try await compareOpening(stores, in: scratch, count: 100_000, rounds: rounds) }
if isChosen("bursts") { try await measureBursts(in: scratch, rounds: rounds) }
if isChosen("full") { try await measureFull(in: scratch) }
if isChosen("stream") { try await measureStreaming(in: scratch) }
