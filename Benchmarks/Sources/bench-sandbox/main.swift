import Contest
import Foundation
import VitrineAVIF
import VitrineImaging
import VitrineSandbox

// Compares decoding in the program with decoding in a sandbox: processor time of an image once warm, with that of the
// workers; the first image; memory; 1,000 images at once. The first argument is the path of `vitrine-codecs`; with a
// second one only the images whose names contain it are compared.

guard CommandLine.arguments.count > 1 else {
  say("bench-sandbox: the argument is the path of vitrine-codecs")
  exit(2)
}
let program = CommandLine.arguments[1]
let rounds = 9

func sandbox(_ configure: (inout Sandbox.Configuration) -> Void = { _ in }) throws -> Sandbox {
  try Sandbox {
    $0.program = program
    $0.imagesPerProcess = .max
    configure(&$0)
  }
}

var own = DecoderRegistry.standard
own.add(AVIFDecoder())

/// The seconds of processor time of a round, for one image.
func cost(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
  let start = processorTime()
  for _ in 0..<count { try body() }
  return (processorTime() - start) / Double(count)
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

func pad(_ text: String, _ width: Int) -> String {
  String(repeating: " ", count: max(0, width - text.count)) + text
}

let filter = CommandLine.arguments.count > 2 ? CommandLine.arguments[2] : ""
if filter.isEmpty {
  say("# Decoding in a sandbox\n")
}
say(
  "\nProcessor time of one image in milliseconds, the workers' included; median of \(rounds) rounds in turn, one image "
    + "at a time. The limit is 0.3 ms and 0.1 ms for each megabyte of the file and the pixels.\n"
)
say("| image | in process | sandboxed | more | limit | |")
say("|---|---|---|---|---|---|")
var failures = 0
let warm = try sandbox()
for input in try inputs() where filter.isEmpty || input.name.contains(filter) {
  let options = DecodeOptions(size: input.size)
  let (decoders, data) = (warm.decoders, input.data)
  var output = 0
  func inProcess() throws { output = try own.decode(data, options).bitmap.byteCount }
  func sandboxed() throws { output = try decoders.decode(data, options).bitmap.byteCount }
  _ = try cost(max(3, input.count / 4), inProcess)
  _ = try cost(max(3, input.count / 4), sandboxed)
  var (here, there): ([Double], [Double]) = ([], [])
  for _ in 0..<rounds {
    here.append(try cost(input.count, inProcess))
    there.append(try cost(input.count, sandboxed))
  }
  let more = (median(there) - median(here)) * 1000
  let limit = 0.3 + 0.1 * Double(data.count + output) / 1e6
  if more > limit { failures += 1 }
  func text(_ value: Double) -> String { String(format: "%.2f", value) }
  say(
    "| \(input.name) | \(text(median(here) * 1000)) | \(text(median(there) * 1000)) | \(text(more)) | \(text(limit)) | "
      + "\(more <= limit ? "" : "over") |"
  )
}

guard filter.isEmpty else {
  say(failures == 0 ? "\nAll within the limit." : "\n\(failures) over the limit.")
  exit(0)
}

let avatar = try inputs()[1]
var encoders = EncoderRegistry.standard
encoders.add(AVIFEncoder())
let small = Input(
  name: "AVIF of 300 px",
  data: try encoders.encode(
    Bitmap(decoding: inputs()[0].data, size: .pixels(300)),
    as: ImageEncoding(.avif, quality: 60),
  ),
  size: nil,
  count: 1,
)
say("\nThe first image, in milliseconds on the clock, of a sandbox that was just made (median, and least, of 19):\n")
let cases = [
  ("JPEG of 100 KB to 128 px, at once", avatar, 0.0),
  ("the same, its process started ahead, half a second before", avatar, 0.5),
  ("AVIF of 300 px, whose process is not started ahead", small, 0.5),
]
for (name, input, wait) in cases {
  var times: [Double] = []
  for _ in 0..<19 {
    let fresh = try sandbox { $0.formats = input.data == small.data ? .external : .all }
    try await Task.sleep(for: .seconds(wait))
    let start = ContinuousClock.now
    _ = try fresh.decoders.decode(input.data, DecodeOptions(size: input.size))
    times.append((ContinuousClock.now - start) / .seconds(1))
  }
  let least = times.min() ?? 0
  say("- \(name): \(String(format: "%.1f, %.1f", median(times) * 1000, least * 1000))")
}
let inside = try (0..<19).map { _ in try cost(1) { _ = try own.decode(small.data, DecodeOptions()) } }
say("- that AVIF in the program, warm, processor time: \(String(format: "%.1f", median(inside) * 1000))")
let starts = try (0..<9).map { _ in
  try cost(1) {
    let fresh = try sandbox { $0.startsAhead = false }
    _ = try fresh.decoders.decode(avatar.data, DecodeOptions(size: avatar.size))
  }
}
say(
  "- processor time of that, with the start and the end of the process: \(String(format: "%.1f", median(starts) * 1000))"
)

say("\nPrivate memory of a worker, in MB:\n")
for (name, input) in [("after one avatar", avatar), ("after a 12 MP JPEG to 300 px", try inputs()[0])] {
  let fresh = try sandbox {
    $0.startsAhead = false
    $0.processes = 1
  }
  let before = Set(children())
  _ = try fresh.decoders.decode(input.data, DecodeOptions(size: input.size))
  let workers = Set(children()).subtracting(before)
  let memory = workers.compactMap { privateMemory($0) }.reduce(0, +)
  say("- \(name): \(String(format: "%.1f", Double(memory) / 1e6))")
}

say("\n1,000 avatars at once:\n")
say("| | seconds | processor seconds | processes |")
say("|---|---|---|---|")
for (name, decoders) in [("in process", own), ("sandboxed", warm.decoders)] {
  let (start, processor) = (ContinuousClock.now, processorTime())
  let count = await withTaskGroup { group in
    for _ in 0..<1000 {
      group.addTask { (try? await decoders.byDecoding(avatar.data, DecodeOptions(size: avatar.size))) != nil }
    }
    var count = 0
    for await isDecoded in group where isDecoded { count += 1 }
    return count
  }
  guard count == 1000 else { throw BenchmarkError("only \(count) of 1,000 images were decoded") }
  let seconds = (ContinuousClock.now - start) / .seconds(1)
  let processes = name == "sandboxed" ? "\(warm.counts.processes)" : ""
  say(
    "| \(name) | \(String(format: "%.2f", seconds)) | \(String(format: "%.2f", processorTime() - processor)) | \(processes) |"
  )
}
if warm.counts.crashed + warm.counts.stopped > 0 { throw BenchmarkError("workers were lost: \(warm.counts)") }
say(failures == 0 ? "\nAll within the limit." : "\n\(failures) over the limit.")
