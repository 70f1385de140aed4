import VitrineConfinement
import VitrineImaging
import VitrineRuntime
import VitrineSandbox

/// A process that has been taken over.
///
/// As a worker it confines itself, and decodes with ``RogueDecoder``; by the name of its file it is a ``Liar``.
/// Otherwise it confines itself, does what its argument says, and prints `done`, or the error of the system, if it is
/// still there.
@main
enum Rogue {
  static func main() {
    let arguments = CommandLine.arguments
    if let name = arguments[0].split(separator: "/").last, let liar = Liar(rawValue: String(name)) {
      return liar.serve()
    }
    let kind = arguments.dropFirst().first.flatMap { WorkerKind($0) }
    if kind?.encodes == true {
      _ = Confinement.enter(readsFonts: false)
      let encoder = SandboxedEncoder(RogueEncoder()) { $0 }
      return SandboxWorker(DecoderRegistry([]), encoders: [encoder], on: 0).run(missingLayers: [.namespaces])
    }
    if kind != nil {
      _ = Confinement.enter(readsFonts: false)
      return SandboxWorker(DecoderRegistry([RogueDecoder()]), on: 0).run(missingLayers: [.namespaces])
    }
    let readsFonts = arguments.contains("--fonts")
    let path = arguments.count > 2 ? arguments[2] : ""
    let parent = getppid()
    let confinement = Confinement.enter(readsFonts: readsFonts)
    switch arguments.count > 1 ? arguments[1] : "" {
    case "layers":
      say(Confinement.Layer.allCases.filter { confinement.missing[$0] == nil }.map(\.rawValue).joined(separator: " "))
    case "rights":
      var bytes = [UInt8](repeating: 0, count: 4096)
      // At most as many bytes as there are.
      let count = unsafe Glibc.read(0, &bytes, bytes.count)
      let lines = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
      say(lines.filter { $0.hasPrefix("CapEff") || $0.hasPrefix("CapPrm") }.joined(separator: " "))
    case "read": tell(unsafe open(path, O_RDONLY))
    case "write": tell(unsafe open(path, O_WRONLY | O_CREAT, 0o600))
    case "list": say(unsafe opendir(path) == nil ? "\(errno)" : "done")
    case "status":
      var status = stat()
      tell(unsafe stat(path, &status))
    case "remove": tell(unsafe unlink(path))
    case "socket": tell(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    case "fork": tell(fork())
    case "exec":
      var arguments: [UnsafeMutablePointer<CChar>?] = unsafe [strdup("/bin/true"), nil]
      tell(unsafe execv("/bin/true", &arguments))
    case "signal": tell(kill(parent, SIGUSR1))
    case "code": map(PROT_READ | PROT_WRITE | PROT_EXEC)
    case "memory": map(PROT_READ | PROT_WRITE)
    case "raise limits":
      var limit = rlimit(rlim_cur: 1 << 30, rlim_max: 1 << 30)
      tell(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit))
    case "thread":
      let thread = JoinableThread(named: "rogue") {}
      say(thread == nil ? "\(errno)" : "done")
      thread?.join()
    case "abort": abort()
    default: say("unknown")
    }
  }

  private static func map(_ protection: Int32) {
    let memory = unsafe mmap(nil, 1 << 20, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    say(unsafe memory == MAP_FAILED ? "\(errno)" : "done")
  }

  private static func tell(_ status: Int32) { say(status >= 0 ? "done" : "\(errno)") }

  private static func say(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe write(1, bytes, bytes.count)
  }
}
