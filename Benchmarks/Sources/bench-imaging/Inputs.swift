import Foundation
import VitrineImaging

/// The kinds of files, each compared separately.
enum Kind: String, CaseIterable {
  case baseline = "JPEG, baseline"
  /// Those of the corpus are from small cameras; a large one writes 3.5 to 4 MB.
  case large = "JPEG, 3.5 to 4 MB"
  case progressive = "JPEG, progressive"
  case png = "PNG"
  case webP = "WebP"
  case avif = "AVIF"
  case heic = "HEIC"
  case tiff = "TIFF, uncompressed"
  /// Four times as many pixels, with smaller copies, as a microscope or a map has.
  case pyramid = "TIFF, pyramid"
  case jxl = "JPEG XL"
  /// The icon of the gallery, whatever the photograph.
  case svg = "SVG"

  /// The kinds of the tables that compare all programs; the others are measured only by the clock.
  static let compared = allCases.filter { $0 != .jxl && $0 != .svg }

  var isJPEG: Bool { [.baseline, .large, .progressive].contains(self) }

  var contestants: [Contestant] {
    isJPEG || self == .heic ? allContestants : allContestants.filter { $0.name != fast.name }
  }

  var fileExtension: String {
    switch self {
    case .baseline, .large, .progressive: "jpg"
    case .png: "png"
    case .webP: "webp"
    case .avif: "avif"
    case .heic: "heic"
    case .tiff, .pyramid: "tif"
    case .jxl: "jxl"
    case .svg: "svg"
    }
  }

  /// Converts the JPEG `source`, or the PNG `upright`, to this kind with a program that is not a contestant.
  func encode(_ source: String, upright: String, to target: String) -> [String] {
    switch self {
    case .baseline: ["cp", source, target]
    case .large: ["sh", "-ec", largeScript, "sh", source, target]
    case .progressive: ["jpegtran", "-progressive", "-copy", "all", "-outfile", target, source]
    case .png: ["cp", upright, target]
    case .webP: ["cwebp", "-quiet", "-q", "85", upright, "-o", target]
    case .avif: ["avifenc", "-s", "8", "--min", "20", "--max", "30", upright, target]
    case .heic: ["heif-enc", "-q", "60", upright, "-o", target]
    case .tiff: ["vips", "copy", upright, target]
    case .pyramid: ["sh", "-ec", pyramidScript, "sh", upright, target]
    case .jxl: ["cjxl", "-q", "88", "-e", "4", upright, target]
    case .svg: ["cp", "Desktop/io.github.vitrine.Gallery.svg", target]
    }
  }

  /// Decodes a whole file to a PNG, with the format's own decoder unless vips uses that.
  func decode(_ path: String, to target: String) -> [String] {
    switch self {
    case .baseline, .large, .progressive, .png, .tiff, .pyramid: ["vips", "autorot", path, target]
    case .webP: ["dwebp", "-quiet", path, "-o", target]
    case .avif: ["avifdec", path, target]
    case .heic: ["heif-convert", path, target]
    case .jxl: ["djxl", path, target]
    case .svg: ["rsvg-convert", path, "-o", target]
    }
  }
}

/// Enlarges a photograph to 12 megapixels, adds the noise of a sensor, and takes the first quality of 3.5 MB.
private let largeScript = """
  width=$(vipsheader -f width "$1")
  height=$(vipsheader -f height "$1")
  scale=$(awk "BEGIN { print sqrt(12192768 / ($width * $height)) }")
  vips resize "$1" "$2.v" "$scale"
  vips gaussnoise "$2.noise.v" "$(vipsheader -f width "$2.v")" "$(vipsheader -f height "$2.v")" --sigma 3 --mean 0
  vips add "$2.v" "$2.noise.v" "$2.sum.v"
  vips cast "$2.sum.v" "$2.v" uchar
  for quality in 70 75 80 85 88 90 91 92 93 94 95 96 97 98; do
    vips jpegsave "$2.v" "$2" --Q $quality --subsample-mode on
    [ "$(stat -c %s "$2")" -lt 3500000 ] || break
  done
  rm "$2.v" "$2.noise.v" "$2.sum.v"
  """

private let pyramidScript = """
  vips resize "$1" "$2.v" 2
  vips tiffsave "$2.v" "$2" --tile --pyramid --compression jpeg
  rm "$2.v"
  """

struct Input {
  let path: String
  let kind: Kind
  let longerSide: Int
  let megapixels: Double
  let byteCount: Int
  /// True if its width is its longer side.
  let isWide: Bool
  var name: String { URL(filePath: path).lastPathComponent }

  init?(_ path: String, _ kind: Kind) {
    guard let byteCount = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int else { return nil }
    let fields = output([vitrine, "info", "--json", path]).text
    guard let json = try? JSONSerialization.jsonObject(with: Data(fields.utf8)) as? [String: Any],
      let width = json["width"] as? Int, let height = json["height"] as? Int
    else { return nil }
    (self.path, self.kind, self.byteCount) = (path, kind, byteCount)
    (longerSide, megapixels, isWide) = (max(width, height), Double(width * height) / 1e6, width >= height)
  }
}

private let leastMegapixels = 7.9

/// Photographs of at least 7.9 megapixels: the named ones, or those of the corpus, or the largest in the package.
func photographs() -> [Input] {
  let named = CommandLine.arguments.dropFirst()
  if !named.isEmpty { return named.compactMap { Input($0, .baseline) } }
  let large = corpus("photos", ["jpg", "jpeg"], .baseline).filter {
    (try? Bitmap(decoding: data($0.path), size: .pixels(8, 8))) != nil
  }
  if !large.isEmpty { return large }
  print("No VITRINE_CORPUS: using the largest photograph in the package.")
  return ["Examples/Photographs/waterfall-cliff-large.jpg"].compactMap { Input($0, .baseline) }
}

private func corpus(_ folder: String, _ extensions: Set<String>, _ kind: Kind) -> [Input] {
  guard let corpus = environment["VITRINE_CORPUS"],
    let files = FileManager.default.enumerator(atPath: "\(corpus)/\(folder)")
  else { return [] }
  return files.compactMap { $0 as? String }.sorted()
    .filter { extensions.contains(URL(filePath: $0).pathExtension.lowercased()) }
    .compactMap { Input("\(corpus)/\(folder)/\($0)", kind) }
    .filter { $0.megapixels >= leastMegapixels }
}

/// The files of one kind: conversions of the photographs, and those of the corpus.
func inputs(_ kind: Kind, _ photographs: [Input]) -> [Input] {
  guard kind != .baseline else { return photographs }
  let known: [Input] =
    switch kind {
    case .webP: corpus("webp", ["webp"], kind)
    case .heic: corpus("photos", ["heic"], kind)
    case .baseline, .large, .progressive, .png, .avif, .tiff, .pyramid, .jxl, .svg: []
    }
  // The longest files have the most detail.
  let sources = photographs.sorted { $0.byteCount > $1.byteCount }.prefix(max(1, 3 - known.count))
  let made = sources.compactMap { source -> Input? in
    let stem = source.name.split(separator: ".").first.map(String.init) ?? "photograph"
    let upright = scratch.appending(path: "\(stem)-upright.png").path
    let target = scratch.appending(path: "\(stem)-\(kind).\(kind.fileExtension)").path
    if !FileManager.default.fileExists(atPath: upright) {
      guard output(["vips", "autorot", source.path, "\(upright)[strip]"]).status == 0 else { return nil }
    }
    guard output(kind.encode(source.path, upright: upright, to: target)).status == 0 else { return nil }
    return Input(target, kind)
  }
  return made + known
}

/// An image as small as the encoder can make it, which shows the cost of a program before it decodes anything.
func tiny(_ kind: Kind) -> Input? {
  let upright = scratch.appending(path: "tiny-upright.png").path
  let source = scratch.appending(path: "tiny-source.jpg").path
  let target = scratch.appending(path: "tiny-\(kind).\(kind.fileExtension)").path
  _ = output(["vips", "black", upright, "1", "1", "--bands", "3"])
  _ = output(["vips", "copy", upright, source])
  // A picture that is made large would not be tiny.
  let same = kind == .large ? .baseline : kind
  guard output(same.encode(source, upright: upright, to: target)).status == 0 else { return nil }
  return Input(target, kind)
}

func data(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }
