import Foundation
import VitrineImaging

// Compares processors with libvips, Pillow and OpenCV: CPU time of the work alone, memory beyond the input and quality.
// Every program gets the same raw pixels in a process of its own, one thread, and does the work several times.

if CommandLine.arguments.dropFirst() == ["cancelling"] {
  let photo = try Bitmap(decoding: Data(contentsOf: URL(filePath: "Examples/Photographs/waterfall-cliff-large.jpg")))
  let path = FileManager.default.temporaryDirectory.appending(path: "vitrine-cancelling-\(getpid()).raw").path
  defer { try? FileManager.default.removeItem(atPath: path) }
  _ = try measureCancelling(try picture(photo, 4000, 3000, path))
} else if CommandLine.arguments.count == 7 {
  try carryOut(Array(CommandLine.arguments.dropFirst()))
} else {
  try compare()
}

/// Does the work of one process, with Vitrine; see the C program for the arguments.
func carryOut(_ arguments: [String]) throws {
  guard let width = Int(arguments[2]), let height = Int(arguments[3]), let rounds = Int(arguments[5]) else { exit(64) }
  let bitmap = try bitmap(ofFile: arguments[1], width, height)
  guard let work = Work.named(arguments[0]) else { return }
  var times: [Double] = []
  for round in 0..<rounds {
    let start = clock()
    let result = try work.processor.process(bitmap)
    times.append(Double(clock() - start) * 1000 / Double(CLOCKS_PER_SEC))
    guard round == rounds - 1 else { continue }
    try bytes(of: result).write(to: URL(filePath: arguments[4]))
  }
  print(times.sorted()[rounds / 2])
}

func bytes(of bitmap: Bitmap) -> Data {
  bitmap.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) -> Data in Data(bytes) }
}

/// The opaque bitmap of raw pixels of three bytes.
func bitmap(ofFile path: String, _ width: Int, _ height: Int) throws -> Bitmap {
  let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
  return Bitmap(width: width, height: height, alpha: .opaque) { (pixels: UnsafeMutableRawBufferPointer) in
    for index in 0..<width * height {
      for component in 0..<3 { pixels[index * 4 + component] = bytes[index * 3 + component] }
      pixels[index * 4 + 3] = 255
    }
  }
}

/// Prints a line at once, also into a file.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

func compare() throws {
  let scratch = FileManager.default.temporaryDirectory.appending(path: "vitrine-processing-\(getpid())")
  try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: scratch) }
  let photo = try Bitmap(decoding: Data(contentsOf: URL(filePath: "Examples/Photographs/waterfall-cliff-large.jpg")))
  let large = try picture(photo, 4000, 3000, scratch.appending(path: "large.raw").path)
  let small = try picture(photo, 1500, 1125, scratch.appending(path: "small.raw").path)
  say("# Processors\n")
  say(
    "One thread; the CPU time of the work alone, median of \(rounds) in one process, the lesser of two processes in turn."
  )
  say("Memory is the peak of the process beyond that of one which only reads the pixels. PSNR is that of the result,")
  say("without its edges, beside the definition in double precision.\n")
  var failures = 0
  var blurs: [String: Double] = [:]
  for work in Work.all {
    let input = work.isLarge ? large : small
    let reference = Reference(work, input)
    say("## \(work.title)\n\n| | CPU ms | memory MB | PSNR dB |\n|---|---:|---:|---:|")
    var costs: [String: Double] = [:]
    for (peer, cost) in measure(work, input, scratch) {
      costs[peer.name] = cost.milliseconds
      guard reference.isKnown else {
        say("| \(peer.name) | \(text(cost.milliseconds)) | \(text(cost.megabytes)) | |")
        continue
      }
      let bytes = try Data(contentsOf: URL(filePath: cost.output))
      let components = bytes.count / (reference.size.width * reference.size.height)
      let quality = reference.psnr(bytes, components: components)
      let psnr = quality.map { $0.isInfinite ? "exact" : text($0) } ?? "another size"
      say("| \(peer.name) | \(text(cost.milliseconds)) | \(text(cost.megabytes)) | \(psnr) |")
    }
    guard work.isJudged else {
      say("")
      continue
    }
    if let own = costs["Vitrine"], let other = costs["libvips"] {
      let isGood = own <= 1.1 * other
      failures += isGood ? 0 : 1
      say("\n\(text(own / other, 2)) of libvips' time; at most 1.1: \(isGood ? "kept" : "missed")\n")
    }
    blurs[work.name] = costs["Vitrine"]
  }
  if let narrow = blurs["blur-8"], let wide = blurs["blur-40"] {
    let isGood = max(narrow, wide) <= 1.1 * min(narrow, wide)
    failures += isGood ? 0 : 1
    say("Sigma 40 takes \(text(wide / narrow, 2)) of the time of sigma 8; within 10 %: \(isGood ? "kept" : "missed")")
  }
  say("")
  if try !measureCancelling(large) { failures += 1 }
  exit(failures == 0 ? 0 : 3)
}

struct Cost {
  var milliseconds = Double.infinity
  var megabytes = 0.0
  let output: String
}

func picture(_ photo: Bitmap, _ width: Int, _ height: Int, _ path: String) throws -> Picture {
  let size = TargetSize.pixels(Double(width), Double(height), .exact, enlarges: true)
  let pixels = [UInt8](bytes(of: try photo.resized(to: size)))
  var bytes: [UInt8] = []
  bytes.reserveCapacity(width * height * 3)
  for start in stride(from: 0, to: pixels.count, by: 4) { bytes += pixels[start..<start + 3] }
  try Data(bytes).write(to: URL(filePath: path))
  return Picture(width: width, height: height, bytes: bytes, path: path)
}

/// Lets all peers do a work, twice in turn.
func measure(_ work: Work, _ input: Picture, _ scratch: URL) -> [(Peer, Cost)] {
  let able = peers.filter { $0.works.contains(work.name) }
  var costs = able.indices.map { Cost(output: scratch.appending(path: "\(work.name)-\($0).raw").path) }
  for _ in 0..<2 {
    for (index, peer) in able.enumerated() {
      func run(_ name: String, _ rounds: Int) -> (text: String, peak: Double) {
        let sizes = ["\(input.width)", "\(input.height)"]
        let arguments = peer.command(name) + [input.path] + sizes + [costs[index].output, "\(rounds)"]
        return output(arguments)
      }
      let timed = run(work.name + peer.suffix, rounds)
      guard let time = Double(timed.text.trimmingCharacters(in: .whitespacesAndNewlines)) else { continue }
      costs[index].milliseconds = min(costs[index].milliseconds, time)
      // Once, since programs keep memory from round to round.
      costs[index].megabytes = max(0, run(work.name + peer.suffix, 1).peak - run("none", 1).peak)
    }
  }
  return zip(able, costs).filter { $0.1.milliseconds.isFinite }
}

/// Runs a command; returns what it prints and its peak of memory in megabytes.
func output(_ command: [String]) -> (text: String, peak: Double) {
  let log = FileManager.default.temporaryDirectory.appending(path: "vitrine-processing-peak-\(getpid())").path
  let process = Process()
  process.executableURL = URL(filePath: "\(folder)/measure")
  process.arguments = ["-o", log] + command
  let pipe = Pipe()
  process.standardOutput = pipe
  guard (try? process.run()) != nil else { return ("", 0) }
  let data = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  let fields = (try? String(contentsOfFile: log, encoding: .utf8))?.split(whereSeparator: \.isWhitespace) ?? []
  try? FileManager.default.removeItem(atPath: log)
  return (String(decoding: data, as: UTF8.self), fields.count == 4 ? (Double(fields[2]) ?? 0) / 1024 : 0)
}

func text(_ value: Double, _ places: Int = 1) -> String { String(format: "%.\(places)f", value) }
