// make check NAME=conformance: decodes every available image and compares the result with other programs.
//
// PNG, GIF, BMP, QOI and WebP must be identical to the last bit, JPEG within one level of djpeg's full decode. Profiles
// are ignored, since the other programs do not convert them. If all programs differ, or the image is refused,
// explanations.txt has the reason. Without one the exit status is 1. VITRINE_CONFORMANCE limits the run to files whose
// names contain its value.

import Foundation
import VitrineAVIF
import VitrineHEIF
import VitrineImaging
import VitrineJXL
import VitrineSVG
import VitrineTIFF

struct Outcome {
  enum Verdict: String, CaseIterable {
    case same, explained, wrong, unchecked
    case refused = "refused (justified)"
    case refusedWithoutReason = "refused (not)"

    var isFailure: Bool { self == .wrong || self == .unchecked || self == .refusedWithoutReason }
  }

  var file: String
  var format: String
  var verdict: Verdict
  var note: String
  /// The reason why a difference or a refusal is no fault.
  var reason: String?
  var cpu = 0.0
  var peak = 0.0
  var sourceMegapixels = 0.0
  /// Megabytes of the written PNG.
  var written = 0.0
  /// True if the tool decodes the format in a process of its own.
  var hasProcess = false
  /// Megabytes beyond the programs themselves, the written PNG and the image.
  ///
  /// An image from a codec process counts three times: once as a copy in the tool, and once in each of the processes
  /// that share its memory.
  var extraMemory: Double { peak - written - (hasProcess ? 30 : 16) - sourceMegapixels * (hasProcess ? 12 : 4) }
}

let environment = ProcessInfo.processInfo.environment
let vitrine = environment["VITRINE"] ?? ".build/release/vitrine"
let measure = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "measure").path
let scratch = FileManager.default.temporaryDirectory.appending(
  path: "vitrine-conformance-\(ProcessInfo.processInfo.processIdentifier)"
)
try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: scratch) }

let folders = [
  environment["VITRINE_CORPUS"], "Examples/Photographs", "Tests/ImagingTests/Fixtures", "Tests/CodecTests/Fixtures",
].compactMap { $0 }
let extensions = Set(ImageFormat.all.filter { $0 != .jpeg2000 }.flatMap(\.fileExtensions))
let files = folders.flatMap { folder in
  (FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? [])
    .filter { extensions.contains(URL(filePath: $0).pathExtension.lowercased()) }
    .sorted().map { (path: "\(folder)/\($0)", name: "\(URL(filePath: folder).lastPathComponent)/\($0)") }
}.filter { file in environment["VITRINE_CONFORMANCE"].map { file.name.contains($0) } ?? true }

/// The largest difference of a component, ignoring the colours of invisible pixels.
func difference(_ bitmap: Bitmap, _ other: Picture) -> Int? {
  guard bitmap.width == other.width, bitmap.height == other.height else { return nil }
  return bitmap.withUnsafeBytes { bytes in
    var most = 0
    for at in stride(from: 0, to: other.pixels.count, by: 4) {
      let alphas = (Int(bytes[at + 3]), Int(other.pixels[at + 3]))
      most = max(most, abs(alphas.0 - alphas.1))
      guard alphas.0 > 0 || alphas.1 > 0 else { continue }
      for index in at..<at + 3 { most = max(most, abs(Int(bytes[index]) - Int(other.pixels[index]))) }
    }
    return most
  }
}

func tolerance(_ format: ImageFormat, _ info: ImageInfo) -> Int {
  switch format {
  // Converting luma and chroma back to colours may round several times.
  case .avif, .heic, .jxl: 3
  // From 16 bits to 8, programs round in two ways. In JPEG, the standard lets inverse transforms differ by a level.
  default: format == .jpeg || info.bitsPerComponent > 8 ? 1 : 0
  }
}

/// The formats whose rotation is part of the image, so that other programs apply it too.
let turnedByAll: Set<ImageFormat> = [.avif, .heic, .jxl]

@MainActor
func judge(_ file: (path: String, name: String)) -> Outcome {
  guard let data = FileManager.default.contents(atPath: file.path) else {
    return Outcome(file: file.name, format: "?", verdict: .wrong, note: "cannot be read")
  }
  let format = ImageFormat.sniff(data)
  var outcome = Outcome(file: file.name, format: format.map { "\($0)" } ?? "unknown", verdict: .wrong, note: "")
  let target = scratch.appending(path: "out.png").path
  try? FileManager.default.removeItem(atPath: target)
  let fields = output([measure, vitrine, "thumbnail", file.path, "-o", target, "--format", "png"]).text
    .split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
  if fields.count == 4 { (outcome.cpu, outcome.peak) = (fields[0] / 1000, fields[2] / 1024) }
  let size = try? FileManager.default.attributesOfItem(atPath: target)[.size] as? Int
  outcome.written = Double((size ?? nil) ?? 0) / 1_048_576
  outcome.hasProcess = format.map { !DecoderRegistry.standard.formats.contains($0) } ?? false
  if fields.count == 4, fields[3] > 1 {
    outcome.note = "the tool exited with status \(Int(fields[3]))"
    return outcome
  }
  do throws(ImageError) {
    let image = try decoders.decode(data)
    outcome.sourceMegapixels = Double(image.info.width * image.info.height) / 1e6
    guard outcome.extraMemory <= memoryLimit else {
      outcome.note = String(format: "takes %.0f MB beyond the picture", outcome.extraMemory)
      return outcome
    }
    guard let format else { return outcome }
    compare(image, with: opinions(on: file.path, format), format, &outcome)
  } catch {
    let others = format.map { opinions(on: file.path, $0).compactMap { $0()?.program } } ?? []
    let takenByOther = others.isEmpty ? "" : "; shown by \(others.joined(separator: ", "))"
    outcome.note = "[\(error.code)] \(error.detail)\(takenByOther)"
    outcome.reason = explanations.refusal(file.name, code: "\(error.code)")
    outcome.verdict = outcome.reason == nil ? .refusedWithoutReason : .refused
    if outcome.extraMemory > memoryLimit { outcome.verdict = .wrong }
  }
  return outcome
}

/// Tries one program after the other, until one agrees.
@MainActor
func compare(
  _ image: ImageContainer,
  with opinions: [() -> Picture?],
  _ format: ImageFormat,
  _ outcome: inout Outcome,
) {
  var notes: [String] = []
  var nearest: Int?
  for opinion in opinions {
    guard var other = opinion() else { continue }
    if !turnedByAll.contains(format) || !other.isUpright {
      other = other.upright(image.info.orientation.rawValue) ?? other
    }
    guard let most = difference(image.bitmap, other) else {
      notes.append("\(other.program): \(other.width)x\(other.height)")
      nearest = nearest ?? 256
      continue
    }
    notes.append("\(other.program): by \(most)")
    nearest = min(nearest ?? most, most)
    guard most > tolerance(format, image.info) else {
      outcome.verdict = .same
      break
    }
  }
  outcome.note = notes.isEmpty ? "no other program decodes it" : notes.joined(separator: ", ")
  guard outcome.verdict != .same else { return }
  outcome.reason =
    nearest.map { explanations.difference(outcome.file, by: $0) } ?? explanations.unchecked(outcome.file)
  outcome.verdict = outcome.reason != nil ? .explained : notes.isEmpty ? .unchecked : .wrong
}

/// Megabytes beyond the image itself.
let memoryLimit = 64.0
/// Whether all frames of animations are compared, and not the first of every file.
let comparesFrames = CommandLine.arguments.dropFirst().first == "frames"
let list = comparesFrames ? "explanations-frames.txt" : "explanations.txt"
var explanations = try Explanations(
  String(contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(path: list), encoding: .utf8)
)
var decoders = DecoderRegistry.standard
decoders.add(Uncolored(base: JPEGDecoder()))
decoders.add(Uncolored(base: PNGDecoder()))
decoders.add(Uncolored(base: WebPDecoder()))
decoders.add(Uncolored(base: GIFDecoder()))
decoders.add(Uncolored(base: BMPDecoder()))
decoders.add(Uncolored(base: ICODecoder()))
decoders.add(Uncolored(base: AVIFDecoder()))
decoders.add(Uncolored(base: HEIFDecoder()))
decoders.add(Uncolored(base: JXLDecoder()))
decoders.add(Uncolored(base: TIFFDecoder()))
decoders.add(.svg)
if comparesFrames {
  let isGood = compareFrames()
  try? FileManager.default.removeItem(at: scratch)
  exit(isGood ? 0 : 1)
}
var outcomes: [Outcome] = []
var tiles: [Bitmap] = []
for (index, file) in files.enumerated() {
  let outcome = judge(file)
  outcomes.append(outcome)
  if !outcome.verdict.rawValue.hasPrefix("refused"), let data = FileManager.default.contents(atPath: file.path),
    let tile = try? Bitmap(decoding: data, size: .pixels(Double(Sheet.tile), Double(Sheet.tile)))
  {
    tiles.append(tile)
  }
  if index % 50 == 49 { FileHandle.standardError.write(Data("\(index + 1) of \(files.count)\n".utf8)) }
}

func padded(_ text: String, _ width: Int) -> String {
  text + String(repeating: " ", count: max(1, width - text.count))
}

print(
  padded("format", 10) + padded("files", 7)
    + Outcome.Verdict.allCases.map { padded($0.rawValue, $0.rawValue.count + 3) }.joined()
    + padded("most CPU ms", 13) + "most MB"
)
func tableRow(_ name: String, _ own: [Outcome]) -> String {
  let counts = Outcome.Verdict.allCases.map { verdict in
    padded("\(own.count { $0.verdict == verdict })", verdict.rawValue.count + 3)
  }
  let most = (own.map(\.cpu).max() ?? 0, own.map(\.peak).max() ?? 0)
  return padded(name, 10) + padded("\(own.count)", 7) + counts.joined() + padded(String(format: "%.0f", most.0), 13)
    + String(format: "%.0f", most.1)
}
for format in Set(outcomes.map(\.format)).sorted() { print(tableRow(format, outcomes.filter { $0.format == format })) }
print(tableRow("all", outcomes))
print(
  """

  same: identical to one of the programs, or to the expected image of the test suite; JPEG and 16 bits: within one level;
  AVIF, HEIC, JPEG XL: within three. explained: reviewed, with the reason why it is no fault.
  wrong: a difference or excessive memory without such a reason. unchecked: no other program here decodes it.
  """
)
for verdict in Outcome.Verdict.allCases where verdict != .same {
  let own = outcomes.filter { $0.verdict == verdict }
  print("\n\(verdict.rawValue): \(own.count)")
  for outcome in own {
    print("  \(outcome.file): \(outcome.note)")
    if let reason = outcome.reason { print("    \(reason)") }
  }
}
let stale =
  environment["VITRINE_CONFORMANCE"] != nil
  ? [] : explanations.stale(in: folders.map { URL(filePath: $0).lastPathComponent })
if !stale.isEmpty { print("\nunused explanations: \(stale.count)") }
for line in stale { print("  \(line.kind) \(line.pattern)") }
print("\nIdentical to one program, but not to those tried before it:")
for outcome in outcomes where outcome.verdict == .same && outcome.note.contains(",") {
  print("  \(outcome.file): \(outcome.note)")
}
print("\nmost memory beyond the programs, the image and the PNG that is written:")
for outcome in outcomes.sorted(by: { $0.extraMemory > $1.extraMemory }).prefix(5) {
  let numbers = (outcome.extraMemory, outcome.peak, outcome.sourceMegapixels)
  print("  \(outcome.file): \(String(format: "%.0f of %.0f MB at %.1f megapixels", numbers.0, numbers.1, numbers.2))")
}

try Sheet.of(tiles).encoded(as: .png).write(to: URL(filePath: environment["SHEET"] ?? "contact-sheet.png"))
exit(outcomes.contains { $0.verdict.isFailure } || !stale.isEmpty ? 1 : 0)
