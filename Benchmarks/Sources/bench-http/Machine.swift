import Foundation

#if canImport(Glibc)
import Glibc
#endif

let fileSize = 50_000

/// Prints a line and flushes it, even if the output is not a terminal.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// A failure of a benchmark.
struct BenchmarkError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// The cost of a process, and its own report.
struct Figures {
  var seconds = 0.0
  var cpu = 0.0
  var megabytes = 0.0
  var isOverdue = false
  /// The time of the loads alone, without the start of the process.
  var loadSeconds: Double?
  var p50: Double?
  var p99: Double?
  var arrived: Double?
}

/// Runs a program, and kills it after `deadline` seconds.
func run(_ command: [String], deadline: Int) throws -> Figures {
  let process = Process()
  process.executableURL = URL(filePath: measure)
  process.arguments = ["timeout", "-s", "KILL", "\(deadline)"] + command
  let report = FileManager.default.temporaryDirectory
    .appending(path: "vitrine-bench-\(ProcessInfo.processInfo.processIdentifier).report")
  defer { try? FileManager.default.removeItem(at: report) }
  process.environment = ProcessInfo.processInfo.environment.merging([reportVariable: report.path]) { $1 }
  let output = Pipe()
  process.standardOutput = output
  try process.run()
  let measured = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  process.waitUntilExit()
  // `measure` prints microseconds of CPU and of wall time, KiB, and the status.
  let numbers = measured.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
  guard numbers.count == 4 else { throw BenchmarkError("\(command.prefix(3)) could not be measured: \(measured)") }
  var result = Figures()
  (result.cpu, result.seconds, result.megabytes) = (numbers[0] / 1e6, numbers[1] / 1e6, numbers[2] * 1024 / 1e6)
  guard numbers[3] == 0 else {
    guard result.seconds >= Double(deadline) else { throw BenchmarkError("\(command.prefix(3)) failed") }
    result.isOverdue = true
    return result
  }
  let own = ((try? String(contentsOf: report, encoding: .utf8)) ?? "").split(separator: " ").map { Double($0) ?? .nan }
  if own.count == 4 {
    (result.loadSeconds, result.p50, result.p99, result.arrived) = (own[0], own[1], own[2], own[3])
  }
  return result
}

/// The environment variable with the path of a client's report.
let reportVariable = "VITRINE_BENCH_REPORT"

/// The program next to this one that measures another.
private let measure = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "measure")
  .path

func capture(_ command: [String], standardError: Bool = false) throws -> String {
  let process = Process()
  process.executableURL = URL(filePath: "/usr/bin/env")
  process.arguments = command
  let pipe = Pipe()
  process.standardOutput = pipe
  process.standardError = standardError ? pipe : FileHandle.nullDevice
  try process.run()
  let data = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  guard process.terminationStatus == 0 else { throw BenchmarkError("\(command.prefix(3)) failed") }
  return String(decoding: data, as: UTF8.self)
}

func version(of program: String, _ option: String) -> String {
  let path = ["/usr/sbin/", "/usr/bin/"].map { $0 + program }.first { FileManager.default.isExecutableFile(atPath: $0) }
  let output = (try? capture([path ?? program, option], standardError: true)) ?? program
  return output.split(separator: "\n").first.map { $0.split(separator: "(").first.map(String.init) ?? "" } ?? program
}
