package import Testing
package import VitrineRuntime

/// Files of others, in the folder that `VITRINE_CORPUS` names; tests that want them are skipped without it.
package enum Corpus {
  package static let folder = ProcessInfo.processInfo.environment["VITRINE_CORPUS"].map { URL(filePath: $0) }

  package static func data(_ path: String) throws -> Data {
    try Data(contentsOf: #require(folder).appending(path: path))
  }

  /// Returns the paths of the files in a folder of the corpus and those below it, in order; none without a corpus.
  package static func files(in path: String = "", ending endings: String...) -> [String] {
    guard let root = folder?.appending(path: path).path else { return [] }
    let all = (try? FileManager.default.subpathsOfDirectory(atPath: root)) ?? []
    return all.filter { name in endings.contains { name.lowercased().hasSuffix($0) } }.sorted()
      .map { path.isEmpty ? $0 : "\(path)/\($0)" }
  }
}

extension Trait where Self == ConditionTrait {
  /// The condition of a test that reads the corpus.
  package static var needsCorpus: Self {
    .enabled(if: Corpus.folder != nil, "VITRINE_CORPUS names no folder of test files")
  }
}
