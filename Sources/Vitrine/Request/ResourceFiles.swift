import VitrineRuntime

/// Where files that came with a program are.
enum ResourceFiles {
  /// The path of a file in the first of the folders that has it; `nil` where none has, and for a name that leads out of them.
  ///
  /// Blocks for as long as the system needs to look into folders.
  static func path(of name: String, in folders: [String]) -> String? {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard !name.isEmpty, !parts.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }), !name.contains("\0") else {
      return nil
    }
    return folders.map { "\($0.hasSuffix("/") ? String($0.dropLast()) : $0)/\(name)" }
      .first { FileManager.default.fileExists(atPath: $0) }
  }
}
