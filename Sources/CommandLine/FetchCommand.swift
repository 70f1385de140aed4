import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// `vitrine fetch`: images of addresses, through the disk cache.
struct FetchCommand {
  private let arguments: [String]
  private let size: TargetSize?
  private let quality: Int
  private let policy: CachePolicy
  private let headers: [(name: String, value: String)]
  private let jobs: Int
  private let isJSON: Bool
  private let plan: OutputPlan?
  private let isEncoding: Bool
  private let folder: CacheFolder?
  private let tracePath: String?

  init(_ arguments: some Sequence<String>) throws(UsageError) {
    let parsed = try Arguments(
      arguments,
      valued: CacheFolder.options.union([
        "-o", "--size", "--mode", "--format", "--quality", "--header", "--jobs", "--trace",
      ]),
      flags: ["--no-cache", "--offline", "--reload", "--json"],
    )
    guard !parsed.sources.isEmpty else { throw UsageError("fetch needs at least one address") }
    self.arguments = parsed.sources
    let sources = Source.different(among: parsed.sources)
    size = try parsed.size(parsed.choice("--mode") ?? .fit)
    let format = try parsed.choice("--format", OutputPlan.Format.self)
    let isEncoding = size != nil || format != nil
    self.isEncoding = isEncoding
    guard parsed.value("-o") != "" else { throw UsageError("-o takes a file or a folder") }
    plan = try parsed.value("-o").map { (path) throws(UsageError) in
      try OutputPlan(path, format: format, isEncoding: isEncoding, sources: sources)
    }
    quality = try parsed.number("--quality", in: 1...100) ?? 85
    headers = try parsed.headers("--header")
    jobs = try parsed.number("--jobs", in: 1...1024) ?? Batch.standardConnections
    isJSON = parsed.has("--json")
    tracePath = parsed.value("--trace")
    guard tracePath != "" else { throw UsageError("--trace takes a file") }
    policy = try Self.policy(parsed)
    folder = parsed.has("--no-cache") ? nil : try CacheFolder(parsed)
  }

  private static func policy(_ parsed: Arguments) throws(UsageError) -> CachePolicy {
    let (isOffline, isReloading) = (parsed.has("--offline"), parsed.has("--reload"))
    guard !(isOffline && isReloading) else { throw UsageError("--offline asks no server and --reload always does") }
    if parsed.has("--no-cache") {
      guard !isOffline else {
        throw UsageError("--offline takes everything from the cache, which --no-cache does without")
      }
      guard parsed.value("--cache-dir") == nil else {
        throw UsageError("--no-cache does without the one of --cache-dir")
      }
    }
    return isOffline ? .cacheOnly : isReloading ? .reload : .standard
  }

  func run() -> Int32 {
    let start = ContinuousClock.now
    let console = Console(total: Source.different(among: arguments).count)
    let warnings = Lock<[String]>([])
    let cache: DiskCache?
    do throws(FileError) {
      cache = try openCache(console) { warning in warnings.withLock { $0.append(warning) } }
    } catch {
      console.error(folder?.path ?? "the cache", error.description)
      return ExitCode.failure
    }
    let recorder = tracePath.map { _ in TraceRecorder() }
    let pipeline = ImagePipeline {
      $0.recorder = recorder
      // Nothing is asked for twice, and what was shown once is not needed again.
      $0.memoryCache = nil
      $0.diskCache = cache
      $0.loader = PlatformDefaults.loader(connectionsPerHost: jobs)
    }
    let close: @Sendable () -> Void = {
      blocking {
        // What was loaded is stored a moment later.
        await pipeline.cache.flush()
        await cache?.close()
      }
    }
    Signals.beforeTheEnd(close)
    var plan = plan
    let failures = Batch.run(arguments, width: jobs, console: console) { source in
      load(source, pipeline)
    } finish: { source, loaded in
      Self.write(loaded, source, &plan)
    } report: { argument, outcome, isRepeat in
      report(argument, outcome, isRepeat: isRepeat, console)
    }
    close()
    let troubles = warnings.withLock { $0 }
    for trouble in troubles { console.note("vitrine: \(trouble)") }
    console.summarize(count: arguments.count, failures: failures, time: ContinuousClock.now - start)
    let isTraced = recorder.map { write($0, console) } ?? true
    // Without outputs the cache was all that this was for.
    let isKept = plan != nil || troubles.isEmpty
    return failures == 0 && isTraced && isKept ? ExitCode.success : ExitCode.failure
  }

  /// - Returns: Whether the trace could be written.
  private func write(_ recorder: TraceRecorder, _ console: Console) -> Bool {
    guard let tracePath else { return true }
    do throws(FileError) {
      try Signals.whileUninterrupted { () throws(FileError) in
        try AtomicFile.replace(tracePath, with: recorder.chromeTrace)
      }
      return true
    } catch {
      console.error(tracePath, "the trace cannot be written: \(error.description)")
      return false
    }
  }

  /// Opens the cache, or says why it is done without where that can be.
  private func openCache(
    _ console: Console,
    warn: @escaping @Sendable (String) -> Void,
  ) throws(FileError) -> DiskCache? {
    guard let folder else { return nil }
    // With nothing to write elsewhere, or nowhere else to look, the cache is what this is about.
    let isNeeded = plan == nil || policy == .cacheOnly
    do throws(FileError) {
      let cache = try folder.open(limit: folder.limit, warn: warn)
      guard cache.isReadOnly, policy != .cacheOnly else { return cache }
      guard !isNeeded else { throw FileError("another process is using this cache, so nothing can be kept in it now") }
      console.error(folder.path, "another process is using this cache; it is read, and nothing new is kept in it")
      return cache
    } catch {
      if isNeeded || folder.isGiven { throw error }
      console.error(folder.path, "\(error.description); going on without a cache")
      return nil
    }
  }

  // MARK: - One address

  /// What is done on a thread of its own: all but writing.
  private func load(_ source: Source, _ pipeline: ImagePipeline) -> Result<Loaded, Failure> {
    let start = ContinuousClock.now
    do throws(Failure) {
      guard case .url(let address) = source else { throw Failure(stage: .request, "not an address of http or https") }
      let (response, trace) = try load(address, pipeline)
      var loaded = Loaded(facts: Facts(response), time: ContinuousClock.now - start)
      if plan != nil { loaded.output = try encoded(response, trace) }
      if loaded.output != nil { loaded.writing = trace?.stage("write") }
      loaded.writing?.enter("turn")
      loaded.time = ContinuousClock.now - start
      return .success(loaded)
    } catch {
      return .failure(error)
    }
  }

  private func load(
    _ address: String,
    _ pipeline: ImagePipeline,
  ) throws(Failure) -> (ImageResponse, StageTrace?) {
    var request = ImageRequest(url: address, size: size)
    request.policy = policy
    request.headers = headers
    // Any of them may change the answer, so that answers to others are not for these.
    request.significantHeaders = Set(headers.map(\.name))
    request.keepsEncodedData = plan != nil && !isEncoding
    let task = pipeline.imageTask(for: request)
    let result: Result<ImageResponse, Failure> = blocking {
      do throws(LoadError) {
        return .success(try await task.response)
      } catch {
        return .failure(
          error.code == .notCached
            ? Failure(stage: .fetch, "not in the cache, and --offline asks no server")
            : Failure(error)
        )
      }
    }
    return (try result.get(), task.trace)
  }

  private func encoded(
    _ response: ImageResponse,
    _ trace: StageTrace?,
  ) throws(Failure) -> (data: Data, format: ImageFormat) {
    guard isEncoding else {
      guard let data = response.encoded else { throw Failure(stage: .fetch, "its bytes are not at hand") }
      return (data, response.info.format)
    }
    let encoding = trace?.stage("encode")
    defer { encoding?.end() }
    do throws(ImageError) {
      let format = plan?.format(for: response.image) ?? response.info.format
      return (try response.image.encoded(as: format, EncodeOptions(quality: quality)), format)
    } catch {
      throw Failure(error)
    }
  }

  private static func write(
    _ loaded: Result<Loaded, Failure>,
    _ source: Source,
    _ plan: inout OutputPlan?,
  ) -> Result<Fetched, Failure> {
    do throws(Failure) {
      let loaded = try loaded.get()
      guard let output = loaded.output, let path = plan?.name(for: source, output.format) else {
        return .success(Fetched(facts: loaded.facts, path: nil, time: loaded.time))
      }
      let start = ContinuousClock.now
      loaded.writing?.enter("work")
      defer { loaded.writing?.end() }
      try plan?.write(output.data, to: path)
      return .success(Fetched(facts: loaded.facts, path: path, time: loaded.time + (ContinuousClock.now - start)))
    } catch {
      return .failure(error)
    }
  }

  /// - Returns: Whether it was done.
  private func report(
    _ argument: String,
    _ outcome: Result<Fetched, Failure>,
    isRepeat: Bool,
    _ console: Console,
  ) -> Bool {
    switch outcome {
    case .success(let fetched):
      guard isJSON else { return true }
      let facts = fetched.facts
      var json = JSONLine()
      json.add("url", argument)
      json.add("output", fetched.path)
      json.add("from", isRepeat ? "memory" : facts.origin.rawValue)
      json.add("stale", facts.isStale)
      json.add("status", facts.status)
      json.add("bytes", facts.byteCount)
      json.add("width", facts.width)
      json.add("height", facts.height)
      json.add("milliseconds", fetched.time.seconds * 1000)
      console.out(json.line)
      return true
    case .failure(let failure):
      console.report(failure, argument, isJSON: isJSON)
      return false
    }
  }

  /// What is told about an image, without its pixels, which are large.
  private struct Facts: Sendable {
    let origin: ImageResponse.Origin
    let isStale: Bool
    let status: Int?
    let byteCount: Int
    let width: Int
    let height: Int

    init(_ response: ImageResponse) {
      (origin, isStale, status) = (response.origin, response.isStale, response.status)
      (byteCount, width, height) = (response.byteCount, response.image.width, response.image.height)
    }
  }

  private struct Loaded: Sendable {
    let facts: Facts
    var output: (data: Data, format: ImageFormat)?
    /// The stage of writing, which begins with waiting for its turn.
    var writing: StageTrace?
    var time: Duration
  }

  private struct Fetched {
    let facts: Facts
    let path: String?
    let time: Duration
  }
}
