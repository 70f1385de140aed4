package import VitrineHTTP
import VitrineRuntime
import VitrineTesting

/// A sink that records its calls, and answers as the test says.
package final class RecordingSink: LoadSink {
  package enum Event: Sendable, Equatable, CustomStringConvertible {
    case head(Int)
    case bytes(Int)
    case end(HTTPError.Code?)

    package var description: String {
      switch self {
      case .head(let status): "head \(status)"
      case .bytes(let count): "\(count) bytes"
      case .end(let code): code.map { "\($0)" } ?? "end"
      }
    }
  }

  private struct State {
    var events: [Event] = []
    var body = Data()
    var error: HTTPError?
    var beginCount = 0
    var isBusy = false
    var wasCalledTwiceAtOnce = false
  }

  private let state = Watched(State())
  private let onHead: @Sendable () -> LoadFlow
  private let onBytes: @Sendable () -> LoadFlow
  package let hooks: LoadHooks
  package let canStartOver: Bool

  /// Creates a sink that answers the head and the bytes as the closures say.
  package init(
    onHead: @escaping @Sendable () -> LoadFlow = { .proceed },
    onBytes: @escaping @Sendable () -> LoadFlow = { .proceed },
    hooks: LoadHooks = LoadHooks(),
    canStartOver: Bool = false,
  ) {
    (self.onHead, self.onBytes, self.hooks, self.canStartOver) = (onHead, onBytes, hooks, canStartOver)
  }

  /// Creates a sink that answers the head and the bytes with `flows`, in order, and then with `.proceed`.
  package convenience init(_ flows: [LoadFlow], whileReceiving: @escaping @Sendable () -> Void = {}) {
    let flows = Lock(flows)
    let answer: @Sendable () -> LoadFlow = {
      whileReceiving()
      return flows.withLock { $0.isEmpty ? .proceed : $0.removeFirst() }
    }
    self.init(onHead: answer, onBytes: answer)
  }

  package var events: [Event] { state.value.events }
  /// The events as text, such as `head 200`, `3 bytes` and `end`.
  package var heard: [String] { events.map(\.description) }
  package var body: Data { state.value.body }
  /// The error that ended the load.
  package var error: HTTPError? { state.value.error }
  /// True if a call began while another one ran.
  package var wasCalledTwiceAtOnce: Bool { state.value.wasCalledTwiceAtOnce }
  /// The number of times that the sink was told that its load has left the queue.
  package var beginCount: Int { state.value.beginCount }

  /// The number of bytes so far.
  package var byteCount: Int { events.byteCount }

  package var ends: [HTTPError.Code?] {
    events.compactMap { event in
      if case .end(let code) = event { .some(code) } else { nil }
    }
  }

  /// Suspends the task until the events satisfy `condition`; returns early if it is cancelled.
  package func wait(until condition: @escaping @Sendable ([Event]) -> Bool) async {
    await state.wait { condition($0.events) }
  }

  /// Waits for the end.
  ///
  /// - Returns: The code of the error, if there was one.
  @discardableResult
  package func end() async -> HTTPError.Code? {
    await wait { if case .end = $0.last { true } else { false } }
    return ends.first ?? nil
  }

  package func begin() { state.change { $0.beginCount += 1 } }

  package func receive(_ response: HTTPResponse) -> LoadFlow {
    note(.head(response.status), onHead) { $0.body = Data() }
  }

  package func receive(_ bytes: RawSpan) -> LoadFlow {
    // The pointer is used within the closure only.
    let data = unsafe bytes.withUnsafeBytes { unsafe Data($0) }
    return note(.bytes(data.count), onBytes) { $0.body += data }
  }

  package func finish(_ error: HTTPError?) {
    _ = note(.end(error?.code), { .proceed }) { $0.error = error }
  }

  private func note(
    _ event: Event,
    _ answer: () -> LoadFlow,
    _ change: (inout State) -> Void = { _ in },
  ) -> LoadFlow {
    state.change { state in
      if state.isBusy { state.wasCalledTwiceAtOnce = true }
      state.isBusy = true
      state.events.append(event)
      change(&state)
    }
    defer { state.change { $0.isBusy = false } }
    return answer()
  }
}

extension [RecordingSink.Event] {
  /// The number of bytes that these events brought.
  package var byteCount: Int {
    reduce(0) { sum, event in
      if case .bytes(let count) = event { sum + count } else { sum }
    }
  }
}
