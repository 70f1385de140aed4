import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTesting

/// The folder of this repository.
let repository = URL(filePath: #filePath)
  .deletingLastPathComponent()
  .deletingLastPathComponent()
  .deletingLastPathComponent()
  .deletingLastPathComponent()

/// The tiny files beside the tests; their README says how they were made.
enum Fixture {
  static func data(_ name: String) throws -> Data {
    try Data(contentsOf: repository.appending(path: "Tests/ImagingTests/Fixtures/\(name)"))
  }

  /// What another decoder made of a fixture.
  static func reference(_ name: String) throws -> Bitmap {
    try Bitmap(decoding: data("\(name).reference.png"))
  }
}

/// The photographs that the repository ships.
enum Photograph {
  static let folder = repository.appending(path: "Examples/Photographs")

  static func data(_ name: String) throws -> Data {
    try Data(contentsOf: folder.appending(path: name))
  }
}

/// Real files of others, in the folder that the environment names; tests that want them are skipped without it.
enum Corpus {
  static let folder = ProcessInfo.processInfo.environment["VITRINE_CORPUS"].map { URL(filePath: $0) }
  static let hint: Comment = "VITRINE_CORPUS names no folder of test files"

  static var isThere: Bool { folder != nil }

  static func data(_ path: String) throws -> Data {
    try Data(contentsOf: #require(folder).appending(path: path))
  }

  /// The paths of the files in a folder of the corpus and those below it, in order; none where there is no corpus.
  static func files(in path: String, ending: String) -> [String] {
    guard let root = folder?.appending(path: path).path else { return [] }
    let all = FileManager.default.enumeratedFiles(root)
    return all.filter { $0.hasSuffix(ending) }.sorted().map { "\(path)/\($0)" }
  }
}

extension FileManager {
  fileprivate func enumeratedFiles(_ root: String) -> [String] {
    (try? subpathsOfDirectory(atPath: root)) ?? []
  }
}
