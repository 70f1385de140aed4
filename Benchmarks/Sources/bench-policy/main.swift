// make bench NAME=policy: the hit ratios of the eviction policies, on traces of real and synthetic traffic.
//
// VITRINE_TRACES names a folder of traces, `*.txt.gz`, with a request `id bytes` in each line. Without it two synthetic
// ones are used. An argument names a file for the plot.

import Contest
import Foundation

let folder = ProcessInfo.processInfo.environment["VITRINE_TRACES"]
let traces = try folder.map { try Trace.all(in: URL(filePath: $0)) } ?? Trace.made()
let shares = [0.01, 0.03, 0.10, 0.30]

say("# Eviction: hit ratios\n")
say(
  "Percent of requests / of bytes / of the cost of misses (400 KB plus size), by the share of the data that fits."
)
if folder == nil { say("The traces are synthetic: set VITRINE_TRACES for real ones.") }

/// The results by trace, contender and share.
var results: [[[Ratios]]] = []
for trace in traces {
  let footprint = trace.footprint
  let unit = trace.isSized ? "\(footprint / 1_000_000) MB" : "\(footprint) of one size"
  say("\n### \(trace.name): \(trace.requests.count) requests, \(unit)\n")
  say("| | 1 % | 3 % | 10 % | 30 % |")
  say("|---|---:|---:|---:|---:|")
  let ofTrace = Contender.all.map { contender in
    shares.map { contender.replay(trace, Int(Double(footprint) * $0)) }
  }
  for (contender, ratios) in zip(Contender.all, ofTrace) {
    let cells = ratios.map {
      [$0.hits, $0.bytes, $0.cost].map { String(format: "%.1f", $0) }.joined(separator: " / ")
    }
    say("| \(contender.name) | \(cells.joined(separator: " | ")) |")
  }
  results.append(ofTrace)
}

say("\n### Hit ratio minus that of textbook LRU, in points\n")
say("| | least | mean of the sized traces |")
say("|---|---:|---:|")
for (index, contender) in Contender.all.enumerated().dropFirst() {
  let differences = zip(traces, results).flatMap { trace, result in
    shares.indices.map { (trace.isSized, result[index][$0].hits - result[0][$0].hits) }
  }
  let sized = differences.filter(\.0).map(\.1)
  let least = differences.map(\.1).min() ?? .nan
  let mean = sized.reduce(0, +) / Double(sized.count)
  say("| \(contender.name) | \(String(format: "%+.1f", least)) | \(String(format: "%+.1f", mean)) |")
}

if let path = CommandLine.arguments.dropFirst().first {
  try plot(traces, results, shares).write(toFile: path, atomically: true, encoding: .utf8)
}
