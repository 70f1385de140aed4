// make conformance: every image at hand, decoded and compared with what another program makes of it.
//
// PNG, GIF, BMP, QOI and WebP are to be the same to the last bit, JPEG within one level of djpeg's full decode. Profiles
// are left out for the comparison, since the others do not convert. What is refused is listed with its reason.

import Foundation
import VitrineAVIF
import VitrineHEIF
import VitrineImaging
import VitrineJXL
import VitrineSVG
import VitrineTIFF

struct Outcome {
  enum Verdict: String, CaseIterable { case same, unchecked, differs, refused }

  var file: String
  var format: String
  var verdict: Verdict
  var note: String
  var cpu = 0.0
  var peak = 0.0
  var sourceMegapixels = 0.0
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
let extensions: Set = [
  "jpg", "jpeg", "png", "gif", "webp", "bmp", "ico", "qoi", "avif", "heic", "heif", "jxl", "tif", "tiff", "svg",
]
let files = folders.flatMap { folder in
  (FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? [])
    .filter { extensions.contains(URL(filePath: $0).pathExtension.lowercased()) }
    .sorted().map { (path: "\(folder)/\($0)", name: "\(URL(filePath: folder).lastPathComponent)/\($0)") }
}

/// The largest difference of a component; colours that nobody sees do not count.
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
  // Whoever brings luma and chroma back to colours may round a few times on the way.
  case .avif, .heic, .jxl: 3
  // 16 bits to 8: programs round in two ways. JPEG: the standard lets inverse transforms differ by a level.
  default: format == .jpeg || info.bitsPerComponent > 8 ? 1 : 0
  }
}

func judge(_ file: (path: String, name: String)) -> Outcome {
  guard let data = FileManager.default.contents(atPath: file.path) else {
    return Outcome(file: file.name, format: "?", verdict: .refused, note: "cannot be read")
  }
  let format = ImageFormat.sniff(data)
  var outcome = Outcome(file: file.name, format: format.map { "\($0)" } ?? "unknown", verdict: .refused, note: "")
  let target = scratch.appending(path: "out.png").path
  let fields = output([measure, vitrine, "thumbnail", file.path, "-o", target, "--format", "png"]).text
    .split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
  if fields.count == 4 { (outcome.cpu, outcome.peak) = (fields[0] / 1000, fields[2] / 1024) }
  if fields.count == 4, fields[3] > 1 {
    outcome.verdict = .differs
    outcome.note = "the tool ended with status \(Int(fields[3]))"
    return outcome
  }
  var options = DecodeOptions()
  // A profile that is too long is left out, so that what is stored is compared.
  if let format, ![.avif, .heic, .jxl].contains(format) { options.limits.metadataByteCount = 0 }
  do throws(ImageError) {
    let image = try DecoderRegistry.standard.decode(data, options)
    outcome.sourceMegapixels = Double(image.info.width * image.info.height) / 1e6
    guard let format else { return outcome }
    outcome.verdict = .unchecked
    var notes: [String] = []
    for opinion in opinions(on: file.path, format) {
      guard var other = opinion() else { continue }
      // The others show what is stored; in files of the ISO's kind turning is no metadata, and they do it too.
      if ![.avif, .heic, .jxl].contains(format) {
        other = other.upright(image.info.orientation.rawValue) ?? other
      }
      guard let most = difference(image.bitmap, other) else {
        notes.append("\(other.program): \(other.width)x\(other.height)")
        continue
      }
      notes.append("\(other.program): by \(most)")
      guard most > tolerance(format, image.info) else {
        outcome.verdict = .same
        break
      }
    }
    if outcome.verdict != .same, !notes.isEmpty { outcome.verdict = .differs }
    outcome.note = notes.isEmpty ? "no other program decodes it" : notes.joined(separator: ", ")
  } catch {
    let others = format.map { opinions(on: file.path, $0).compactMap { $0()?.program } } ?? []
    let takenByOther = others.isEmpty ? "" : "; shown by \(others.joined(separator: ", "))"
    outcome.note = "[\(error.code)] \(error.detail)\(takenByOther)"
  }
  return outcome
}

DecoderRegistry.standard.add(.avif)
DecoderRegistry.standard.add(.heif)
DecoderRegistry.standard.add(.jxl)
DecoderRegistry.standard.add(.tiff)
DecoderRegistry.standard.add(.svg)
var outcomes: [Outcome] = []
var tiles: [Bitmap] = []
for (index, file) in files.enumerated() {
  let outcome = judge(file)
  outcomes.append(outcome)
  if outcome.verdict != .refused, let data = FileManager.default.contents(atPath: file.path),
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
  padded("format", 10) + padded("files", 8) + Outcome.Verdict.allCases.map { padded($0.rawValue, 11) }.joined()
    + padded("most CPU ms", 13) + "most MB"
)
for format in Set(outcomes.map(\.format)).sorted() {
  let own = outcomes.filter { $0.format == format }
  let counts = Outcome.Verdict.allCases.map { verdict in padded("\(own.count { $0.verdict == verdict })", 11) }
  let most = (own.map(\.cpu).max() ?? 0, own.map(\.peak).max() ?? 0)
  print(
    padded(format, 10) + padded("\(own.count)", 8) + counts.joined()
      + padded(String(format: "%.0f", most.0), 13) + String(format: "%.0f", most.1)
  )
}
print(
  "\nsame: to the last bit; JPEG and 16 bits: within one level; AVIF, HEIC, JPEG XL: three. unchecked: no other program here decodes it."
)
print("A file is the same if one of the programs agrees; those asked before it do not:")
for outcome in outcomes where outcome.verdict == .same && outcome.note.contains(",") {
  print("  \(outcome.file): \(outcome.note)")
}
for verdict in [Outcome.Verdict.differs, .refused, .unchecked] {
  let own = outcomes.filter { $0.verdict == verdict }
  print("\n\(verdict.rawValue): \(own.count)")
  for outcome in own { print("  \(outcome.file): \(outcome.note)") }
}
print("\nmost memory for its size (MB beyond 16 and the picture itself, which is written as PNG):")
for outcome in outcomes.sorted(by: { $0.peak - $0.sourceMegapixels * 4 > $1.peak - $1.sourceMegapixels * 4 }).prefix(5)
{
  print("  \(outcome.file): \(String(format: "%.0f MB at %.1f megapixels", outcome.peak, outcome.sourceMegapixels))")
}

try Sheet.of(tiles).encoded(as: .png).write(to: URL(filePath: environment["SHEET"] ?? "contact-sheet.png"))
// Differences are for people to judge: the programs differ among themselves. A crash is not.
exit(outcomes.contains { $0.note.hasPrefix("the tool ended") } ? 1 : 0)
