import Foundation
import VitrineRuntime

/// Code of a program's own that lies: decoders, rows, loaders, caches, leases, encoders,
/// processors, interceptors, delegates, clocks.
///
/// Each lie must end in an error of Vitrine's own types, or in a right answer, and never in a trap, a hang or a read
/// outside of memory. Without arguments all cases run in children; with the beginning of names, those in this process.
@main
enum LyingExtensions {
  static func main() async {
    let cases =
      decoderCases() + rowCases() + loaderCases() + cacheCases() + tierCases() + encoderCases() + processorCases()
      + hookCases() + clockCases()
    let arguments = CommandLine.arguments.dropFirst()
    switch arguments.first {
    case nil: exit(Harness(cases).run() ? 0 : 1)
    case "--from": await Child.run(cases, from: arguments.dropFirst().first.flatMap { Int($0) } ?? 0)
    case let name?: await Child.run(cases.filter { $0.name.hasPrefix(name) }, from: 0)
    }
  }
}
