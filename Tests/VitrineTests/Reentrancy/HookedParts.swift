import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTesting

@testable import Vitrine

/// A cache of bytes that pulls a trigger before one of its calls.
struct HookedCache: DataCaching {
  enum Call: String, Codable {
    case entry, heads, store, renew, remove, removeAll, contains, contentID, removeExtending, flush
    /// It is told that nobody waits for it any more.
    case cancelledEntry, cancelledHeads
  }

  let inner: CountingDataCache
  let call: Call
  let trigger: Trigger
  /// Resolved when a look that is to be cancelled has begun.
  let isLooking = Deferred<Void>()

  private func note(_ call: Call) { if call == self.call { trigger.pull() } }

  /// Takes until it is cancelled.
  private func waitToBeCancelled(in call: Call) async {
    guard call == self.call, trigger.isArmed else { return }
    let isCancelled = Deferred<Void>()
    await withTaskCancellationHandler {
      isLooking.resolve(())
      await isCancelled.value()
    } onCancel: {
      trigger.pull()
      isCancelled.resolve(())
    }
  }

  func entry(for key: CacheKey) async -> CachedData? {
    note(.entry)
    await waitToBeCancelled(in: .cancelledEntry)
    return await inner.entry(for: key)
  }

  func heads(for keys: [CacheKey]) async -> [CachedDataHead?] {
    note(.heads)
    await waitToBeCancelled(in: .cancelledHeads)
    return await inner.heads(for: keys)
  }

  func store(_ entry: CachedData, for key: CacheKey) async {
    note(.store)
    await inner.store(entry, for: key)
  }

  func renew(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async -> Bool {
    note(.renew)
    return await inner.renew(key, contentID: contentID, expires: expires, metadata: metadata)
  }

  func remove(_ key: CacheKey) async {
    note(.remove)
    await inner.remove(key)
  }

  func removeAll() async {
    note(.removeAll)
    await inner.removeAll()
  }

  func contains(_ key: CacheKey) async -> Bool {
    note(.contains)
    return await inner.contains(key)
  }

  func contentID(for key: CacheKey) async -> ContentID? {
    note(.contentID)
    return await inner.contentID(for: key)
  }

  func removeAll(extending key: CacheKey) async {
    note(.removeExtending)
    await inner.removeAll(extending: key)
  }

  func entries() async -> [DataCacheEntry] { await inner.entries() }

  func statistics() async -> DataCacheStatistics { await inner.statistics() }

  func flush() async { note(.flush) }
}

/// Decodes PNG, and pulls a trigger on the way.
struct HookedDecoder: ImageDecoder {
  enum Call { case formats, info, open, rows }

  let call: Call
  let trigger: Trigger
  private let inner = PNGDecoder()

  init(_ call: Call, _ trigger: Trigger) { (self.call, self.trigger) = (call, trigger) }

  private func note(_ call: Call) { if call == self.call { trigger.pull() } }

  var formats: [ImageFormat] {
    note(.formats)
    return inner.formats
  }

  func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    note(.info)
    return try unsafe inner.info(of: bytes, format: format, limits: limits)
  }

  func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    note(.open)
    guard let rows = try unsafe inner.open(bytes, request) else { return nil }
    return Rows(rows) { note(.rows) }
  }

  private final class Rows: RowSource {
    private let inner: any RowSource
    private let note: () -> Void

    init(_ inner: any RowSource, _ note: @escaping () -> Void) { (self.inner, self.note) = (inner, note) }

    var width: Int { inner.width }
    var height: Int { inner.height }
    var hasAlpha: Bool { inner.hasAlpha }

    func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
      note()
      return try unsafe inner.read(into: rows, bytesPerRow: bytesPerRow, count: count)
    }
  }
}

/// Hands on to a fake, and pulls a trigger on the way.
struct HookedLoader: DataLoader {
  enum Call { case load, cancel, priority }

  let inner: FakeLoader
  let call: Call
  let trigger: Trigger

  func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    if call == .load { trigger.pull() }
    return Handle(inner.load(request, into: sink), self)
  }

  private final class Handle: LoadHandle {
    private let inner: any LoadHandle
    private let loader: HookedLoader

    init(_ inner: any LoadHandle, _ loader: HookedLoader) { (self.inner, self.loader) = (inner, loader) }

    var priority: Priority {
      get { inner.priority }
      set {
        if loader.call == .priority { loader.trigger.pull() }
        inner.priority = newValue
      }
    }

    func cancel() {
      if loader.call == .cancel { loader.trigger.pull() }
      inner.cancel()
    }

    func resume() { inner.resume() }
  }
}

/// Answers within the call that asks.
struct ImmediateLoader: DataLoader {
  let body: Data

  func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    sink.begin()
    let handle = NoLoadHandle()
    let flows = [
      sink.receive(HTTPResponse(status: 200, headers: Scene.headers, url: request.url)), sink.receive(body),
    ]
    sink.finish(flows.contains(.stop) ? HTTPError(.cancelled, url: request.url.string, "refused") : nil)
    return handle
  }
}

/// Has one address answered by another loader.
struct DividedLoader: DataLoader {
  let inner: FakeLoader
  let immediate: ImmediateLoader

  func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    request.url.string == Scene.url("subject") ? immediate.load(request, into: sink) : inner.load(request, into: sink)
  }
}

/// A clock that stands still and pulls a trigger when it is asked for something.
struct HookedClock: TimeSource {
  enum Call { case now, uptime, schedule, cancel }

  let inner: ManualClock
  let call: Call
  let trigger: Trigger

  private func note(_ call: Call) { if call == self.call { trigger.pull() } }

  var now: Date {
    note(.now)
    return inner.now
  }

  var uptime: Duration {
    note(.uptime)
    return inner.uptime
  }

  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
    note(.schedule)
    let scheduled = inner.schedule(after: delay, action)
    return ScheduledAction {
      note(.cancel)
      return scheduled.cancel()
    }
  }
}

/// Pulls a trigger when it is observed, and when it no longer is.
struct HookedPressure: MemoryPressureSource {
  enum Call { case observe, end }

  let call: Call
  let trigger: Trigger

  func observe(_ body: @escaping @Sendable (MemoryPressure) -> Void) -> MemoryPressureObservation {
    if call == .observe { trigger.pull() }
    return MemoryPressureObservation { [call, trigger] in if call == .end { trigger.pull() } }
  }
}
