package import VitrineImaging
package import VitrineRuntime
import VitrineTesting

/// This repository.
package enum Repository {
  package static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}

/// The small files beside the tests; the README of each folder says how they were made.
package enum Fixture {
  private static let folders = ["ImagingTests", "CodecTests"].map {
    Repository.folder.appending(path: "Tests/\($0)/Fixtures")
  }

  /// Returns the place of a fixture, which has a name of its own among those of all folders.
  package static func url(_ name: String) -> URL {
    let places = folders.map { $0.appending(path: name) }
    return places.first { FileManager.default.fileExists(atPath: $0.path) } ?? places[0]
  }

  package static func data(_ name: String) throws -> Data { try Data(contentsOf: url(name)) }

  /// Returns the pixels that another decoder made of a fixture.
  package static func reference(_ name: String) throws -> Bitmap {
    try Bitmap(decoding: data("\(name).reference.png"))
  }

  /// Returns the names of the encoded images, without references, that end in `ending`, by folder and name.
  package static func names(_ ending: String = "") -> [String] {
    folders.flatMap { folder in
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
      return names.filter { $0.contains(".") && !$0.contains("reference") && !$0.hasSuffix(".md") }.sorted()
    }
    .filter { $0.hasSuffix(ending) }
  }
}

/// The photographs that the repository ships.
package enum Photograph {
  package static let folder = Repository.folder.appending(path: "Examples/Photographs")

  package static let names: [String] = {
    let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
    return (names ?? []).filter { !$0.hasSuffix(".md") }.sorted()
  }()

  package static func data(_ name: String) throws -> Data { try Data(contentsOf: folder.appending(path: name)) }
}

/// The picture of most tests: a test pattern of 64 by 48 pixels.
package enum TestPicture {
  package static let bitmap = Bitmap.testPattern(width: 64, height: 48)

  /// The picture as a PNG, encoded once for all tests.
  package static let png: Data = {
    do { return try bitmap.encoded(as: .png) } catch { preconditionFailure("\(error)") }
  }()
}
