import VitrineRuntime

/// The programs that are built with the tests.
package enum BuiltProgram {
  /// Returns the path of a program; `nil` if there is none beside the test runner, nor above it.
  package static func path(_ name: String) -> String? {
    let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    // SwiftPM puts the runner into a bundle on some systems.
    let folders = [
      folder, folder.deletingLastPathComponent(), folder.deletingLastPathComponent().deletingLastPathComponent(),
    ]
    return folders.map { $0.appending(path: name).path }.first { unsafe access($0, X_OK) == 0 }
  }
}
