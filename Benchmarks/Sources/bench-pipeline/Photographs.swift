import Contest
import Foundation
import Vitrine

/// JPEG files of about 50 KB each, made from the package's photographs, in a folder for a server.
struct Photographs {
  static let count = 240

  let folder: URL
  let names: [String]
  let files: [Data]

  init(in folder: URL) throws {
    let examples = URL(filePath: "Examples/Photographs")
    let sources = ["aeroplane-rgb.png", "lighthouse-progressive.jpg", "macaws-444.jpg", "motocross-lossy.webp"]
    var bodies: [Data] = []
    for name in sources {
      let data = try Data(contentsOf: examples.appending(path: name))
      bodies.append(try Self.jpeg(try Bitmap(decoding: data, size: .pixels(640, 640))))
    }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    self.folder = folder
    names = (0..<Self.count).map { "\($0).jpg" }
    files = (0..<Self.count).map { bodies[$0 % bodies.count] }
    for (name, file) in zip(names, files) { try file.write(to: folder.appending(path: name)) }
  }

  /// Encodes with the quality that comes closest to 50,000 bytes.
  private static func jpeg(_ bitmap: Bitmap) throws -> Data {
    var best = Data()
    for quality in stride(from: 40, through: 95, by: 5) {
      let file = try bitmap.encoded(as: ImageEncoding(.jpeg, quality: quality))
      if abs(file.count - 50_000) < abs(best.count - 50_000) { best = file }
    }
    return best
  }

  var description: String {
    let sizes = files.map(\.count)
    let mean = sizes.reduce(0, +) / sizes.count / 1000
    return "\(Self.count) JPEG files of \(mean) KB on average, at most 640 px."
  }
}
