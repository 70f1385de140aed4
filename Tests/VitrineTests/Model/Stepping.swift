import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

// What a pipeline works with in a test that takes every step itself. All of it is used by one thread, that of the test,
// which is what makes every `@unchecked Sendable` here right.

/// Runs the parts of tasks between two waits one by one, in the order that the test wants.
final class StepExecutor: TaskExecutor, @unchecked Sendable {
  private var jobs: [UnownedJob] = []

  var count: Int { jobs.count }

  func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job)) }

  /// Runs one of those that are due.
  func run(_ index: Int) {
    let job = jobs.remove(at: index)
    unsafe job.runSynchronously(on: asUnownedTaskExecutor())
  }
}

/// One load, whose answer the test sends; see ``StepLoader``.
final class StepLoad: LoadHandle, @unchecked Sendable {
  let request: HTTPRequest
  let number: Int
  private var sink: (any LoadSink)?
  var priority: Priority
  private(set) var isCancelled = false
  private(set) var isEnded = false

  init(_ request: HTTPRequest, _ sink: any LoadSink, number: Int) {
    (self.request, self.sink, self.number, priority) = (request, sink, number, request.priority)
  }

  func cancel() { isCancelled = true }

  func resume() {}

  func respond(_ status: Int, _ headers: HTTPFields = [:]) {
    _ = sink?.receive(HTTPResponse(status: status, headers: headers, url: request.url))
  }

  func send(_ bytes: Data) { _ = sink?.receive(bytes) }

  /// The last call: well, or with an error.
  func end(_ code: HTTPError.Code? = nil) {
    isEnded = true
    let sink = sink
    self.sink = nil
    sink?.finish(code.map { HTTPError($0, url: request.url.string, "a test let it fail") })
  }
}

/// A network in which nothing happens but what the test says.
final class StepLoader: DataLoader, @unchecked Sendable {
  private(set) var running: [StepLoad] = []
  private(set) var count = 0
  var whenBegun: (StepLoad) -> Void = { _ in }

  func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    sink.begin()
    let load = StepLoad(request, sink, number: count)
    count += 1
    running.append(load)
    whenBegun(load)
    return load
  }

  func forget(_ load: StepLoad) { running.removeAll { $0 === load } }
}

/// A cache of bytes that answers within the call, tells the test of each, and lets it look inside.
final class StepDisk: DataCaching, @unchecked Sendable {
  enum Call { case lookUp, read, write, renew, remove }

  var entries: [CacheKey: CachedData] = [:]
  private(set) var counts: [Call: Int] = [:]
  var whenRead: (CacheKey, CachedData?) -> Void = { _, _ in }

  func count(_ call: Call) -> Int { counts[call, default: 0] }

  func forgetCounts() { counts = [:] }

  func entry(for key: CacheKey) async -> CachedData? {
    counts[.read, default: 0] += 1
    whenRead(key, entries[key])
    return entries[key]
  }

  func heads(for keys: [CacheKey]) async -> [CachedDataHead?] {
    counts[.lookUp, default: 0] += 1
    return keys.map { key in
      whenRead(key, entries[key])
      var head = entries[key].map { CachedDataHead($0) }
      head?.data = nil
      return head
    }
  }

  func peek(_ key: CacheKey) async -> CachedData? { entries[key] }

  func store(_ entry: CachedData, for key: CacheKey) async {
    counts[.write, default: 0] += 1
    entries[key] = entry
  }

  func renew(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async -> Bool {
    guard entries[key]?.contentID == contentID else { return false }
    counts[.renew, default: 0] += 1
    entries[key]?.expires = expires
    entries[key]?.metadata = metadata
    return true
  }

  func remove(_ key: CacheKey) async {
    counts[.remove, default: 0] += 1
    entries[key] = nil
  }

  func removeAll() async { entries = [:] }

  func contains(_ key: CacheKey) async -> Bool { entries[key] != nil }

  func contentID(for key: CacheKey) async -> ContentID? { entries[key]?.contentID }

  func entries() async -> [DataCacheEntry] {
    // In an order that is the same in every run.
    entries.sorted { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }.map { key, entry in
      DataCacheEntry(
        key: key,
        kind: entry.kind,
        byteCount: entry.data.count,
        stored: entry.stored,
        expires: entry.expires,
        hits: 1,
      )
    }
  }

  func statistics() async -> DataCacheStatistics { DataCacheStatistics() }

  func flush() async {}
}

/// A variable that one thread uses.
final class Box<Value>: @unchecked Sendable {
  // @unchecked: everything in these suites happens on the thread of the test.
  var value: Value

  init(_ value: Value) { self.value = value }
}
