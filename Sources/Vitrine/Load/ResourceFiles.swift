import VitrineRuntime

/// A search for files that came with the program.
package enum ResourceFiles {
  /// Returns the path of a file among the program's own; `nil` if there is none.
  ///
  /// Blocks while the system looks up files.
  package static func path(of name: String) -> String? { path(of: name, in: PlatformDefaults.resourceFolders) }

  /// Returns the path of a file in the first folder that has it; `nil` if none has, or if the name leads out of them.
  ///
  /// Blocks while the system looks up files.
  static func path(of name: String, in folders: [String]) -> String? {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard !name.isEmpty, !parts.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }), !name.contains("\0") else {
      return nil
    }
    return folders.map { "\($0.hasSuffix("/") ? String($0.dropLast()) : $0)/\(name)" }
      .first { FileManager.default.fileExists(atPath: $0) }
  }
}
