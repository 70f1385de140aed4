import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// `vitrine explain`: explains the plan of `fetch` for URLs, without carrying it out.
struct ExplainCommand: Command {
  static let manual = Manual(
    name: "explain",
    synopsis: "SOURCE...",
    summary: "Shows what the disk cache has of URLs, whether it is fresh, and what would be asked of which server.",
    notes: [
      "Nothing is sent to the network, and the cache is neither changed nor counted as used. A server may answer in any "
        + "way: the exit status is 1 only if a URL is invalid, a file is missing, or the cache cannot be read.",
      "Files are read in place, and no cache has them. Caches that machines share are named and not asked.",
    ],
    arguments: .text,
    options: [.cacheFolder, .header, .filesFrom, .zero, .json],
    examples: [
      Page.Term(
        "vitrine explain https://example.org/photo.jpg",
        "shows why the next fetch would ask the server, or not",
      )
    ],
    readsImages: false,
  )

  private let arguments: [ByteString]
  private let folder: CacheFolder
  private let headers: HTTPFields
  private let isJSON: Bool
  private let sharedTiers: [String]

  init(_ parsed: Arguments) throws(UsageError) {
    arguments = try parsed.allSources(of: "explain")
    folder = try CacheFolder(parsed)
    headers = try parsed.headers(.header)
    isJSON = parsed.has(.json)
    sharedTiers = SharedTiers.variables.filter { ProcessInfo.processInfo.environment[$0]?.isEmpty == false }
  }

  func run() -> Int32 {
    let console = Console(total: arguments.count, isQuiet: true)
    let cache = Result<DiskCache?, FileError> { () throws(FileError) in try folder.openForReading() }
    let disk = try? cache.get()
    let pipeline = ImagePipeline(.ephemeral) {
      $0.memoryCache = nil
      $0.diskCache = disk
      $0.decoders = .ofTool
    }
    let failures = Batch.run(arguments, width: 1, console: console) { source in
      Self.finding(of: source, pipeline, headers, cacheFailure: cache.parts.1)
    } finish: { _, finding in
      finding
    } report: { argument, finding, _ in
      let (found, failure) = finding.parts
      if let failure { console.error(argument, failure.reason) }
      if isJSON {
        console.out(Self.json(argument, found, failure))
      } else if let found {
        for line in text(argument, found, hasCache: disk != nil) { console.out(line) }
      }
      return failure == nil
    }
    return failures == 0 ? ExitCode.success : ExitCode.failure
  }

  // MARK: - Finding

  private enum Finding: Sendable {
    case url(Explanation, [StoredForm])
    case standardInput
    /// A file, with its length.
    case file(Int)
  }

  private static func finding(
    of source: Source,
    _ pipeline: ImagePipeline,
    _ headers: HTTPFields,
    cacheFailure: FileError?,
  ) -> Result<Finding, Failure> {
    do throws(Failure) {
      switch source {
      case .standardInput: return .success(.standardInput)
      case .file(let path): return .success(.file(try length(of: path)))
      case .url:
        let request = ImageRequest(fetching: try source.requireURL(), headers: headers)
        let explanation = blocking { await pipeline.explain(request) }
        if let reason = explanation.failure { throw Failure(stage: .request, reason) }
        if let cacheFailure { throw Failure(stage: .fetch, "the cache cannot be read: \(cacheFailure)") }
        return .success(.url(explanation, blocking { await pipeline.storedForms(of: request) }))
      }
    } catch {
      return .failure(error)
    }
  }

  private static func length(of path: ByteString) throws(Failure) -> Int {
    guard let status = path.status() else { throw Failure(stage: .fetch, FileError(code: errno).description) }
    guard status.st_mode & S_IFMT != S_IFDIR else { throw Failure(stage: .fetch, "it is a folder") }
    return Int(status.st_size)
  }

  // MARK: - Text

  private func text(_ argument: ByteString, _ finding: Finding, hasCache: Bool) -> [String] {
    let name = argument.readable
    switch finding {
    case .standardInput: return ["\(name): read from standard input; no cache has it"]
    case .file(let length): return ["\(name): read from the file, \(length.asBytes); no cache has it"]
    case .url(let explanation, let forms):
      var lines = explanation.findings
      if let server = explanation.server {
        let fields = explanation.conditions.map { "\($0.name): \($0.value)" }
        lines.append("would ask: \(server)\(fields.isEmpty ? "" : ", with \(fields.joined(separator: ", "))")")
      }
      lines += forms.map { "stored: \(Self.text($0))" }
      if !hasCache { lines.append("cache: \(folder.path) has none yet") }
      if !sharedTiers.isEmpty, explanation.origin != .disk {
        lines.append("not asked: the cache of \(sharedTiers.listed()), where fetch looks before it asks a server")
      }
      return ["\(name): \(explanation.conclusion)"] + lines.map { "  \($0)" }
    }
  }

  private static func text(_ form: StoredForm) -> String {
    let size = form.size.map { " \($0.width)x\($0.height)" } ?? ""
    let entry = form.entry
    var parts = ["\(name(of: form))\(size)", entry.byteCount.asBytes, "since \(entry.stored.formatted(.iso8601))"]
    parts.append(
      entry.expires.map { "\($0 < .now ? "expired" : "expires") \($0.formatted(.iso8601))" } ?? "never expires"
    )
    if form.isOrphan { parts.append("unusable: made from other bytes than the original") }
    if form.isForOtherFields { parts.append("for other header fields") }
    return parts.joined(separator: ", ")
  }

  private static func name(of form: StoredForm) -> String {
    form.entry.kind == .original ? "original" : form.format.map { "\($0.name) file" } ?? "image"
  }

  // MARK: - JSON

  private static func json(_ source: ByteString, _ finding: Finding?, _ failure: Failure?) -> String {
    var (explanation, forms) = (Explanation?.none, [StoredForm]())
    var origin: String?
    switch finding {
    case .url(let found, let stored): (explanation, forms, origin) = (found, stored, found.origin?.rawValue)
    case .file, .standardInput: origin = "local"
    case nil: break
    }
    var json = JSONLine()
    json.add("source", source)
    json.add("outcome", explanation?.conclusion)
    json.add("from", origin)
    json.add("stale", explanation?.isStale)
    json.add("request", explanation.map { $0.transfer.name })
    json.add("server", explanation?.server)
    json.add("fields", explanation?.conditions.map { Self.json($0) })
    json.add("reason", explanation?.reason?.description)
    json.add("usableOnErrorUntil", explanation?.usableOnErrorUntil?.formatted(.iso8601))
    json.add("partialBytes", explanation?.partialByteCount)
    json.add("stored", finding.map { _ in forms.map { Self.json($0) } })
    json.add(failure)
    return json.line
  }

  private static func json(_ field: HTTPFields.Element) -> JSONLine {
    var json = JSONLine()
    json.add("name", field.name)
    json.add("value", field.value)
    return json
  }

  private static func json(_ form: StoredForm) -> JSONLine {
    var json = JSONLine()
    json.add("kind", form.entry.kind == .original ? "original" : form.format == nil ? "image" : "file")
    json.add("format", form.format?.name)
    json.add("width", form.size?.width)
    json.add("height", form.size?.height)
    json.add("bytes", form.entry.byteCount)
    json.add("stored", form.entry.stored.formatted(.iso8601))
    json.add("expires", form.entry.expires?.formatted(.iso8601))
    json.add("usable", !form.isOrphan && !form.isForOtherFields)
    return json
  }
}

extension Explanation.Transfer {
  /// The name in JSON.
  fileprivate var name: String {
    switch self {
    case .none: "none"
    case .full: "full"
    case .conditional: "conditional"
    case .rest: "rest"
    case .behind: "behind"
    }
  }
}
