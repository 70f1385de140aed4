// vitrine-fuzz TARGET [ARGUMENT OF LIBFUZZER...]; without a target it lists them. Scripts/check/fuzzing.sh builds and runs it.
import CFuzzer
import Foundation

guard CommandLine.argc > 1, let target = targets[CommandLine.arguments[1]] else {
  print(targets.keys.sorted().joined(separator: "\n"))
  exit(CommandLine.argc > 1 ? 64 : 0)
}

// A name of its own: libFuzzer calls back without a context.
let run = target

// The target's name is no argument of libFuzzer's.
var count = CommandLine.argc - 1
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
arguments?[0] = CommandLine.unsafeArgv[0]
exit(
  LLVMFuzzerRunDriver(&count, &arguments) { bytes, count in
    run(bytes.map { Data(bytes: $0, count: count) } ?? Data())
    return 0
  }
)
