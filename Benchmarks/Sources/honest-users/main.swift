// make check NAME=hostile-files PARTS=service: a program of twenty lines that serves thumbnails, and what honest users of it notice
// of an attack.
//
// SECONDS=n sets its length (60 by default). The argument is a folder of hostile files. Exits with status 1 if honest
// requests are served too late, or if memory or threads do not come back.

import Foundation

let arguments = CommandLine.arguments
if arguments.count == 4, arguments[1] == "serve" {
  try Hosts.serve(photographs: URL(filePath: arguments[2]), bombs: URL(filePath: arguments[3]))
}
guard arguments.count == 2 else { exit(64) }
let seconds = Int(ProcessInfo.processInfo.environment["SECONDS"] ?? "") ?? 60
exit(try await runAttack(for: seconds, with: URL(filePath: arguments[1])) ? 0 : 1)
