public import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineS3
import VitrineSandbox
import VitrineTiers

/// A server that makes thumbnails of images, local ones and images of other servers.
///
/// ```swift
/// var configuration = ThumbnailServer.Configuration()
/// configuration.localRoot = "/srv/uploads"
/// configuration.cacheFolder = "/var/cache/thumbnails"
/// let server = try ThumbnailServer(configuration)
/// try server.start()
/// print("http://127.0.0.1:\(server.port)")
/// ```
/// Every image is fetched, decoded and encoded once for all clients that ask at the same time, and kept on disk. It
/// answers on threads of its own, which never wait for an image.
public final class ThumbnailServer: Sendable {
  /// The settings.
  public let configuration: Configuration
  /// The pipeline that makes the images.
  public let pipeline: ImagePipeline
  let service: ThumbnailService
  private let log: AccessLog?
  private let state = Lock(State())

  private struct State {
    var listener: Listener?
    var port = 0
    var file: UnixSocket.File?
  }

  /// Makes a server that does not listen yet.
  ///
  /// - Parameters:
  ///   - configuration: The settings.
  ///   - logFile: The descriptor that receives a line of JSON for each request; `nil` for none, the default. It must
  ///     stay open.
  /// - Throws: ``ServerError`` if a folder cannot be used, or `vitrine-codecs` is missing and formats are sandboxed.
  public init(_ configuration: Configuration, logFile: Int32? = nil) throws(ServerError) {
    self.configuration = configuration
    _ = ProcessMetrics.start
    let metrics = ServerMetrics(threads: configuration.threads)
    // As many as are decoded at a time, and two more that are being read or written.
    let decodes = max(1, configuration.maxConcurrentDecodes)
    let budget = SourceBudget(limit: configuration.memory / 4, places: decodes + 2, guestPlaces: decodes)
    let cache = try Self.diskCache(configuration)
    let traces = configuration.tracesSources ? SourceTraces() : nil
    let exporter = configuration.traceCollector.map { collector in
      SpanExporter(collector, configuration.loader ?? CurlLoader(), configuration.clock, metrics)
    }
    pipeline = try Self.pipeline(configuration, cache, budget, metrics, traces)
    log = logFile.flatMap { AccessLog(file: $0, threads: configuration.threads) }
    service = try ThumbnailService(
      configuration,
      pipeline,
      budget,
      metrics,
      cache: cache,
      log: log,
      traces: traces,
      exporter: exporter,
    )
  }

  /// Ends the server at once, and blocks until its threads have ended; better call ``drain(within:)`` or ``stop()`` before.
  deinit {
    guard let listener = state.withLock({ $0.listener.take() }) else { return }
    service.flights.end()
    listener.stop()
    removeFile()
  }

  /// Begins to listen.
  ///
  /// - Parameter socket: A socket that listens already, which the server takes over. Defaults to none, so that it
  ///   listens on the address and port of its configuration.
  /// - Throws: ``ServerError`` if the address is taken, or the system has no threads or file descriptors to spare.
  public func start(on socket: Int32? = nil) throws(ServerError) {
    let opened = if let socket { ListeningSocket(socket) } else { try ownSocket() }
    var limits = Listener.Limits()
    (limits.threads, limits.connections) = (max(1, configuration.threads), max(1, configuration.maxConnections))
    (limits.headBytes, limits.headTime) = (configuration.maxHeadBytes, configuration.headTime)
    (limits.idleTime, limits.sendTime) = (configuration.idleTime, configuration.sendTime)
    guard let listener = Listener(limits, clock: configuration.clock, service), listener.start(opened.descriptor) else {
      close(opened.descriptor)
      throw ServerError("cannot listen: the system has no threads or file descriptors to spare (ulimit -n)")
    }
    service.connectionCount.withLock { $0 = { [weak listener] in listener?.connectionCount ?? 0 } }
    state.withLock { state in
      (state.listener, state.port, state.file) = (listener, opened.port, opened.file)
    }
  }

  private func ownSocket() throws(ServerError) -> ListeningSocket {
    switch ListeningSocket.open(host: configuration.host, port: configuration.port) {
    case .success(let socket): return socket
    case .failure(let error):
      let isFile = configuration.host.hasPrefix(UnixSocket.prefix)
      let place = "\(configuration.host)\(isFile ? "" : " port \(configuration.port)")"
      throw ServerError("cannot listen on \(place): \(error.description)")
    }
  }

  private func removeFile() { state.withLock { $0.file.take() }?.remove() }

  /// The port on which the server listens; 0 before ``start(on:)``, and for a socket that is a file.
  public var port: Int { state.withLock { $0.port } }

  /// Ends the server: refuses new connections, lets running requests end, and stores finished pictures.
  ///
  /// - Parameters:
  ///   - time: The time after which requests that still run are given up. Defaults to 20 seconds.
  ///   - delay: The time before that, in which requests are still taken, while `/ready` answers 503. Defaults to zero.
  public func drain(within time: Duration = .seconds(20), after delay: Duration = .zero) async {
    guard let listener = state.withLock({ $0.listener }) else { return }
    service.drain()
    if delay > .zero { try? await configuration.clock.sleep(for: delay) }
    removeFile()
    listener.drain()
    let end = configuration.clock.uptime + time
    while service.flights.count > 0 || listener.isBusy, configuration.clock.uptime < end {
      guard (try? await configuration.clock.sleep(for: .milliseconds(20))) != nil else { break }
    }
    service.flights.end()
    await stop()
  }

  /// Ends the server at once; requests that run are answered with 503.
  public func stop() async {
    guard let listener = state.withLock({ $0.listener.take() }) else { return }
    service.drain()
    removeFile()
    service.flights.end()
    // Blocks until the listener's threads have ended, which is no work for Swift's own.
    let ended = Deferred<Void>()
    if !startThread(named: "stop", { ended.resolve(listener.stop()) }) { ended.resolve(listener.stop()) }
    await ended.value()
    await pipeline.cache.flush()
    await service.exporter?.end()
    log?.end()
  }

  private static func pipeline(
    _ configuration: Configuration,
    _ cache: (any DataCaching)?,
    _ budget: SourceBudget,
    _ metrics: ServerMetrics,
    _ traces: SourceTraces?,
  ) throws(ServerError) -> ImagePipeline {
    let sandbox = try sandbox(configuration)
    let local = try localFiles(configuration, budget)
    let remote =
      configuration.loader
      ?? PlatformDefaults.loader(
        connectionsPerHost: configuration.connectionsPerHost,
        guardedBy: configuration.addressGuard,
      )
    var rules = configuration.urls.sources
    rules.addressGuard = configuration.addressGuard
    let client = try client(configuration)
    let loader = SourceLoader(objects(configuration, client, remote), local, rules, traces)
    // In the order of look-up: the nearer ones first.
    let tiers = configuration.sharedTiers + (try durable(configuration, client))
    let shared = TieredDataCache(
      (cache.map { [.local($0, name: "disk")] } ?? []) + tiers,
      clock: configuration.clock,
    )
    return ImagePipeline(.ephemeral) {
      // What is asked for again is a file, never its pixels.
      $0.memoryCache = nil
      $0.memoryPressure = nil
      $0.diskCache = tiers.isEmpty ? cache : shared
      if !configuration.sharedTiers.isEmpty {
        var coordination = WorkCoordination(shared)
        configuration.coordination?(&coordination)
        $0.coordination = coordination
      }
      $0.decoders = sandbox.decoders
      $0.encoders = sandbox.encoders
      $0.encoders.animationLimits = configuration.animationLimits
      $0.loader = BudgetedLoader(loader, budget)
      $0.addressGuard = configuration.loader == nil ? configuration.addressGuard : nil
      $0.allowsFileURLs = false
      $0.maxConcurrentDecodes = configuration.maxConcurrentDecodes
      $0.maxConcurrentDecodeBytes = configuration.memory / 4
      $0.maxResponseBytes = configuration.maxSourceBytes
      $0.decodeLimits.pixelCount = configuration.maxSourcePixels
      $0.decodeLimits.timeLimit = configuration.decodeTime
      $0.decodeLimits.memoryByteCount = min($0.decodeLimits.memoryByteCount, configuration.memory / 2)
      $0.maxEncodeBytes = configuration.memory / 2
      $0.queueLimit = configuration.maxImages
      $0.clock = configuration.clock
      ($0.freshness.isShared, $0.freshness.defaultLifetime) = (true, configuration.defaultAge)
      $0.observers = [StageMeter(metrics: metrics)]
    }
  }
}

extension ThumbnailServer {
  private static func sandbox(_ configuration: Configuration) throws(ServerError) -> Sandbox {
    do throws(SandboxError) {
      return try Sandbox {
        $0.formats = configuration.sandbox
        $0.program = configuration.codecsProgram
        // As many again for headers, and for clients that must not wait behind the images of others.
        $0.processes = 2 * configuration.maxConcurrentDecodes
        $0.timeLimit = configuration.decodeTime
        $0.imagesPerProcess = configuration.imagesPerProcess
        $0.startsAhead = false
      }
    } catch {
      throw ServerError(error.detail)
    }
  }

  private static func localFiles(
    _ configuration: Configuration,
    _ budget: SourceBudget,
  ) throws(ServerError) -> LocalFiles? {
    guard let root = configuration.localRoot else { return nil }
    do throws(FileError) {
      return try LocalFiles(root, freshness: configuration.localFreshness, budget)
    } catch {
      throw ServerError("the folder \(root) cannot be used: \(error.description)")
    }
  }

  private static func diskCache(_ configuration: Configuration) throws(ServerError) -> DiskCache? {
    guard let folder = configuration.cacheFolder else { return nil }
    do throws(DiskCacheError) {
      return try DiskCache(
        directory: URL(filePath: folder),
        sizeLimit: configuration.cacheBytes,
        clock: configuration.clock,
      )
    } catch {
      throw ServerError("the cache \(folder) cannot be used: \(error)")
    }
  }

  /// Returns the client of the server of buckets, if any are used.
  private static func client(_ configuration: Configuration) throws(ServerError) -> S3Client? {
    guard !configuration.urls.sources.buckets.isEmpty || configuration.durable != nil else { return nil }
    do throws(S3Error) {
      let settings: S3Configuration
      if let given = configuration.s3 {
        settings = given
      } else {
        settings = try S3Configuration(environment: ProcessInfo.processInfo.environment)
      }
      return try S3Client(settings, clock: configuration.clock)
    } catch {
      throw ServerError("the buckets cannot be used: \(error)")
    }
  }

  /// Returns a loader of objects in buckets, if any are allowed, and of everything else by another loader.
  private static func objects(
    _ configuration: Configuration,
    _ client: S3Client?,
    _ others: any DataLoader,
  ) -> any DataLoader {
    let buckets = configuration.urls.sources.buckets
    guard let client, !buckets.isEmpty else { return others }
    return S3Loader(client, buckets: buckets, others: others)
  }

  /// Returns the tier that outlives this machine, if there is one.
  private static func durable(
    _ configuration: Configuration,
    _ client: S3Client?,
  ) throws(ServerError) -> [TieredDataCache.Tier] {
    guard let client, let text = configuration.durable else { return [] }
    do throws(S3Error) {
      let place = try BucketPlace(text)
      let cache = try S3DataCache(client, bucket: place.bucket, prefix: place.prefix)
      return [.bucket(cache, limits: configuration.durableLimits)]
    } catch {
      throw ServerError("the durable cache cannot be used: \(error)")
    }
  }
}

/// The reason why a server cannot be made or started.
public struct ServerError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A message for a person, without an initial capital or a full stop.
  public let description: String

  init(_ description: String) { self.description = description }
}
