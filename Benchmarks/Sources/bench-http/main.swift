// make bench NAME=http: request rate, CPU time, latency and memory, compared with `curl --parallel` and URLSession; a storm
// of cancelled loads; 60,000 loads with flat memory. All loads go to one local nginx.
//
// Each contestant runs in its own process (`bench-http client …`), so that memory and CPU time are its own. ROUNDS=n
// sets the number of rounds (5 by default), REQUESTS=n the number of loads (6,000). Arguments select sections (rates,
// storm, soak).

import Foundation

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "client" {
  do {
    try await runClient(Array(arguments.dropFirst()))
    exit(0)
  } catch {
    FileHandle.standardError.write(Data("bench-http: \(error)\n".utf8))
    exit(1)
  }
}

func setting(_ name: String, _ standard: Int) -> Int {
  Int(ProcessInfo.processInfo.environment[name] ?? "") ?? standard
}
let rounds = setting("ROUNDS", 5)
let requests = setting("REQUESTS", 6000)
func isChosen(_ section: String) -> Bool { arguments.isEmpty || arguments.contains(section) }

let plan = Plan(server: try Server(), rounds: rounds, requests: requests)
say("# HTTP: images of 50 KB from nginx on this machine\n")
say("- \(version(of: "nginx", "-v")), \(version(of: "curl", "-V"))")
say(
  "- medians of \(rounds) rounds of \(requests) requests, in turns, each in its own process; nginx has one worker"
)
say("- rate, CPU (of the client alone) and peak memory include the start of its process")

var missed: [String] = []
if isChosen("rates") {
  for (title, scheme, connections, rate, cpu) in [
    ("Plain HTTP/1.1, 6 connections", "plain", 6, 0.9, 120.0),
    ("Plain HTTP/1.1, 64 connections", "plain", 64, 0.75, 120.0),
    ("HTTP/2 over TLS, 64 loads on one connection", "http2", 64, 0.9, 190.0),
  ] {
    missed += try rates(title, plan, scheme: scheme, connections: connections, rate: rate, cpu: cpu)
  }
}
if isChosen("storm") { missed += try storms(plan) }
if isChosen("soak") { missed += try soak(plan) }
plan.server.stop()
if !missed.isEmpty { say("\nMissed:\n" + missed.map { "- \($0)" }.joined(separator: "\n")) }
