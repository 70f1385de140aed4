import Foundation
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import Vitrine

/// One lie, told to the public API.
struct Case: Sendable {
  let name: String
  /// Returns what a right answer is called; throws the error that it ends in.
  let run: @Sendable () async throws -> String

  init(_ name: String, _ run: @escaping @Sendable () async throws -> String) { (self.name, self.run) = (name, run) }
}

/// A result that is neither an error nor right.
struct Wrong: Error, CustomStringConvertible {
  let description: String
}

/// Runs cases one after the other, and writes a line before and after each.
enum Child {
  /// The longest time that a case may take.
  static let limit = 10.0

  static func run(_ cases: [Case], from first: Int) async {
    for (index, lie) in cases.enumerated().dropFirst(first) {
      say("begin \(index)")
      let name = lie.name
      let alarm = DispatchWorkItem {
        say("hang \(index) \(name)")
        exit(3)
      }
      DispatchQueue.global().asyncAfter(deadline: .now() + limit, execute: alarm)
      say("end \(index) \(await result(of: lie))")
      alarm.cancel()
    }
  }

  /// Writes a line at once.
  private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

  private static func result(of lie: Case) async -> String {
    do {
      return "right: \(try await lie.run())"
    } catch let error as Wrong {
      return "WRONG: \(error)"
    } catch let error where error is ImageError || error is LoadError || error is HTTPError {
      return "error: \(error)".replacingOccurrences(of: "\n", with: "\\n")
    } catch {
      return "WRONG: an error of type \(type(of: error)): \(error)"
    }
  }
}

/// Runs all cases in children: one that dies names its case, and the next child goes on after it.
struct Harness {
  private let cases: [Case]

  init(_ cases: [Case]) { self.cases = cases }

  /// Returns `true` if no case ended in anything but an error of Vitrine's types or a right answer.
  func run() -> Bool {
    var (next, errors, right) = (0, 0, 0)
    var faults: [String] = []
    while next < cases.count {
      let (lines, report) = runChild(from: next)
      var begun = next
      for line in lines {
        let words = line.split(separator: " ", maxSplits: 2).map(String.init)
        guard words.count >= 2, let index = Int(words[1]) else { continue }
        switch words[0] {
        case "begin": begun = index
        case "end":
          next = index + 1
          let result = words.count > 2 ? words[2] : ""
          if result.hasPrefix("error:") { errors += 1 } else if result.hasPrefix("right:") { right += 1 }
          if result.hasPrefix("WRONG") { faults.append("\(cases[index].name): \(result)") }
          print("\(cases[index].name): \(result)")
        case "hang":
          faults.append("\(cases[index].name): hangs")
        default: break
        }
      }
      guard next < cases.count else { break }
      if !lines.contains(where: { $0.hasPrefix("hang") }) {
        faults.append("\(cases[begun].name): \(report)")
      }
      next = begun + 1
    }
    print("\n\(cases.count) lies: \(errors) errors, \(right) right answers, \(faults.count) faults")
    for fault in faults { print("fault: \(fault)") }
    return faults.isEmpty
  }

  private func runChild(from first: Int) -> (lines: [String], report: String) {
    let child = Process()
    child.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    child.arguments = ["--from", "\(first)"]
    let (output, errors) = (Pipe(), FileManager.default.temporaryDirectory.appendingPathComponent("lies.\(getpid())"))
    _ = FileManager.default.createFile(atPath: errors.path, contents: nil)
    child.standardOutput = output
    child.standardError = FileHandle(forWritingAtPath: errors.path)
    guard (try? child.run()) != nil else { return ([], "the child does not start") }
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    child.waitUntilExit()
    let report = (try? String(contentsOf: errors, encoding: .utf8)) ?? ""
    let summary = report.split(separator: "\n").first {
      $0.contains("ERROR: AddressSanitizer") || $0.contains("Fatal error") || $0.contains("rror:")
    }
    return (text.split(separator: "\n").map(String.init), "status \(child.terminationStatus) \(summary ?? "")")
  }
}
