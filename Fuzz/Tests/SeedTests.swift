import Foundation
import Testing

/// What `make check NAME=fuzzing` runs for hours, for moments: its seeds and the small files of the tests, whole and damaged.
struct SeedTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  @Test(arguments: targets.keys.sorted())
  func takesItsSeeds(_ name: String) throws {
    let target = try #require(targets[name])
    var seed: UInt64 = 20_261_124
    func random(below limit: Int) -> Int {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(seed >> 33) % limit
    }
    let files = try Self.files(for: name)
    #expect(files.count > 50)
    for file in files {
      let data = try Data(contentsOf: file)
      target(data)
      target(data.prefix(random(below: data.count + 1)))
      var damaged = data
      for _ in 0..<3 where !data.isEmpty { damaged[random(below: data.count)] = UInt8(random(below: 256)) }
      target(damaged)
    }
  }

  /// Small pictures of every format, for which a target is to find its errors fast, and the target's own seeds.
  private static func files(for target: String) throws -> [URL] {
    let folders = ["Tests/ImagingTests/Fixtures", "Tests/CodecTests/Fixtures", "Fuzz/Seeds/\(target)"]
    return try folders.flatMap { folder in
      let folder = root.appendingPathComponent(folder)
      guard FileManager.default.fileExists(atPath: folder.path) else { return [URL]() }
      return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: [.fileSizeKey])
        .filter { try $0.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0 < 4000 }
        .sorted { $0.path < $1.path }
    }
  }
}
