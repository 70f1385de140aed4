import Foundation

/// Prints a line and flushes it, even if the output is not a terminal.
package func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// A failure of a benchmark.
package struct BenchmarkError: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}
