import Contest
import Foundation
import Vitrine
import VitrineHTTP
import VitrineTesting

/// An observer that ignores all events.
private struct Observer: PipelineObserver {
  func observe(_ event: PipelineEvent) {}
}

/// A loader that always answers at once with the same bytes, so that only the pipeline's cost remains.
private struct InstantLoader: DataLoader {
  let body: Data

  func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    let handle = NoLoadHandle()
    sink.begin()
    var response = HTTPResponse(status: 200, url: request.url)
    response.headers = ["Content-Length": "\(body.count)", "Cache-Control": "max-age=86400"]
    if sink.receive(response) == .proceed { _ = sink.receive(body) }
    sink.finish(nil)
    return handle
  }
}

/// The common handwritten solution: a dictionary, and a download for each miss.
private final class NaiveLoader: Sendable {
  private let images = NaiveDictionary()
  private let keeps: Bool
  private let fetch: @Sendable (URL) async throws -> Data

  init(keeps: Bool, fetch: @escaping @Sendable (URL) async throws -> Data) {
    (self.keeps, self.fetch) = (keeps, fetch)
  }

  func image(for url: URL, size: TargetSize) async throws -> Bitmap {
    if let image = images[url] { return image }
    let image = try Bitmap(decoding: try await fetch(url), size: size)
    if keeps { images[url] = image }
    return image
  }
}

private final class NaiveDictionary: @unchecked Sendable {
  // @unchecked: guarded by `lock`.
  private let lock = NSLock()
  private var images: [URL: Bitmap] = [:]

  subscript(url: URL) -> Bitmap? {
    get { lock.withLock { images[url] } }
    set { lock.withLock { images[url] = newValue } }
  }
}

/// Images that are in no cache, from a loader that answers at once.
///
/// They have 8 pixels a side, so that decoding costs little. The number of allocations per request is pinned: unlike
/// times, counts are the same in every run.
func benchCold(rounds: Int) async throws -> [String] {
  let body = try Bitmap.solid(SIMD4(200, 100, 50, 255), width: 8, height: 8).encoded(as: .png)
  let loader = InstantLoader(body: body)
  let urls = try (0..<1000).map { index in
    guard let url = URL(string: "https://example.org/photographs/\(index).png") else { throw BenchmarkError("bad URL") }
    return url
  }
  // First, before any work has left memory to reuse.
  try await measureMemory(urls, body)
  let size = TargetSize.pixels(8, 8)
  func pipeline(_ configure: (inout ImagePipeline.Configuration) -> Void = { _ in }) -> ImagePipeline {
    ImagePipeline(.ephemeral) {
      $0.memoryCache = nil
      $0.loader = loader
      configure(&$0)
    }
  }
  let (plain, measured) = (pipeline(), pipeline { $0.collectsMetrics = true })
  let observed = pipeline { $0.observers = [Observer()] }
  let naive = NaiveLoader(keeps: false) { _ in body }
  let tasks: [(String, Double?, @Sendable (URL) async throws -> Void)] = [
    ("`await pipeline.image(for:)`", 66, { _ = try await plain.image(for: ImageRequest(url: $0, size: size)) }),
    ("the same, with metrics", nil, { _ = try await measured.image(for: ImageRequest(url: $0, size: size)) }),
    ("the same, with an observer", nil, { _ = try await observed.image(for: ImageRequest(url: $0, size: size)) }),
    ("a dictionary and `Bitmap(decoding:)`", nil, { _ = try await naive.image(for: $0, size: size) }),
  ]
  var failures = try await contest(
    "Cold: one after the other",
    tasks.map { name, limit, load in
      Contestant(name: name, allocationLimit: limit) { count in
        for index in 0..<count { try await load(urls[index % urls.count]) }
      }
    },
    count: 1000,
    rounds: rounds,
  )
  failures += try await contest(
    "Cold: a task group of 1,000 at once",
    tasks.map { name, _, load in
      Contestant(name: name) { count in
        try await withThrowingTaskGroup { group in
          for index in 0..<count { group.addTask { try await load(urls[index % urls.count]) } }
          try await group.waitForAll()
        }
      }
    },
    count: 1000,
    rounds: rounds,
  )
  failures += try await contest(
    "10,000 requests at once for 1,000 images, kept in memory",
    [
      Contestant(name: "`await pipeline.image(for:)`") { count in
        let pipeline = pipeline { $0.memoryCache = MemoryCache(costLimit: 100 << 20) }
        try await tenThousand(count, urls) { _ = try await pipeline.image(for: ImageRequest(url: $0, size: size)) }
      },
      Contestant(name: "a dictionary and `Bitmap(decoding:)`") { count in
        let naive = NaiveLoader(keeps: true) { _ in body }
        try await tenThousand(count, urls) { _ = try await naive.image(for: $0, size: size) }
      },
    ],
    count: 10_000,
    rounds: max(1, rounds / 2),
  )
  return failures
}

private func tenThousand(
  _ count: Int,
  _ urls: [URL],
  _ load: @escaping @Sendable (URL) async throws -> Void,
) async throws {
  try await withThrowingTaskGroup { group in
    for index in 0..<count { group.addTask { try await load(urls[index % urls.count]) } }
    try await group.waitForAll()
  }
}

/// The peak memory of the process with this many tasks, beyond that before.
private func measureMemory(_ urls: [URL], _ body: Data) async throws {
  guard resetPeakMemory(), let before = peakMemory() else { return }
  let pipeline = ImagePipeline(.ephemeral) {
    $0.memoryCache = nil
    $0.loader = InstantLoader(body: body)
  }
  let tasks = (0..<10_000).map { pipeline.imageTask(for: ImageRequest(url: urls[$0 % urls.count])) }
  for task in tasks { _ = try await task.image }
  if let after = peakMemory() {
    say(
      "\n10,000 tasks for 1,000 images of 8x8, made at once and kept: \((after - before) / 1024) MB more at the peak."
    )
  }
}

/// A loader that never answers.
private struct SilentLoader: DataLoader {
  func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle { NoLoadHandle() }
}

/// The memory of tasks that wait for as many images, and what is left of it afterwards.
func measureWaiting() async {
  let count = Int(ProcessInfo.processInfo.environment["WAITING"] ?? "") ?? 100_000
  guard let start = memory() else { return }
  let pipeline = ImagePipeline(.ephemeral) {
    $0.memoryCache = nil
    $0.loader = SilentLoader()
  }
  let requests = (0..<count).map { ImageRequest(url: "https://a.invalid/\($0).jpg", size: .pixels(8, 8)) }
  let made = memory() ?? 0
  var tasks = requests.map { pipeline.imageTask(for: $0) }
  let waiting = memory() ?? 0
  say(
    "\n\(count) tasks that wait for as many images: \((waiting - start) / 1024) MB; each request "
      + "\((made - start) * 1024 / count) bytes, each task with its jobs \((waiting - made) * 1024 / count) bytes."
  )
  for task in tasks { task.cancel() }
  tasks = []
  let cancelled = memory() ?? 0
  say("Without the tasks: \((cancelled - start) / 1024) MB.")
  var waiters = requests.map { request in Task { _ = try? await pipeline.image(for: request) } }
  try? await Task.sleep(for: .seconds(3))
  let awaited = memory() ?? 0
  say("As many calls of `image(for:)`, each in a task of its own: \((awaited - made) * 1024 / count) bytes each.")
  for waiter in waiters { waiter.cancel() }
  for waiter in waiters { await waiter.value }
  waiters = []
  say("Without them: \(((memory() ?? 0) - start) / 1024) MB.")
}

/// Resets Linux's peak counter, and returns whether it could.
private func resetPeakMemory() -> Bool {
  (try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))) != nil
}

/// The peak memory in kilobytes.
private func peakMemory() -> Int? { memory("VmHWM") }

/// The memory of the process in kilobytes.
private func memory(_ name: String = "VmRSS") -> Int? {
  let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
  let line = status?.split(separator: "\n").first { $0.hasPrefix(name) }
  return line.flatMap { Int($0.filter(\.isNumber)) }
}
