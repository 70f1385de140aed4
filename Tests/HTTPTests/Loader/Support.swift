import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineTesting

#if VITRINE_APPLE
/// False where URLSession loads, which has limits and time-outs of its own.
let isLibcurl = false
#else
/// True where libcurl loads.
let isLibcurl = true
#endif

/// A loader that no proxy of the machine's stands between.
func makeLoader(_ change: (inout SystemLoader.Options) -> Void = { _ in }) -> SystemLoader {
  var options = SystemLoader.Options()
  options.usesProxiesOfEnvironment = false
  change(&options)
  return SystemLoader(options)
}

extension HTTPRequest {
  /// A request that no slow machine runs out of time with.
  static func patient(_ url: String, headers: HTTPFields = [:]) throws(HTTPError) -> HTTPRequest {
    var request = try HTTPRequest(url, headers: headers)
    request.timeouts = HTTPTimeouts(connect: .seconds(3600), idle: .seconds(3600), minimumRate: 0)
    return request
  }
}

extension DataLoader {
  func data(_ url: String, headers: HTTPFields = [:]) async throws(HTTPError) -> (HTTPResponse, Data) {
    try await data(for: try HTTPRequest.patient(url, headers: headers))
  }

  /// What went wrong; the test fails if nothing did.
  func failure(_ url: String, _ change: (inout HTTPRequest) -> Void = { _ in }) async throws -> HTTPError {
    var request = try HTTPRequest.patient(url)
    change(&request)
    do throws(HTTPError) {
      let (response, data) = try await data(for: request)
      Issue.record("\(data.count) bytes came, with status \(response.status)")
    } catch {
      return error
    }
    throw Unexpected()
  }
}

struct Unexpected: Error {}

/// A sink that keeps what happens, and does what the test says.
final class RecordingSink: LoadSink {
  enum Event: Equatable {
    case head(Int)
    case bytes(Int)
    case end(HTTPError.Code?)
  }

  private struct State {
    var events: [Event] = []
    var body = Data()
    var waiters: [(condition: @Sendable ([Event]) -> Bool, arrived: Deferred<Void>)] = []
  }

  private let state = Lock(State())
  private let begins = Lock(0)
  private let onHead: @Sendable () -> LoadFlow
  private let onBytes: @Sendable () -> LoadFlow
  let hooks: LoadHooks

  init(
    onHead: @escaping @Sendable () -> LoadFlow = { .proceed },
    onBytes: @escaping @Sendable () -> LoadFlow = { .proceed },
    hooks: LoadHooks = LoadHooks(),
  ) {
    self.hooks = hooks
    self.onHead = onHead
    self.onBytes = onBytes
  }

  var events: [Event] { state.withLock { $0.events } }

  var body: Data { state.withLock { $0.body } }

  var byteCount: Int {
    events.reduce(0) { sum, event in
      if case .bytes(let count) = event { sum + count } else { sum }
    }
  }

  var ends: [HTTPError.Code?] {
    events.compactMap { event in
      if case .end(let code) = event { .some(code) } else { nil }
    }
  }

  func wait(until condition: @escaping @Sendable ([Event]) -> Bool) async {
    let arrived = Deferred<Void>()
    let isReached = state.withLock { state in
      if condition(state.events) { return true }
      state.waiters.append((condition, arrived))
      return false
    }
    if !isReached { await arrived.value() }
  }

  /// Waits for the end, and says what it was.
  func end() async -> HTTPError.Code? {
    await wait { if case .end = $0.last { true } else { false } }
    return ends[0]
  }

  /// How often it was told that its load has left the queue.
  var beginCount: Int { begins.withLock { $0 } }

  func begin() {
    begins.withLock { $0 += 1 }
  }

  func receive(_ response: HTTPResponse) -> LoadFlow {
    add(.head(response.status))
    return onHead()
  }

  func receive(_ bytes: RawSpan) -> LoadFlow {
    // The pointer is used within the closure only.
    unsafe bytes.withUnsafeBytes { bytes in
      state.withLock { unsafe $0.body.append(contentsOf: bytes) }
    }
    add(.bytes(bytes.byteCount))
    return onBytes()
  }

  func finish(_ error: HTTPError?) {
    add(.end(error?.code))
  }

  private func add(_ event: Event) {
    let satisfied = state.withLock { state in
      state.events.append(event)
      let events = state.events
      let satisfied = state.waiters.filter { $0.condition(events) }.map(\.arrived)
      state.waiters.removeAll { $0.condition(events) }
      return satisfied
    }
    for waiter in satisfied { waiter.resolve(()) }
  }
}

/// Bytes that are not all the same.
func bytes(_ count: Int) -> Data {
  Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
}
