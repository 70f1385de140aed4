import VitrineHTTP
import VitrineRuntime

/// Writes down what a loader says, and answers as the test wants.
final class RecordingSink: LoadSink {
  private struct State {
    var heard: [String] = []
    var body = Data()
    var isBusy = false
    var wasCalledTwiceAtOnce = false
    var flows: [LoadFlow]
  }

  private let state: Lock<State>
  private let ended = Deferred<HTTPError?>()
  private let whileReceiving: @Sendable () -> Void

  /// `flows` are the answers to head and bytes, in order, then `.proceed`; `whileReceiving` runs within each such call.
  init(_ flows: [LoadFlow] = [], whileReceiving: @escaping @Sendable () -> Void = {}) {
    state = Lock(State(flows: flows))
    self.whileReceiving = whileReceiving
  }

  var heard: [String] { state.withLock { $0.heard } }
  var body: Data { state.withLock { $0.body } }
  var wasCalledTwiceAtOnce: Bool { state.withLock { $0.wasCalledTwiceAtOnce } }

  /// Waits for the end; to be awaited once.
  func end() async -> HTTPError? { await ended.value() }

  func receive(_ response: HTTPResponse) -> LoadFlow {
    hear("head \(response.status)") { _ in }
  }

  func receive(_ bytes: RawSpan) -> LoadFlow {
    // The pointer is used within the closure only.
    let data = unsafe bytes.withUnsafeBytes { unsafe Data($0) }
    return hear("\(data.count) bytes") { $0.body += data }
  }

  func finish(_ error: HTTPError?) {
    _ = hear(error.map { "\($0.code)" } ?? "end") { _ in }
    ended.resolve(error)
  }

  private func hear(_ what: String, _ change: @Sendable (inout State) -> Void) -> LoadFlow {
    state.withLock { state in
      if state.isBusy { state.wasCalledTwiceAtOnce = true }
      state.isBusy = true
      state.heard.append(what)
      change(&state)
    }
    whileReceiving()
    return state.withLock { state in
      state.isBusy = false
      return state.flows.isEmpty ? .proceed : state.flows.removeFirst()
    }
  }
}
