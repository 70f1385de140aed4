import Foundation

/// Prints a line and flushes it, even if the output is not a terminal.
package func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// Facts about the machine that the results depend on.
package func machineFacts() -> [String] {
  let processor = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?
    .split(separator: "\n").first { $0.hasPrefix("model name") }?.split(separator: ":").last
    .map { $0.trimmingCharacters(in: .whitespaces) }
  return [
    "\(ProcessInfo.processInfo.processorCount) cores\(processor.map { ", \($0)" } ?? "")",
    ProcessInfo.processInfo.operatingSystemVersionString,
    output(["swift", "--version"]).split(separator: "\n").first.map(String.init) ?? "Swift, unknown version",
  ]
}

private func output(_ command: [String]) -> String {
  let process = Process()
  process.executableURL = URL(filePath: "/usr/bin/env")
  process.arguments = command
  let pipe = Pipe()
  process.standardOutput = pipe
  process.standardError = FileHandle.nullDevice
  guard (try? process.run()) != nil else { return "" }
  let data = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  return String(decoding: data, as: UTF8.self)
}

/// A failure of a benchmark.
package struct BenchmarkError: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}
