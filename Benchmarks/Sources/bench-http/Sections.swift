import Foundation

/// The parameters of a run.
struct Plan {
  let server: Server
  let rounds: Int
  let requests: Int
}

private struct Contestant {
  let name: String
  let command: [String]
  var figures: [Figures] = []
}

func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
}

private func text(_ value: Double, _ format: String = "%.0f") -> String {
  value.isNaN ? "-" : String(format: format, value)
}

/// Prints a table, and returns the missed targets.
func rates(
  _ title: String,
  _ plan: Plan,
  scheme: String,
  connections: Int,
  rate: Double,
  cpu: Double,
) throws -> [String] {
  let url = plan.server.url(scheme)
  let list = plan.server.folder + "/\(scheme)-\(connections).txt"
  let entries = String(repeating: "url = \"\(url)\"\noutput = \"/dev/null\"\n", count: plan.requests)
  let common = "parallel\nparallel-max = \(connections)\nsilent\nfail\ncacert = \"\(plan.server.authority)\"\n"
  try (common + entries).write(toFile: list, atomically: true, encoding: .utf8)
  let me = CommandLine.arguments[0]
  func client(_ kind: String) -> [String] {
    [me, "client", kind, url, "\(plan.requests)", "\(connections)", plan.server.authority]
  }
  var contestants = [
    Contestant(name: "`curl --parallel`", command: ["curl", "-K", list]),
    Contestant(name: "`CurlLoader`, a sink each", command: client("loader")),
    Contestant(name: "`await CurlLoader.data(for:)`", command: client("data")),
  ]
  // FoundationNetworking's URLSession can neither trust a custom authority nor skip the verification.
  if scheme == "plain" {
    contestants.append(Contestant(name: "`await URLSession.data(from:)`", command: client("session")))
  }
  say("\n### \(title)\n")
  say("| | requests/s | of curl's | CPU a request | p50 | p99 | peak memory |")
  say("|---|---:|---:|---:|---:|---:|---:|")
  for _ in 0..<plan.rounds {
    for index in contestants.indices {
      contestants[index].figures.append(try run(contestants[index].command, deadline: 60))
    }
  }
  let peer = median(contestants[0].figures.map { Double(plan.requests) / $0.seconds })
  var missed: [String] = []
  for (index, contestant) in contestants.enumerated() {
    let good = contestant.figures.filter { !$0.isOverdue }
    guard !good.isEmpty else {
      say("| \(contestant.name) | hung; killed after 60 s | | | | | |")
      continue
    }
    let speed = median(good.map { Double(plan.requests) / $0.seconds })
    let processor = median(good.map { $0.cpu / Double(plan.requests) * 1e6 })
    let latencies = [good.compactMap(\.p50), good.compactMap(\.p99)].map { text(median($0) * 1000, "%.1f ms") }
    let overdue =
      good.count == contestant.figures.count ? "" : " (\(contestant.figures.count - good.count) hung)"
    say(
      "| \(contestant.name)\(overdue) | \(text(speed)) | \(text(speed / peer, "%.2f")) | \(text(processor)) us |"
        + " \(latencies[0]) | \(latencies[1]) | \(text(median(good.map(\.megabytes)), "%.1f")) MB |"
    )
    guard index == 1 || index == 2 else { continue }
    if speed / peer < rate {
      missed.append("\(title): \(contestant.name): \(text(speed / peer, "%.2f")) of curl's rate, target \(rate)")
    }
    if processor > cpu {
      missed.append("\(title): \(contestant.name): \(text(processor)) us a request, target \(text(cpu))")
    }
  }
  return missed
}

/// 5,000 loads, nine in ten of which are cancelled after 10 ms.
func storms(_ plan: Plan) throws -> [String] {
  say("\n### 5,000 loads, 90 % cancelled after 10 ms\n")
  say("| | to the end of all | requests seen by nginx | arrived | peak memory |")
  say("|---|---:|---:|---:|---:|")
  var missed: [String] = []
  for (name, kind, scheme) in [
    ("`CurlLoader`, plain, 6 connections", "storm", "plain"), ("`CurlLoader`, HTTP/2 over TLS", "storm", "http2"),
    ("`URLSession`, plain, 6 connections", "session-storm", "plain"),
  ] {
    var figures: [Figures] = []
    var seen: [Double] = []
    let command = [
      CommandLine.arguments[0], "client", kind, plan.server.url(scheme), "5000", "6", plan.server.authority,
    ]
    for _ in 0..<plan.rounds {
      let before = try plan.server.requestCount()
      figures.append(try run(command, deadline: 10))
      seen.append(Double(try plan.server.requestCount() - before - 1))
    }
    let good = figures.filter { !$0.isOverdue }
    let standing = figures.count - good.count
    guard !good.isEmpty else {
      say("| \(name) | hung in all \(standing) rounds; killed after 10 s | \(text(median(seen))) | | |")
      continue
    }
    let time = median(good.compactMap(\.loadSeconds))
    say(
      "| \(name)\(standing > 0 ? " (\(standing) hung)" : "") | \(text(time, "%.3f")) s | \(text(median(seen))) |"
        + " \(text(median(good.compactMap(\.arrived)))) | \(text(median(good.map(\.megabytes)), "%.1f")) MB |"
    )
    if kind == "storm", time > 0.5 { missed.append("storm: \(name): \(text(time, "%.2f")) s, target 0.5") }
  }
  return missed
}

/// 60,000 loads in one process, with its memory and descriptors after each sixth of them.
func soak(_ plan: Plan) throws -> [String] {
  say("\n### 60,000 loads by one loader, plain and over HTTP/2\n")
  for scheme in ["plain", "http2"] {
    let command = [
      CommandLine.arguments[0], "client", "soak", plan.server.url(scheme), "60000", "6", plan.server.authority,
    ]
    let output = try capture(command)
    say("\(scheme): \(output.trimmingCharacters(in: .whitespacesAndNewlines))")
  }
  return []
}
