import Contest
import Foundation
import VitrineImaging

/// A file, and the size at which it is decoded.
struct Input {
  let name: String
  let data: Data
  let size: TargetSize?
  /// The number of images in a round.
  let count: Int
}

/// A 12 MP JPEG, an avatar of 100 KB and an AVIF first.
func inputs() throws -> [Input] {
  let corpus = ProcessInfo.processInfo.environment["VITRINE_CORPUS"] ?? ""
  let photograph = try first(
    [
      "\(corpus)/photos/jpg/mobile/HMD_Nokia_8.3_5G.jpg", "Examples/Photographs/mountains.jpg",
    ] + files("Examples/Photographs", "jpg")
  )
  let avif = try first([
    "\(corpus)/avif/tests/data/seine_sdr_gainmap_srgb.avif", "Tests/CodecTests/Fixtures/lossless.avif",
  ])
  let large = try Bitmap(decoding: photograph, size: .pixels(4000, 3000, .exact, enlarges: true))
  let jpeg = try large.encoded(as: .jpeg(quality: 85))
  // The quality that comes nearest to 100 KB.
  let square = try Bitmap(decoding: photograph, size: .pixels(512, 512, .fill, enlarges: true))
  let avatars: [Data] = try (1...100).map { level in try square.encoded(as: .jpeg(quality: level)) }
  func distance(_ data: Data) -> Int { abs(data.count - 100_000) }
  let avatar = avatars.min { distance($0) < distance($1) } ?? jpeg
  let png = try Bitmap(decoding: photograph, size: .pixels(2000, 1500, .exact, enlarges: true)).encoded(as: .png)
  return [
    Input(name: "JPEG, 12 MP, to 300 px", data: jpeg, size: .pixels(300), count: 20),
    Input(name: "JPEG, \(avatar.count / 1000) KB, to 128 px", data: avatar, size: .pixels(128), count: 200),
    Input(name: "AVIF, \(avif.count / 1000) KB, to 300 px", data: avif, size: .pixels(300), count: 20),
    Input(name: "JPEG, 12 MP, whole", data: jpeg, size: nil, count: 3),
    Input(name: "PNG, 3 MP, to 300 px", data: png, size: .pixels(300), count: 5),
  ]
}

private func first(_ paths: [String]) throws -> Data {
  for path in paths { if let data = FileManager.default.contents(atPath: path) { return data } }
  throw BenchmarkError("none of these files is there: \(paths)")
}

private func files(_ folder: String, _ ending: String) -> [String] {
  let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  return names.filter { $0.hasSuffix(".\(ending)") }.sorted().map { "\(folder)/\($0)" }
}
