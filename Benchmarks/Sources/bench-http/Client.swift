import Foundation
import VitrineHTTP

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// `bench-http client KIND URL COUNT CONNECTIONS AUTHORITY`: runs loads, and prints the input of `Figures`.
func runClient(_ arguments: [String]) async throws {
  guard arguments.count == 5, let count = Int(arguments[2]), let connections = Int(arguments[3]) else {
    throw BenchmarkError("expected five arguments")
  }
  let request = try HTTPRequest(arguments[1])
  var options = CurlLoader.Options()
  options.usesProxiesOfEnvironment = false
  options.certificateFile = arguments[4]
  options.connectionLimitPerHost = connections
  let loader = CurlLoader(options)
  switch arguments[0] {
  case "loader": try await loadIntoSinks(loader, request, count: count)
  case "data":
    try await inLanes(count, connections) {
      guard try await loader.data(for: request).1.count == fileSize else { throw BenchmarkError("wrong content") }
    }
  case "session":
    let (session, url) = try session(connections, request)
    try await inLanes(count, connections) {
      guard try await session.data(from: url).0.count == fileSize else { throw BenchmarkError("wrong content") }
    }
  case "storm":
    try await storm(count) { try await loader.data(for: request).1.count }
  case "session-storm":
    let (session, url) = try session(connections, request)
    try await storm(count) { try await session.data(from: url).0.count }
  case "soak": try await soak(loader, request, count: count, connections)
  default: throw BenchmarkError("unknown client")
  }
}

private func session(_ connections: Int, _ request: HTTPRequest) throws -> (URLSession, URL) {
  let configuration = URLSessionConfiguration.ephemeral
  configuration.urlCache = nil
  configuration.httpMaximumConnectionsPerHost = connections
  guard let url = URL(string: request.url.string) else { throw BenchmarkError("invalid URL") }
  return (URLSession(configuration: configuration), url)
}

private func seconds(since start: ContinuousClock.Instant) -> Double {
  start.duration(to: .now) / .seconds(1)
}

private func report(_ start: ContinuousClock.Instant, _ latencies: [Double], arrived: Int) {
  let time = seconds(since: start)
  let sorted = latencies.sorted()
  func percentile(_ part: Double) -> Double { sorted.isEmpty ? .nan : sorted[Int(Double(sorted.count - 1) * part)] }
  let line = "\(time) \(percentile(0.5)) \(percentile(0.99)) \(arrived)"
  guard let file = ProcessInfo.processInfo.environment[reportVariable] else { return say(line) }
  try? Data(line.utf8).write(to: URL(filePath: file))
}

/// Runs this many tasks, each of which takes the next load as soon as it is free.
private func inLanes(_ count: Int, _ lanes: Int, _ body: @escaping @Sendable () async throws -> Void) async throws {
  let start = ContinuousClock.now
  let latencies = try await withThrowingTaskGroup(of: [Double].self) { group in
    for lane in 0..<lanes {
      group.addTask {
        var latencies: [Double] = []
        for _ in stride(from: lane, to: count, by: lanes) {
          let begin = ContinuousClock.now
          try await body()
          latencies.append(seconds(since: begin))
        }
        return latencies
      }
    }
    return try await group.reduce(into: []) { $0 += $1 }
  }
  report(start, latencies, arrived: latencies.count)
}

/// Starts all loads at once, into counting sinks.
///
/// Latency begins when a load leaves the queue.
private func loadIntoSinks(_ loader: CurlLoader, _ request: HTTPRequest, count: Int) async throws {
  let start = ContinuousClock.now
  let sinks = (0..<count).map { _ in CountingSink() }
  for sink in sinks { loader.load(request, into: sink) }
  var latencies: [Double] = []
  for sink in sinks {
    let (bytes, latency) = await sink.end()
    guard bytes == fileSize else { throw BenchmarkError("received \(bytes) bytes") }
    latencies.append(latency)
  }
  report(start, latencies, arrived: count)
}

private final class CountingSink: LoadSink, @unchecked Sendable {
  // Sendable: the loader makes one call at a time, and the waiting task reads only after the last one, as the stream
  // guarantees.

  private var count = 0
  private var began = ContinuousClock.now
  private let (ends, ending) = AsyncStream<(Int, Double)>.makeStream()

  func begin() { began = .now }

  func receive(_ response: HTTPResponse) -> LoadFlow { .proceed }

  func receive(_ bytes: RawSpan) -> LoadFlow {
    count += bytes.byteCount
    return .proceed
  }

  func finish(_ error: HTTPError?) {
    ending.yield((error == nil ? count : -1, seconds(since: began)))
  }

  func end() async -> (Int, Double) {
    for await end in ends { return end }
    return (-1, 0)
  }
}

private func storm(_ count: Int, _ body: @escaping @Sendable () async throws -> Int) async throws {
  let start = ContinuousClock.now
  let tasks = (0..<count).map { _ in Task { try await body() } }
  try await Task.sleep(for: .milliseconds(10))
  for (index, task) in tasks.enumerated() where index % 10 != 0 { task.cancel() }
  var arrived = 0
  for task in tasks {
    if case .success(let size) = await task.result, size == fileSize { arrived += 1 }
  }
  guard arrived >= count / 10 else { throw BenchmarkError("only \(arrived) arrived") }
  report(start, [], arrived: arrived)
}

private func soak(_ loader: CurlLoader, _ request: HTTPRequest, count: Int, _ lanes: Int) async throws {
  var parts: [String] = []
  for part in 1...6 {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<lanes {
        group.addTask {
          for _ in 0..<(count / 6 / lanes) {
            guard try await loader.data(for: request).1.count == fileSize else { throw BenchmarkError("wrong content") }
          }
        }
      }
      try await group.waitForAll()
    }
    let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    let megabytes = Double(pages[1]).map { $0 * 4096 / 1e6 } ?? .nan
    let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    parts.append(String(format: "%d: %.1f MB, %d descriptors", part * count / 6, megabytes, descriptors))
  }
  say(parts.joined(separator: "; "))
}
