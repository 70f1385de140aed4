// make bench-imaging: photographs to thumbnails, beside the programs that people use for it on Linux.
//
// Every program makes a picture whose longer side has the pixels asked for: a JPEG where it can, for that is what people
// make of photographs, and a PNG, which shows its quality and is all that one of them writes. The programs take turns,
// file by file and round by round, so that a machine that gets slower meanwhile slows all of them. Quality is the signal-to-noise ratio against the whole picture decoded and shrunk with Lanczos3 by
// libvips, which is no contestant in that form.

import Foundation
import VitrineImaging
import VitrineTesting

struct Contestant {
  let name: String
  var writesJPEG = true
  /// Program and arguments, for input, output and size.
  let command: (_ input: String, _ output: String, _ size: Int) -> [String]
}

struct Run {
  let cpu: Double
  let wall: Double
  let peak: Double
}

let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
let measure = folder.appending(path: "measure").path
let vitrine = ProcessInfo.processInfo.environment["VITRINE"] ?? ".build/release/vitrine"
let rounds = Int(ProcessInfo.processInfo.environment["ROUNDS"] ?? "") ?? 7
let scratch = FileManager.default.temporaryDirectory.appending(
  path: "vitrine-bench-\(ProcessInfo.processInfo.processIdentifier)"
)
try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: scratch) }

let contestants = [
  Contestant(name: "vitrine") { [vitrine, "thumbnail", $0, "-o", $1, "--size", "\($2)", "--jobs", "1"] },
  Contestant(name: "vitrine, best") {
    [vitrine, "thumbnail", $0, "-o", $1, "--size", "\($2)", "--quality-mode", "best", "--jobs", "1"]
  },
  Contestant(name: "vitrine, fast") {
    [vitrine, "thumbnail", $0, "-o", $1, "--size", "\($2)", "--quality-mode", "fast", "--jobs", "1"]
  },
  Contestant(name: "vipsthumbnail") {
    ["vipsthumbnail", $0, "--size", "\($2)x\($2)>", "-o", $1.hasSuffix("jpg") ? "\($1)[Q=85]" : $1]
  },
  Contestant(name: "gdk-pixbuf-thumbnailer", writesJPEG: false) { ["gdk-pixbuf-thumbnailer", "-s", "\($2)", $0, $1] },
]

func output(_ command: [String]) -> (text: String, status: Int32) {
  let process = Process()
  process.executableURL = URL(filePath: "/usr/bin/env")
  process.arguments = command
  let pipe = Pipe()
  process.standardOutput = pipe
  process.standardError = FileHandle.nullDevice
  guard (try? process.run()) != nil else { return ("", 127) }
  let data = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  return (String(decoding: data, as: UTF8.self), process.terminationStatus)
}

func run(_ command: [String]) -> Run? {
  let fields = output([measure] + command).text.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
  guard fields.count == 4, fields[3] == 0 else { return nil }
  return Run(cpu: fields[0] / 1000, wall: fields[1] / 1000, peak: fields[2] / 1024)
}

func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
}

func geometricMean(_ values: [Double]) -> Double { exp(values.map { log($0) }.reduce(0, +) / Double(values.count)) }

func column(_ text: String, _ width: Int) -> String {
  text.count >= width ? text : text + String(repeating: " ", count: width - text.count)
}

func number(_ value: Double, _ places: Int = 1) -> String { String(format: "%.\(places)f", value) }

/// Photographs of at least 7.9 megapixels: those named, else those of the corpus, else the largest that is shipped.
func photographs() -> [String] {
  let named = Array(CommandLine.arguments.dropFirst())
  if !named.isEmpty { return named }
  if let corpus = ProcessInfo.processInfo.environment["VITRINE_CORPUS"],
    let files = FileManager.default.enumerator(atPath: corpus + "/photos")
  {
    let large = files.compactMap { $0 as? String }.sorted().map { "\(corpus)/photos/\($0)" }.filter { path in
      guard let data = try? Data(contentsOf: URL(filePath: path)),
        let info = try? DecoderRegistry.standard.info(of: data)
      else { return false }
      return info.width * info.height >= 7_900_000 && (try? Bitmap(decoding: data, size: .pixels(8, 8))) != nil
    }
    if !large.isEmpty { return large }
  }
  print("No VITRINE_CORPUS: using the largest photograph that is shipped.")
  return ["Examples/Photographs/waterfall-cliff-large.jpg"]
}

func bitmap(_ path: String) -> Bitmap? {
  (try? Data(contentsOf: URL(filePath: path))).flatMap { try? Bitmap(decoding: $0) }
}

/// The whole picture shrunk with Lanczos3, to exactly the size of `sample`.
func reference(_ path: String, like sample: Bitmap) -> Bitmap? {
  let upright = scratch.appending(path: "upright.v").path
  let precise = scratch.appending(path: "precise.v").path
  let narrow = scratch.appending(path: "narrow.v").path
  let whole = scratch.appending(path: "whole.v").path
  let wide = scratch.appending(path: "wide.v").path
  let small = scratch.appending(path: "reference.png").path
  guard output(["vips", "autorot", path, upright]).status == 0,
    let width = Double(
      output(["vipsheader", "-f", "width", upright]).text.trimmingCharacters(in: .whitespacesAndNewlines)
    ),
    let height = Double(
      output(["vipsheader", "-f", "height", upright]).text.trimmingCharacters(in: .whitespacesAndNewlines)
    )
  else { return nil }
  // Without "gap" vips filters all the way; one axis after the other, since the scales may differ by a rounding. In floats:
  // of bytes it rounds weights and what lies between, which is a noise of 48 dB, more than there is in what it is to judge.
  _ = output(["vips", "cast", upright, precise, "float"])
  _ = output(["vips", "reduceh", precise, wide, "\(width / Double(sample.width))", "--kernel", "lanczos3"])
  _ = output(["vips", "reducev", wide, narrow, "\(height / Double(sample.height))", "--kernel", "lanczos3"])
  _ = output(["vips", "round", narrow, whole, "rint"])
  _ = output(["vips", "cast", whole, small, "uchar"])
  guard let result = bitmap(small), result.width == sample.width, result.height == sample.height else { return nil }
  return result
}

let files = photographs()
for size in [300, 900] {
  print("\n\(files.count) photographs to \(size) px, \(rounds) rounds, whole processes, medians\n")
  var totals: [String: [(jpeg: Double, png: Double, peak: Double, psnr: Double)]] = [:]
  for file in files {
    let fileSize = Double((try? Data(contentsOf: URL(filePath: file)))?.count ?? 0)
    var runs: [String: [Run]] = [:]
    var jpegRuns: [String: [Run]] = [:]
    for round in 0...rounds {
      for contestant in contestants {
        let target = scratch.appending(path: contestant.name.replacing(" ", with: "")).path
        if let run = run(contestant.command(file, target + ".png", size)), round > 0 {
          runs[contestant.name, default: []].append(run)
        }
        if contestant.writesJPEG, let run = run(contestant.command(file, target + ".jpg", size)), round > 0 {
          jpegRuns[contestant.name, default: []].append(run)
        }
      }
    }
    guard let ours = bitmap(scratch.appending(path: "vitrine.png").path) else { continue }
    let ideal = reference(file, like: ours)
    print("\(URL(filePath: file).lastPathComponent), \(number(fileSize / 1e6)) MB -> \(ours.width)x\(ours.height)")
    print(
      "  " + column("", 24) + column("to JPEG: CPU ms", 17) + column("to PNG: CPU ms", 16) + column("wall ms", 9)
        + column("peak MB", 9) + "PSNR dB"
    )
    for contestant in contestants {
      guard let all = runs[contestant.name], !all.isEmpty else {
        print("  \(column(contestant.name, 24))not there, or it failed")
        continue
      }
      let made = bitmap(scratch.appending(path: contestant.name.replacing(" ", with: "") + ".png").path)
      let isSame = made?.width == ideal?.width && made?.height == ideal?.height
      let psnr = isSame ? ideal.flatMap { made?.psnr(against: $0) } : nil
      let (cpu, peak) = (median(all.map(\.cpu)), median(all.map(\.peak)))
      let jpeg = median(jpegRuns[contestant.name, default: []].map(\.cpu))
      totals[contestant.name, default: []].append((jpeg, cpu, peak, psnr ?? .nan))
      print(
        "  " + column(contestant.name, 24) + column(contestant.writesJPEG ? number(jpeg) : "-", 17)
          + column(number(cpu), 16) + column(number(median(all.map(\.wall))), 9) + column(number(peak), 9)
          + (psnr.map { number($0) } ?? "other size")
      )
    }
  }
  print("\nGeometric means over the files, to \(size) px:")
  for contestant in contestants {
    guard let all = totals[contestant.name] else { continue }
    let psnrs = all.map(\.psnr).filter(\.isFinite)
    print(
      "  " + column(contestant.name, 24) + "CPU "
        + (contestant.writesJPEG ? "\(number(geometricMean(all.map(\.jpeg)))) ms to JPEG, " : "")
        + "\(number(geometricMean(all.map(\.png)))) ms to PNG, peak "
        + "\(number(geometricMean(all.map(\.peak)))) MB, least PSNR \(psnrs.min().map { number($0) } ?? "-") dB"
    )
  }
}
