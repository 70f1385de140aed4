import Foundation
import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport
import VitrineTiers

@testable import VitrineRedis

/// A real server on a socket in a folder of its own, without persistence; it ends with the process that started it.
final class RedisProcess: Sendable {
  /// The server: that of `VITRINE_REDIS_SERVER`, such as the path of a valkey-server, or the one that is installed.
  static let program =
    ProcessInfo.processInfo.environment["VITRINE_REDIS_SERVER"]
    ?? ["redis-server", "valkey-server"].lazy.compactMap { ServerProcess.find($0) }.first
  static let isInstalled = program != nil

  private let folder: String
  private let arguments: [String]
  private let running = Lock<ServerProcess?>(nil)

  var socket: String { "\(folder)/redis.sock" }

  /// Starts a server with further arguments, such as `--maxmemory 2mb`.
  init(_ arguments: String...) throws {
    // The name of a socket is short.
    folder = "/tmp/vitrine-redis-\(UInt32.random(in: 0 ... .max))"
    self.arguments = arguments.flatMap { $0.split(separator: " ").map(String.init) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try start()
  }

  deinit {
    resume()
    kill()
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Starts the server, empty, and returns when it answers.
  func start() throws {
    let server = try ServerProcess(Self.script, [Self.program ?? "", socket, folder] + arguments)
    running.withLock { $0 = server }
  }

  /// Kills the server, as a crash does.
  func kill() {
    let server = running.withLock { running in
      defer { running = nil }
      return running
    }
    server?.signal(SIGKILL)
    server?.end()
  }

  func pause() { running.withLock { $0 }?.signal(SIGSTOP) }
  func resume() { running.withLock { $0 }?.signal(SIGCONT) }

  /// Makes a cache of its own, as another machine has.
  func makeCache(
    user: String = "",
    database: Int = 0,
    clock: any TimeSource = .system,
    _ change: (inout RedisCache.Options) -> Void = { _ in },
  ) throws -> RedisCache {
    var options = RedisCache.Options()
    // A busy machine may take its time.
    options.commandTimeout = .seconds(30)
    options.connectTimeout = .seconds(30)
    change(&options)
    return RedisCache(try RedisServer("unix://\(user)\(socket)?db=\(database)"), options: options, clock: clock)
  }

  /// Starts the server, says its process when it answers, and ends it with its own input.
  private static let script = #"""
    server=$1 socket=$2 folder=$3
    shift 3
    rm -f "$socket" "$folder/log"
    "$server" --port 0 --unixsocket "$socket" --save "" --appendonly no --dir "$folder" --daemonize no \
      --logfile "$folder/log" "$@" >/dev/null 2>&1 &
    pid=$!
    until grep -qis "ready to accept connections" "$folder/log"; do
      kill -0 "$pid" 2>/dev/null || exit 1
      sleep 0.01
    done
    echo "$pid"
    read -r _ || true
    kill -9 "$pid" 2>/dev/null
    """#
}

/// The condition of tests that need a server.
extension Trait where Self == ConditionTrait {
  static var needsRedis: Self { .enabled(if: RedisProcess.isInstalled, "redis-server is not installed") }
}

/// Later than any removal of a test, so that none keeps its entries out.
let late = Date(timeIntervalSinceReferenceDate: SystemClock().now.timeIntervalSinceReferenceDate.rounded() + 10_000.25)

func entry(of count: Int = 500, seed: UInt64 = 1, expires: Date? = nil, stored: Date = late) -> CachedData {
  let data = bytes(count, seed: seed)
  return CachedData(
    data: data,
    metadata: Data("metadata \(seed)".utf8),
    contentID: ContentID(of: data),
    expires: expires,
    stored: stored,
  )
}

/// Keys as a pipeline makes them: the partition, the kind, the URL, and then what was made of it.
func key(_ number: Int) -> CacheKey {
  CacheKey {
    $0.append(CacheKey.Part.none)
    $0.append("url")
    $0.append("https://pictures.invalid/\(number)*?[a]\\.jpg")
  }
}

func thumbnail(_ number: Int, _ size: Int) -> CacheKey {
  key(number).extended {
    $0.append("decode")
    $0.append(size)
  }
}
