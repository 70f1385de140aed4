import Contest
import Foundation
import VitrineHTTP
import VitrineTesting

// Measures the start of the smallest program with Vitrine, `start-hit`, beside one without, `start-bare`. BEFORE in the
// environment is the folder of an older clone, whose programs take part.

let environment = ProcessInfo.processInfo.environment
let rounds = environment["ROUNDS"].flatMap { Int($0) } ?? 21
let scratch = FileManager.default.temporaryDirectory.appending(path: "bench-start-\(UUID().uuidString)")
let measure = ".build/benchmarks/release/measure"

/// How a program is linked, and the targets.
struct Variant {
  let name: String
  let folder: String
  /// Megabytes, stripped.
  let sizeLimit: Double
}

let variants = [
  Variant(name: "static", folder: ".build/benchmarks/release", sizeLimit: 18),
  Variant(name: "dynamic", folder: ".build/dynamic/release", sizeLimit: 5.5),
]
/// The most milliseconds of CPU time of a hit after `main`.
let cpuLimit = 10.0

/// The figures of a run, in milliseconds; `image` is what `start-hit` says of its image.
struct Run {
  var cpu = 0.0
  var wall = 0.0
  var image: Image?

  struct Image {
    let cpuBefore, cpu, wall, call: Double
    let origin: String
  }
}

struct Program {
  let name: String
  let path: String
  let variant: Variant
  let isBare: Bool
  let cache: URL
  var hits: [Run] = []
  var transfers: [Run] = []

  func run(_ arguments: [String], cache: URL) throws -> Run {
    let process = Process()
    let line = scratch.appending(path: "measured")
    process.executableURL = URL(filePath: measure)
    process.arguments = ["-o", line.path, path] + arguments
    process.environment = ["PATH": "/usr/bin:/bin", "XDG_CACHE_HOME": cache.path]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let said = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let fields = try String(contentsOf: line, encoding: .utf8).split(separator: " ").compactMap { Double($0.trimmed) }
    guard fields.count == 4, fields[3] == 0 else { throw BenchmarkError("\(path) failed: \(said)") }
    var run = Run(cpu: fields[0] / 1000, wall: fields[1] / 1000)
    let words = said.split(whereSeparator: \.isWhitespace)
    let numbers = words.compactMap { Double($0) }.map { $0 / 1000 }
    if numbers.count == 4, let origin = words.last {
      run.image = Run.Image(
        cpuBefore: numbers[0],
        cpu: numbers[1],
        wall: numbers[2],
        call: numbers[3],
        origin: String(origin),
      )
    }
    return run
  }

  /// Loads the image with the cache of before, or with an empty one.
  func load(_ url: String, from origin: String, cache: URL, flushes: Bool = false) throws -> Run {
    let target = scratch.appending(path: "saved.jpg").path
    let run = try run([url, target] + (flushes ? ["flush"] : []), cache: cache)
    guard run.image?.origin == origin else {
      throw BenchmarkError("\(path): the image came from \(run.image?.origin ?? "nowhere")")
    }
    return run
  }
}

extension Substring {
  var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}

func size(_ path: String) throws -> Double {
  let stripped = scratch.appending(path: "stripped")
  let process = Process()
  process.executableURL = URL(filePath: "/usr/bin/strip")
  process.arguments = ["-o", stripped.path, path]
  try process.run()
  process.waitUntilExit()
  guard process.terminationStatus == 0,
    let size = try FileManager.default.attributesOfItem(atPath: stripped.path)[.size] as? Int
  else { throw BenchmarkError("\(path) cannot be stripped") }
  return Double(size) / 1e6
}

func text(_ value: Double) -> String { String(format: "%.1f", value) }

/// The median and the least.
func column(_ values: [Double]) -> String {
  let sorted = values.sorted()
  return "\(text(sorted[sorted.count / 2])) / \(text(sorted[0]))"
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

func main() throws -> Bool {
  try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: scratch) }
  let photograph = try Data(contentsOf: URL(filePath: "Examples/Photographs/waterfall-cliff-large.jpg"))
  let server = try LoopbackServer()
  let headers: HTTPFields = ["Content-Type": "image/jpeg", "Cache-Control": "max-age=86400"]
  server.route("/photograph.jpg", LoopbackResponse(headers: headers, body: photograph))
  let url = server.url("/photograph.jpg")

  var programs: [Program] = []
  for variant in variants {
    func add(_ name: String, _ folder: String, isBare: Bool) {
      let cache = scratch.appending(path: "\(programs.count)")
      let path = "\(folder)\(variant.folder)/\(isBare ? "start-bare" : "start-hit")"
      let title = "\(name), \(variant.name)"
      programs.append(Program(name: title, path: path, variant: variant, isBare: isBare, cache: cache))
    }
    add("without Vitrine", "", isBare: true)
    if let before = environment["BEFORE"], !before.isEmpty { add("before", "\(before)/", isBare: false) }
    add("Vitrine", "", isBare: false)
  }
  for program in programs where !program.isBare {
    _ = try program.load(url, from: "network", cache: program.cache, flushes: true)
  }
  for round in 0..<rounds {
    for index in programs.indices {
      let program = programs[index]
      guard !program.isBare else {
        programs[index].hits.append(try program.run([], cache: program.cache))
        continue
      }
      programs[index].hits.append(try program.load(url, from: "disk", cache: program.cache))
      let empty = scratch.appending(path: "\(index)-\(round)")
      programs[index].transfers.append(try program.load(url, from: "network", cache: empty))
      try? FileManager.default.removeItem(at: empty)
    }
  }
  return try report(programs)
}

func report(_ programs: [Program]) throws -> Bool {
  say("# The start of a small program: it loads an image at 300 pixels, and saves it\n")
  say("- milliseconds, the median / the least of \(rounds) runs in turns, each a process with a cache of its own")
  say("- static: Swift's libraries are linked in; dynamic: they are beside the program")
  say("- after `main`: all CPU time of the process, with its exit, less that before `main`")
  say("- first call: the time for which `imageTask(for:)`, the first use of Vitrine, keeps its thread\n")
  say("| from the disk cache | CPU | clock | CPU after `main` | first call | MB, stripped |")
  say("|---|---:|---:|---:|---:|---:|")
  var missed: [String] = []
  for program in programs {
    let images = program.hits.compactMap(\.image)
    let after = program.hits.compactMap { run in run.image.map { run.cpu - $0.cpuBefore } }
    let megabytes = try size(program.path)
    say(
      "| \(program.name) | \(column(program.hits.map(\.cpu))) | \(column(program.hits.map(\.wall))) | "
        + (images.isEmpty ? "- | -" : "\(column(after)) | \(column(images.map(\.call)))") + " | \(text(megabytes)) |"
    )
    guard program.name.hasPrefix("Vitrine") else { continue }
    if median(after) > cpuLimit {
      missed.append("\(program.name): \(text(median(after))) ms of CPU after `main`, target \(text(cpuLimit))")
    }
    if megabytes > program.variant.sizeLimit {
      missed.append("\(program.name): \(text(megabytes)) MB, target \(text(program.variant.sizeLimit))")
    }
  }
  say("\n| the first transfer, from a server | CPU | clock | image, CPU | image, clock | first call |")
  say("|---|---:|---:|---:|---:|---:|")
  for program in programs where !program.isBare {
    let images = program.transfers.compactMap(\.image)
    say(
      "| \(program.name) | \(column(program.transfers.map(\.cpu))) | \(column(program.transfers.map(\.wall))) | "
        + "\(column(images.map(\.cpu))) | \(column(images.map(\.wall))) | \(column(images.map(\.call))) |"
    )
  }
  if !missed.isEmpty { say("\nMissed:\n" + missed.map { "- \($0)" }.joined(separator: "\n")) }
  return missed.isEmpty
}

do {
  exit(try main() ? 0 : 3)
} catch {
  say("bench-start: \(error)")
  exit(1)
}
