#if os(Linux) || os(macOS)
import Foundation
import VitrineTesting

/// A server that a shell script starts, and that ends with this process, however that ends, or when it is released.
///
/// The script starts the server in the background, writes a line when it is ready, reads its input, and at the end of that
/// ends the server.
package final class ServerProcess: Sendable {
  /// The script ended without a line.
  package struct NotStarted: Error {
    package let arguments: [String]
  }

  /// The line that the script has written.
  package let announcement: String
  /// The script's input.
  private let lifeline: FileHandle

  /// Runs a script, and returns when it has written its line.
  ///
  /// - Throws: ``NotStarted`` if the script ends without one.
  package init(_ script: String, _ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", script, "sh"] + arguments
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    lifeline = input.fileHandleForWriting
    let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    announcement = String(said.prefix { $0 != "\n" })
    if announcement.isEmpty { throw NotStarted(arguments: arguments) }
  }

  /// Sends a signal to the server whose process ID the script has written.
  package func signal(_ number: CInt) {
    if let process = pid_t(announcement) { kill(process, number) }
  }

  /// Has the script end.
  package func end() { try? lifeline.close() }

  /// Returns the path of an installed program; `more` are folders to look into first.
  package static func find(_ name: String, in more: [String] = []) -> String? {
    let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    return (more + path + ["/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin"]).map { "\($0)/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
      .map { URL(filePath: $0).path }
  }

  /// Returns ports that were free a moment ago, each another.
  package static func freePorts(_ count: Int) throws -> [Int] {
    // Held until all are known, so that they differ.
    let servers = try (0..<count).map { _ in try LoopbackServer() }
    defer { for server in servers { server.stop() } }
    return servers.map(\.port)
  }
}
#endif
