import VitrineCaching
import VitrineHTTP
import VitrineRedis
import VitrineRuntime
import VitrineServing
import VitrineTiers

/// The program `vitrine-server`.
@main
enum ServerProgram {
  private static let help = """
    Serves thumbnails over HTTP.

      vitrine-server [--config FILE]                    answers requests until SIGTERM
      vitrine-server [--config FILE] --check-config     says what is wrong with the settings
      vitrine-server [--config FILE] --print-config     lists all settings, their meanings and values
      vitrine-server [--config FILE] health             says whether the server with these settings answers
      vitrine-server --from-imgproxy                    prints settings for the IMGPROXY_ variables that are set

    --shared redis://HOST:PORT/DATABASE shares images and work with other servers, like VITRINE_SHARED. A password
    belongs there, since others on this machine can read arguments.
    --durable s3://BUCKET/PREFIX keeps the cache in a bucket, too, like VITRINE_DURABLE, with the keys, the region and
    the endpoint of AWS_ variables.

    Settings are environment variables, or lines of NAME=value in FILE (or the file that VITRINE_CONFIG names).
    IMGPROXY_ variables are understood where they mean the same; the rest are named at the start.
    A URL is http://HOST:PORT/SIGNATURE/OPTIONS/plain/SOURCE@EXTENSION, as in imgproxy, such as
    /_/rs:fill:300:200/plain/https://example.org/cat.jpg@webp, or /?src=SOURCE&w=300&h=200&fit=fill for people.

    Exit status: 0 after SIGTERM, 1 if the server cannot start or does not answer, 64 for wrong usage, 78 for wrong settings.

    """

  static func main() {
    var arguments = CommandLine.arguments.dropFirst()
    var (file, action) = (
      ProcessInfo.processInfo.environment["VITRINE_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }, "serve",
    )
    var given = GivenSettings()
    while let argument = arguments.popFirst() {
      switch argument {
      case "--config":
        guard let path = arguments.popFirst() else { end(64, "--config needs a file") }
        file = path
      case "--shared", "--durable":
        guard let url = arguments.popFirst() else { end(64, "\(argument) needs a URL") }
        given.add(argument, url)
      case "--check-config", "--print-config", "health": action = argument
      case "--from-imgproxy":
        translate()
        exit(0)
      case "--help", "-h":
        print(help, terminator: "")
        exit(0)
      case "--version":
        print("vitrine-server \(vitrineVersion)")
        exit(0)
      default: end(64, "unknown option '\(argument)'; try --help")
      }
    }
    let settings = settings(file, given)
    switch action {
    case "--print-config": print(settings.text, terminator: "")
    case "--check-config": check(settings, given)
    case "health": checkHealth(settings.configuration)
    default: serve(settings, given)
    }
  }

  private static func translate() {
    do throws(ConfigurationError) {
      print(try Settings.translation(of: ProcessInfo.processInfo.environment), terminator: "")
    } catch {
      end(78, error.description)
    }
  }

  private static func settings(_ file: String?, _ given: GivenSettings) -> Settings {
    var text: String?
    if let file {
      do throws(FileError) {
        text = String(decoding: try FileContents.at(file), as: UTF8.self)
      } catch {
        end(78, "\(file): \(error.description)")
      }
    }
    do throws(ConfigurationError) {
      let environment = ProcessInfo.processInfo.environment.merging(given.values) { $1 }
      return try Settings(environment: environment, file: text)
    } catch {
      end(78, given.naming(error.description))
    }
  }

  private static func check(_ settings: Settings, _ given: GivenSettings) {
    _ = server(settings, given, exitCode: 78)
    for warning in settings.warnings { say("warning: \(warning)") }
    print("The settings are valid.")
  }

  /// Asks the running server for `/health`, for containers that have no other program.
  private static func checkHealth(_ configuration: ThumbnailServer.Configuration) {
    if configuration.host.hasPrefix(UnixSocket.prefix) { checkFile(configuration.host) }
    guard configuration.port != 0 else { end(78, "VITRINE_PORT is 0, so the port is not known") }
    let host =
      switch configuration.host {
      case "", "0.0.0.0": "127.0.0.1"
      case "::": "::1"
      default: configuration.host
      }
    let url = address(host, configuration.port) + "/health"
    let result = Monitor<Result<Int, HTTPError>?>(nil)
    Task {
      let answer: Result<Int, HTTPError>
      do throws(HTTPError) {
        var (request, options) = (try HTTPRequest(url), CurlLoader.Options())
        (request.timeouts.connect, request.timeouts.total) = (.seconds(3), .seconds(5))
        options.usesProxiesOfEnvironment = false
        answer = .success(try await CurlLoader(options).data(for: request).0.status)
      } catch {
        answer = .failure(error)
      }
      result.withLock { $0 = answer }
      result.broadcast()
    }
    switch result.wait({ $0.map { .leave($0) } ?? .wait }) {
    case .success(200): print("ok")
    case .success(let status): end(1, "\(url) answers with status \(status)")
    case .failure(let error): end(1, "\(url): \(error.detail)")
    }
  }

  /// Asks for `/health` on a socket that is a file.
  private static func checkFile(_ place: String) -> Never {
    guard let socket = UnixSocket.connect(String(place.dropFirst(UnixSocket.prefix.count))) else {
      end(1, "\(place): \(FileError(code: errno).description)")
    }
    var time = timeval(tv_sec: 5, tv_usec: 0)
    // The values outlive the calls.
    unsafe setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    let head = Array("GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
    var answer = [UInt8](repeating: 0, count: 64)
    let sent = unsafe send(socket, head, head.count, CInt(MSG_NOSIGNAL))
    let count = unsafe sent == head.count ? recv(socket, &answer, answer.count, 0) : -1
    guard count > 0 else { end(1, "\(place): \(FileError(code: errno).description)") }
    let status = String(decoding: answer.prefix(count), as: UTF8.self).split(separator: " ").dropFirst().first ?? ""
    guard status == "200" else { end(1, "\(place) answers with status \(status)") }
    print("ok")
    exit(0)
  }

  private static func server(
    _ settings: Settings,
    _ given: GivenSettings,
    exitCode: Int32,
    mostConnections: Int = .max,
  ) -> ThumbnailServer {
    var configuration = settings.configuration
    configuration.maxConnections = min(configuration.maxConnections, mostConnections)
    // Tiers in the order of look-up: the nearer ones first.
    if let url = settings.shared { configuration.sharedTiers.append(redis(url, given)) }
    do throws(ServerError) {
      return try ThumbnailServer(configuration, logFile: settings.logs ? 1 : nil)
    } catch {
      end(exitCode, error.description)
    }
  }

  private static func redis(_ url: String, _ given: GivenSettings) -> TieredDataCache.Tier {
    do throws(RedisError) {
      return .remote(RedisCache(try RedisServer(url)), name: "redis")
    } catch {
      end(78, given.naming("VITRINE_SHARED: \(error.detail)"))
    }
  }

  private static func serve(_ settings: Settings, _ given: GivenSettings) {
    guard settings.allowsRoot || geteuid() != 0 else {
      end(1, "it does not run as root, since it reads files of strangers; set VITRINE_ALLOW_ROOT=on if it must")
    }
    Heaps.limit()
    let socket = passedSocket()
    let signals = TerminationSignals()
    let connections = fittingConnections(settings.configuration.maxConnections)
    if connections < settings.configuration.maxConnections {
      say("warning: at most \(connections) connections, since no more files may be open (ulimit -Hn)")
    }
    let server = server(settings, given, exitCode: 1, mostConnections: connections)
    do throws(ServerError) {
      try server.start(on: socket)
    } catch {
      end(1, error.description)
    }
    for warning in settings.warnings + proxyWarnings(settings.configuration) { say("warning: \(warning)") }
    say(
      "listening on \(socket == nil ? address(settings.configuration.host, server.port) : "the socket that was passed")"
    )
    signals.wait()
    say("draining")
    let hasEnded = Monitor(false)
    Task {
      await server.drain(within: settings.drainTime, after: settings.drainDelay)
      hasEnded.withLock { $0 = true }
      hasEnded.broadcast()
    }
    hasEnded.wait { $0 ? .leave(()) : .wait }
    exit(0)
  }

  private static func passedSocket() -> CInt? {
    do throws(ServerError) {
      return try PassedSocket.take(environment: ProcessInfo.processInfo.environment)
    } catch {
      end(78, error.description)
    }
  }

  private static func address(_ host: String, _ port: Int) -> String {
    guard !host.hasPrefix(UnixSocket.prefix) else { return host }
    return "http://\(host.isEmpty ? "*" : host.contains(":") ? "[\(host)]" : host):\(port)"
  }

  /// Sentences about proxies that the environment names in vain.
  private static func proxyWarnings(_ configuration: ThumbnailServer.Configuration) -> [String] {
    guard configuration.addressGuard?.trustsProxy == false else { return [] }
    let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].filter { name in
      ProcessInfo.processInfo.environment[name]?.isEmpty == false
    }
    return names.map {
      "\($0) has no effect: behind a proxy, VITRINE_ADDRESS_GUARD could not see the addresses of sources; set "
        + "VITRINE_PROXY=on if the proxy refuses private networks"
    }
  }

  /// Raises the limit of open files, so that it is not reached before the limit of connections.
  ///
  /// - Returns: The number of connections for which there are files, at most `connections`.
  private static func fittingConnections(_ connections: Int) -> Int {
    var limit = rlimit()
    // `limit` outlives the calls.
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return connections }
    // Beside each connection a load may have one, and there are caches, workers and the log.
    let wanted = rlim_t(clamping: connections * 2 + 512)
    if limit.rlim_cur < wanted {
      limit.rlim_cur = min(wanted, limit.rlim_max)
      _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < wanted else {
      return connections
    }
    let count = Int(clamping: limit.rlim_cur)
    return min(connections, max(16, count > 1024 ? (count - 512) / 2 : count / 4))
  }

  private static func say(_ text: String) {
    let line = Array("vitrine-server: \(text)\n".utf8)
    // The array outlives the call.
    _ = unsafe line.withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
  }

  private static func end(_ code: Int32, _ text: String) -> Never {
    say(text)
    exit(code)
  }
}

/// The settings that options of the command line gave.
private struct GivenSettings {
  private var options: [String: (name: String, value: String)] = [:]

  /// The values, by the names of their variables.
  var values: [String: String] { options.mapValues(\.value) }

  mutating func add(_ option: String, _ value: String) {
    options["VITRINE_" + option.dropFirst(2).uppercased()] = (option, value)
  }

  /// Returns a message about a setting with the name of the option, if one gave it.
  func naming(_ message: String) -> String {
    guard let (variable, option) = options.first(where: { message.hasPrefix($0.key + ": ") }) else { return message }
    return option.name + message.dropFirst(variable.count)
  }
}

/// SIGTERM and SIGINT: the first one is awaited, the second one ends the process.
struct TerminationSignals {
  private var set = sigset_t()

  /// Blocks the signals in all threads; made before a second thread exists, since threads inherit the mask.
  init() {
    // `set` outlives the calls.
    unsafe sigemptyset(&set)
    for number in [SIGINT, SIGTERM] { unsafe sigaddset(&set, number) }
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    signal(SIGPIPE, SIG_IGN)
    // A write beyond the limit of a file's size is an error, too.
    signal(SIGXFSZ, SIG_IGN)
  }

  /// Blocks the main thread until the first signal.
  ///
  /// The program's `main` is not `async` for its sake: the main thread of such a program unblocks all signals while it
  /// waits, so the first one would end the process.
  func wait() {
    Self.wait(for: set)
    _ = startThread(named: "signals", stackSize: 256 << 10) { [set] in _exit(128 + Self.wait(for: set)) }
  }

  @discardableResult
  private static func wait(for signals: sigset_t) -> Int32 {
    var (set, number) = (signals, Int32(0))
    // Both are local variables.
    while unsafe sigwait(&set, &number) != 0 {}
    return number
  }
}
