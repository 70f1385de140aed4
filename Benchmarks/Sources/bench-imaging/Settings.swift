import Foundation

let environment = ProcessInfo.processInfo.environment
/// The location of this package's programs.
let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
let measure = folder.appending(path: "measure").path
/// `make bench NAME=imaging` names one that is installed, as the other programs are: from the linker's own file, which the
/// system maps in smaller pieces, a thumbnail takes 0.7 ms longer.
let vitrine = environment["VITRINE"] ?? ".build/release/vitrine"
let rounds = Int(environment["ROUNDS"] ?? "") ?? 3
let scratch = FileManager.default.temporaryDirectory.appending(
  path: "vitrine-bench-\(ProcessInfo.processInfo.processIdentifier)"
)
