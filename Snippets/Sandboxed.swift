// Decodes strangers' files in processes that can do nothing else.

#if canImport(VitrineSandbox)
import Vitrine
import VitrineSandbox

// snippet.show
// Each decode runs in a process without files, network or rights. `vitrine-codecs` lies beside the program.
let pipeline = try ImagePipeline { $0.decoders = try .sandboxed() }
// snippet.hide

// snippet.show
let sandbox = try Sandbox {
  $0.timeLimit = .seconds(10)
  $0.requiredLayers = [.seccomp, .landlock]
}
let isolated = ImagePipeline { $0.decoders = sandbox.decoders }
// snippet.hide
#endif
