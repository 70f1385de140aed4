import Foundation

let environment = ProcessInfo.processInfo.environment
/// The location of this package's programs.
let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
let measure = folder.appending(path: "measure").path
/// As `make install` leaves it, like the others: the linker's own file is read into smaller pages, which costs 0.7 ms.
let vitrine = environment["VITRINE"] ?? ".build/release/vitrine"
let rounds = Int(environment["ROUNDS"] ?? "") ?? 3
let scratch = FileManager.default.temporaryDirectory.appending(
  path: "vitrine-bench-\(ProcessInfo.processInfo.processIdentifier)"
)
