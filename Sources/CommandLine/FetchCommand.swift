import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTiers

/// `vitrine fetch`: loads images from URLs, through the disk cache.
struct FetchCommand: Command {
  static let manual = Manual(
    name: "fetch",
    synopsis: "URL... [-o OUT]",
    summary: "Loads images from http and https URLs through a disk cache; without -o only into the cache.",
    notes: [
      "s3://bucket/key is loaded with the keys, the region and the endpoint of the environment, as Amazon's tools do.",
      "Without --size, --do and --format the original bytes are written. Only images are written or cached.",
    ],
    arguments: .text,
    options: [.output] + OperationsChoice.options + EncodingChoice.options + [
      .jobs, .noCache, .offline, .reload, .header, .timeLimit, .trace, .filesFrom, .zero, .json, .quiet,
    ] + CacheFolder.options + SharedTiers.options,
    examples: [
      Page.Term(
        "vitrine fetch https://example.org/photo.jpg --size 800 -o photo.jpg",
        "loads an image; the second time from disk",
      ),
      Page.Term("vitrine fetch --files-from urls.txt", "fills the cache ahead of need"),
      Page.Term(
        "vitrine fetch https://example.org/photo.jpg --trace trace.json",
        "records what the request waited for",
      ),
    ],
  )

  private let arguments: [ByteString]
  private let operations: OperationsChoice
  private let encoding: EncodingChoice
  private let policy: CachePolicy
  private let headers: HTTPFields
  private let jobs: Int
  private let isJSON: Bool
  private let isQuiet: Bool
  private let plan: OutputPlan?
  private let isEncoding: Bool
  private let folder: CacheFolder?
  private let shared: SharedTiers
  private let timeLimit: Duration?
  private let tracePath: ByteString?

  init(_ parsed: Arguments) throws(UsageError) {
    arguments = try parsed.allSources(of: "fetch")
    let sources = Source.different(among: arguments)
    operations = try OperationsChoice(parsed)
    let format = try parsed.format()
    let (isEncoding, isJSON) = (operations.isChanging || format != nil, parsed.has(.json))
    (self.isEncoding, self.isJSON, isQuiet) = (isEncoding, isJSON, parsed.has(.quiet))
    guard parsed.bytes(.output) != "" else { throw UsageError("-o takes a file or a folder") }
    plan = try parsed.bytes(.output).map { (path) throws(UsageError) in
      try OutputPlan(path, format: format, isEncoding: isEncoding, sources: sources, isJSON: isJSON)
    }
    if plan != nil, !isEncoding, let option = EncodingChoice.first(in: parsed) {
      throw UsageError("\(option.name) needs --size, --do or --format; without them the original bytes are written")
    }
    encoding = try EncodingChoice(parsed, format: isEncoding ? plan?.format : format)
    headers = try parsed.headers(.header)
    jobs = try parsed.number(.jobs) ?? Batch.standardConnections
    timeLimit = try parsed.timeLimit()
    tracePath = parsed.bytes(.trace)
    guard tracePath != "" else { throw UsageError("--trace takes a file") }
    policy = try Self.policy(parsed)
    folder = parsed.has(.noCache) ? nil : try CacheFolder(parsed)
    shared = try SharedTiers(parsed, isOff: parsed.has(.noCache))
  }

  private static func policy(_ parsed: Arguments) throws(UsageError) -> CachePolicy {
    let (isOffline, isReloading) = (parsed.has(.offline), parsed.has(.reload))
    guard !(isOffline && isReloading) else { throw UsageError("--offline and --reload exclude each other") }
    if parsed.has(.noCache) {
      guard !isOffline else {
        throw UsageError("--offline loads only from the cache, which --no-cache turns off")
      }
      guard parsed.bytes(.cacheFolder) == nil else {
        throw UsageError("--cache-dir and --no-cache exclude each other")
      }
    }
    return isOffline ? .cacheOnly : isReloading ? .reload : .standard
  }

  func run() -> Int32 {
    let start = ContinuousClock.now
    let console = Console(total: Source.different(among: arguments).count, isQuiet: isQuiet)
    let work: ImageOperations.Plan
    do throws(Failure) {
      work = try operations.plan(timeLimit: timeLimit, console)
    } catch {
      console.note("vitrine: \(error.reason)")
      return refuse(error, console)
    }
    let warnings = Lock<[String]>([])
    let cache: DiskCache?
    do throws(FileError) {
      cache = try openCache(console) { warning in warnings.withLock { $0.append(warning) } }
    } catch {
      let path = folder?.path ?? ""
      console.error(ByteString(path), error.description)
      return refuse(Failure(stage: .fetch, "the cache at \(path): \(error)"), console)
    }
    let recorder = tracePath.map { _ in TraceRecorder() }
    let tiers = shared.cache(behind: cache)
    let pipeline = ImagePipeline(.ephemeral) {
      $0.recorder = recorder
      // Each URL is loaded once, so a memory cache would have no hits.
      $0.memoryCache = nil
      $0.diskCache = tiers
      if shared.coordinates { $0.coordination = (tiers as? TieredDataCache).map { WorkCoordination($0) } }
      $0.decoders = .ofTool
      $0.decodeLimits.timeLimit = timeLimit
      $0.loader = console.loader(connectionsPerHost: jobs, for: Source.different(among: arguments))
    }
    let close: @Sendable () -> Void = {
      blocking {
        // Images are stored shortly after they are loaded.
        await pipeline.cache.flush()
        await cache?.close()
      }
    }
    Signals.beforeTheEnd(close)
    var plan = plan
    let failures = Batch.run(arguments, width: jobs, console: console) { source in
      load(source, work, pipeline)
    } finish: { source, loaded in
      Self.write(loaded, source, &plan)
    } report: { argument, outcome, isRepeat in
      report(argument, outcome, isRepeat: isRepeat, console)
    }
    close()
    let troubles = warnings.withLock { $0 } + shared.troubles(of: tiers)
    for trouble in troubles { console.note("vitrine: \(trouble)") }
    console.summarize(count: arguments.count, failures: failures, time: ContinuousClock.now - start)
    let isTraced = recorder.map { write($0, console) } ?? true
    // Without outputs, storing in the cache was the whole task.
    let isKept = plan != nil || troubles.isEmpty
    return failures == 0 && isTraced && isKept ? ExitCode.success : ExitCode.failure
  }

  /// - Returns: A Boolean value that indicates whether the trace was written.
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

  /// Gives every source its line about a failure that concerns them all.
  private func refuse(_ failure: Failure, _ console: Console) -> Int32 {
    if isJSON { for argument in arguments { console.out(Self.json(argument, nil, failure)) } }
    return ExitCode.failure
  }

  /// Opens the cache, or warns and returns `nil` if the command can run without it.
  private func openCache(
    _ console: Console,
    warn: @escaping @Sendable (String) -> Void,
  ) throws(FileError) -> DiskCache? {
    guard let folder else { return nil }
    // The cache is needed if it is the only output, or the only input.
    let isNeeded = plan == nil || policy == .cacheOnly
    do throws(FileError) {
      let cache = try folder.open(limit: folder.limit, warn: warn)
      guard cache.isReadOnly, policy != .cacheOnly else { return cache }
      let reason = cache.refusal.map { "the cache cannot be written: \($0)" } ?? "another process is using this cache"
      guard !isNeeded else { throw FileError("\(reason), so nothing can be stored") }
      console.error(ByteString(folder.path), "\(reason); reading it without storing anything")
      return cache
    } catch {
      // A named folder with other files is probably a mistake.
      if isNeeded || folder.isGiven && error == CacheFolder.foreign { throw error }
      console.error(ByteString(folder.path), "\(error.description); continuing without a cache")
      return nil
    }
  }

  // MARK: - One URL

  /// Loads and encodes one source on a thread of its own, without writing it.
  private func load(
    _ source: Source,
    _ work: ImageOperations.Plan,
    _ pipeline: ImagePipeline,
  ) -> Result<Loaded, Failure> {
    let start = ContinuousClock.now
    do throws(Failure) {
      let address = try source.requireURL()
      var (loaded, trace) = try isEncoding ? load(address, work, pipeline) : copy(address, pipeline)
      if loaded.output != nil { loaded.writing = trace?.stage(StageKind("write")) }
      loaded.writing?.enter("turn")
      loaded.time = ContinuousClock.now - start
      return .success(loaded)
    } catch {
      return .failure(error)
    }
  }

  /// Loads, decodes and encodes an image.
  private func load(
    _ address: String,
    _ work: ImageOperations.Plan,
    _ pipeline: ImagePipeline,
  ) throws(Failure) -> (Loaded, StageTrace?) {
    var request = request(address)
    (request.size, request.processors) = (work.size, work.processors)
    request.keepsEncodedData = plan != nil && encoding.metadata != .strip
    if plan != nil { request.dynamicRange = encoding.dynamicRange }
    let task = pipeline.imageTask(for: request)
    let response = try response(of: task)
    var loaded = Loaded(facts: Facts(response))
    guard plan != nil else { return (loaded, task.trace) }
    let stage = task.trace?.stage(.encode)
    defer { stage?.end() }
    var image = response.container
    if encoding.metadata != .strip { image = try SourceReader.adding(response.encoded, to: image) }
    do throws(ImageError) {
      loaded.output = try encoding.encode(image)
    } catch {
      throw Failure(error)
    }
    return (loaded, task.trace)
  }

  /// Loads the bytes of an image, without decoding it.
  private func copy(_ address: String, _ pipeline: ImagePipeline) throws(Failure) -> (Loaded, StageTrace?) {
    let task = pipeline.originalTask(for: request(address))
    let response = try response(of: task)
    do throws(ImageError) {
      let info = try DecoderRegistry.ofTool.info(of: response.data)
      var loaded = Loaded(facts: Facts(response, info))
      if plan != nil { loaded.output = (response.data, info.format) }
      return (loaded, task.trace)
    } catch {
      throw Failure(stage: .decode, error.detail)
    }
  }

  private func request(_ address: String) -> ImageRequest {
    var request = ImageRequest(fetching: address, headers: headers)
    request.cachePolicy = policy
    return request
  }

  private func response<Value>(of task: LoadTask<Value>) throws(Failure) -> Value {
    let result: Result<Value, Failure> = blocking {
      do throws(LoadError) {
        return .success(try await task.response)
      } catch {
        return .failure(
          error.code == .notCached
            ? Failure(stage: .fetch, "not in the cache, and --offline allows no request")
            : Failure(error)
        )
      }
    }
    return try result.get()
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

  /// - Returns: A Boolean value that indicates whether the source succeeded.
  private func report(
    _ argument: ByteString,
    _ outcome: Result<Fetched, Failure>,
    isRepeat: Bool,
    _ console: Console,
  ) -> Bool {
    var (fetched, failure) = outcome.parts
    if isRepeat { fetched?.facts.origin = .memory }
    if let failure { console.error(argument, failure.reason) }
    if isJSON { console.out(Self.json(argument, fetched, failure)) }
    return failure == nil
  }

  private static func json(_ source: ByteString, _ fetched: Fetched?, _ failure: Failure?) -> String {
    let facts = fetched?.facts
    var json = JSONLine()
    json.add("source", source)
    json.add("output", fetched?.path)
    json.add("from", facts?.origin.rawValue)
    json.add("stale", facts?.isStale)
    json.add("status", facts?.status)
    json.add("bytes", facts?.byteCount)
    json.add("width", facts?.width)
    json.add("height", facts?.height)
    json.add("milliseconds", fetched.map { $0.time.seconds * 1000 })
    json.add(failure)
    return json.line
  }

  /// The reported facts about an image, without its pixels, which are large.
  private struct Facts: Sendable {
    var origin: ImageResponse.Origin
    let isStale: Bool
    let status: Int?
    let byteCount: Int
    let width: Int
    let height: Int

    init(_ response: ImageResponse) {
      (origin, isStale, status) = (response.origin, response.isStale, response.status)
      (byteCount, width, height) = (response.byteCount, response.image.width, response.image.height)
    }

    init(_ response: DataResponse, _ info: ImageInfo) {
      (origin, isStale, status) = (response.origin, response.isStale, response.status)
      (byteCount, width, height) = (response.data.count, info.width, info.height)
    }
  }

  private struct Loaded: Sendable {
    let facts: Facts
    var output: (data: Data, format: ImageFormat)?
    /// The trace stage of writing, which begins with waiting for its turn.
    var writing: StageTrace?
    var time = Duration.zero
  }

  private struct Fetched {
    var facts: Facts
    let path: ByteString?
    let time: Duration
  }
}

extension ImageRequest {
  /// Creates the request for a URL that `fetch` sends and `explain` explains.
  init(fetching url: String, headers: HTTPFields) {
    self.init(url: url)
    self.headers = headers
    // Any header may change the response, so all of them are part of the cache key.
    significantHeaders = Set(headers.map(\.name))
  }
}
