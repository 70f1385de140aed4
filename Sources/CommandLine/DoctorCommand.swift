#if !VITRINE_APPLE
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineSandbox

/// `vitrine doctor`: checks what the tool needs of this machine, without a word to the network.
struct DoctorCommand: Command {
  static let manual = Manual(
    name: "doctor",
    synopsis: "",
    summary: "Checks codecs, libcurl, caches, limits and sandbox, and names what is missing.",
    notes: [
      "Each line begins with ok, with limited for what works with less, or with missing; missing ones name the Debian "
        + "package that brings it. The exit status is 1 if something is missing. Nothing is sent to the network."
    ],
    arguments: nil,
    options: [.jsonOfChecks],
    examples: [Page.Term("vitrine doctor", "checks an installation")],
    readsImages: false,
  )

  private let folder: CacheFolder
  private let isJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    guard arguments.sources.isEmpty else {
      throw UsageError("doctor takes no argument, but got '\(arguments.sources[0].readable)'")
    }
    folder = try CacheFolder(arguments)
    isJSON = arguments.has(.jsonOfChecks)
  }

  func run() -> Int32 {
    let console = Console(total: 1, isQuiet: true)
    let checks = [version, formats] + workers + [curl, certificates, cache, memory, cores]
    for check in checks { console.out(isJSON ? check.json : check.text) }
    return checks.contains { $0.status == .missing } ? ExitCode.failure : ExitCode.success
  }

  /// The result for one part.
  private struct Check {
    enum Status: String {
      case ok, limited, missing
    }

    let name: String
    let status: Status
    let detail: String
    /// The Debian package that brings the part.
    let package: String?

    init(_ name: String, _ status: Status, _ detail: String, package: String? = nil) {
      (self.name, self.status, self.detail, self.package) = (name, status, detail, package)
    }

    /// A part that is as it should be.
    init(_ name: String, _ detail: String) { self.init(name, .ok, detail) }

    /// A part whose library cannot be opened.
    init(_ name: String, _ failure: LibraryFailure) {
      self.init(name, .missing, failure.reason, package: failure.debianPackage)
    }

    var text: String {
      func column(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
      }
      let hint = package.map { "; in Debian it is the package \($0)" } ?? ""
      return column(status.rawValue, 9) + column(name, 16) + detail + hint
    }

    var json: String {
      var json = JSONLine()
      json.add("check", name)
      json.add("status", status.rawValue)
      json.add("detail", detail)
      json.add("package", package)
      return json.line
    }
  }

  // MARK: - Codecs

  private var version: Check { Check("version", "vitrine \(vitrineVersion)") }

  /// The formats of this process.
  private var formats: Check {
    let read = Manual.listed(DecoderRegistry.standard.formats)
    return Check("formats", "reads \(read); writes \(Manual.listed(EncoderRegistry.standard.formats))")
  }

  /// The program that decodes external formats, each of these formats, and the layers around the program.
  private var workers: [Check] {
    switch toolWorkers.made {
    case .failure(let error):
      return [Check("vitrine-codecs", .missing, error.detail)]
        + ImageFormat.external.map { Check($0.name, .missing, "needs vitrine-codecs") }
    case .success(let sandbox):
      let codecs = ImageFormat.external.map { format in
        sandbox.failure(of: format).map { Check(format.name, $0) }
          ?? Check(format.name, ImageFormat.writtenExternally.contains(format) ? "reads and writes" : "reads")
      }
      return [Check("vitrine-codecs", sandbox.programPath.readable)] + codecs + [layers(of: sandbox)]
    }
  }

  /// The layers, as far as the processes that were started have found out.
  private func layers(of sandbox: Sandbox) -> Check {
    guard sandbox.counts.started > 0 else { return Check("sandbox", .missing, "no process could be started") }
    let missing = sandbox.missingLayers
    let present = Sandbox.Layer.list(Set(Sandbox.Layer.allCases).subtracting(missing))
    guard !missing.isEmpty else { return Check("sandbox", present) }
    return Check("sandbox", .limited, "\(present); this system does not offer \(Sandbox.Layer.list(missing))")
  }

  // MARK: - Network

  private var curl: Check {
    if let failure = CurlLibrary.failure { return Check("libcurl", failure) }
    let version = CurlLibrary.version
    return Check("libcurl", version?.isComplete == true ? .ok : .limited, version?.text ?? "of an unknown version")
  }

  private var certificates: Check {
    if let file = CurlLibrary.certificateFile { return Check("certificates", file) }
    return Check("certificates", .missing, "no file of trusted certificates", package: "ca-certificates")
  }

  // MARK: - Resources

  /// The disk cache, without which the tool works, and loads everything again.
  private var cache: Check {
    do throws(FileError) {
      let limit = folder.limit.asBytes
      let cache = try folder.openForReading()
      try checkWriting()
      guard let cache else { return Check("cache", "\(folder.path): empty, of at most \(limit)") }
      let size = blocking { await cache.statistics() }.bytes.asBytes
      return Check("cache", "\(folder.path): \(size) of at most \(limit)")
    } catch {
      return Check("cache", .limited, "\(folder.path): \(error.description)")
    }
  }

  /// Throws if the cache's folder cannot be written or made.
  private func checkWriting() throws(FileError) {
    var path = Substring(folder.path)
    // Texts of Swift's end in zeros for the calls.
    while unsafe access(String(path), F_OK) != 0, errno == ENOENT, let slash = path.lastIndex(of: "/") {
      path = slash == path.startIndex ? "/" : path[..<slash]
    }
    guard unsafe access(String(path), W_OK | X_OK) == 0 else { throw FileError(code: errno) }
  }

  private var memory: Check {
    let (bytes, machine) = (MemoryLimit.bytes, MemoryLimit.ofMachine)
    let image = DecodeLimits().memoryByteCount
    let share =
      bytes < machine ? " of the machine's \(machine.asBytes), by a limit of the process or its control group" : ""
    // Half of the memory is the limit of an image where that is less than the usual one.
    return Check(
      "memory",
      image < bytes / 2 ? .ok : .limited,
      "\(bytes.asBytes)\(share); an image may take \(image.asBytes)",
    )
  }

  private var cores: Check {
    let (count, machine) = (CoreBudget.machine.count, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    return Check("cores", "\(count)" + (count < machine ? " of the machine's \(machine)" : ""))
  }
}

extension Option {
  static let jsonOfChecks = Option("--json", "prints one JSON object a line for each check, all with the same keys")
}
#endif
