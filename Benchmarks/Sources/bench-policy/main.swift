// make bench-policy: how much of what was asked for is in memory, by what is evicted, on traces of real and made traffic.
//
// VITRINE_TRACES names a folder of traces, `*.txt.gz`, a request a line: `id bytes`; without it two are made. An argument
// names a file for the plot.

import Contest
import Foundation

let folder = ProcessInfo.processInfo.environment["VITRINE_TRACES"]
let traces = try folder.map { try Trace.all(in: URL(filePath: $0)) } ?? Trace.made()
let shares = [0.01, 0.03, 0.10, 0.30]

say("# Eviction: what is there when it is asked for\n")
say(
  "Percent of the requests / of the bytes / of what a miss costs (400 KB and its size), by how much of everything fits."
)
if folder == nil { say("The traces are made: set VITRINE_TRACES for others.") }

/// By trace, contender and share.
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

say("\n### Requests that hit, beside LRU as in the book, in points\n")
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
