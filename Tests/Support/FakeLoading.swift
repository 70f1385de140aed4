package import Vitrine
package import VitrineImaging
package import VitrineRuntime
import VitrineTesting

/// A pipeline whose every event the test causes: what is in memory, and what happens to a load, also after it was
/// cancelled.
package final class FakeLoading: ImageLoading {
  package final class Load: RunningLoad {
    private struct State {
      var priority: Priority
      var isCancelled = false
      var isEnded = false
    }

    package let request: ImageRequest
    package let name: String
    package let isWatching: Bool
    private let observer: @Sendable (ImageEvent) -> Void
    private let state: Lock<State>

    fileprivate init(_ request: ImageRequest, isWatching: Bool, observer: @escaping @Sendable (ImageEvent) -> Void) {
      (self.request, self.isWatching, self.observer) = (request, isWatching, observer)
      name = request.label
      state = Lock(State(priority: request.priority))
    }

    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    package var isEnded: Bool { state.withLock { $0.isEnded } }

    package var priority: Priority {
      get { state.withLock { $0.priority } }
      set { state.withLock { $0.priority = newValue } }
    }

    package func cancel() {
      state.withLock { $0.isCancelled = true }
      observer(.finished(.failure(error(.cancelled, .request))))
    }

    /// Sends an event, also when the load was cancelled: on another thread it may have been under way already.
    package func send(_ event: ImageEvent) {
      if case .finished = event { state.withLock { $0.isEnded = true } }
      observer(event)
    }

    /// Ends the load with an image, or with an error for `nil`.
    package func finish(_ response: ImageResponse?) {
      send(.finished(response.map { .success($0) } ?? .failure(error(.fetchFailed, .fetch))))
    }

    private func error(_ code: LoadError.Code, _ stage: LoadError.Stage) -> LoadError {
      LoadError(code, stage: stage, source: name, "failed")
    }
  }

  private struct State {
    var memory: [String: ImageResponse] = [:]
    var others: @Sendable (String) -> ImageResponse? = { _ in nil }
    var variants: [String: CachedVariant] = [:]
    var loads: [Load] = []
    var forgotten: [String] = []
    var refreshes: [Int: @Sendable (@escaping @Sendable (ImageRequest) -> Bool) -> Void] = [:]
    var answersAtOnce: [String: ImageEvent] = [:]
  }

  private let state = Lock(State())

  package init() {}

  /// Forgets everything.
  package func reset() { state.withLock { $0 = State() } }

  package var loads: [Load] { state.withLock { $0.loads } }

  /// The oldest load of a name that has not ended, cancelled or not.
  package func oldest(_ name: String) -> Load? { loads.first { $0.name == name && !$0.isEnded } }

  /// The names of the requests whose failures were to be forgotten.
  package var forgotten: [String] { state.withLock { $0.forgotten } }

  /// The images in memory by name, whatever their size.
  package subscript(memory name: String) -> ImageResponse? {
    get { state.withLock { $0.memory[name] } }
    set { state.withLock { $0.memory[name] = newValue } }
  }

  /// The images in memory that have no entry of their own.
  package var others: @Sendable (String) -> ImageResponse? {
    get { state.withLock { $0.others } }
    set { state.withLock { $0.others = newValue } }
  }

  /// The closest images in memory by name.
  package subscript(variant name: String) -> CachedVariant? {
    get { state.withLock { $0.variants[name] } }
    set { state.withLock { $0.variants[name] = newValue } }
  }

  /// Sets the event that a load sends before the call that begins it returns.
  package func answerAtOnce(_ name: String, _ event: ImageEvent) {
    state.withLock { $0.answersAtOnce[name] = event }
  }

  package func cachedImage(for request: ImageRequest) -> ImageResponse? {
    guard request.cachePolicy != .reload else { return nil }
    return self[memory: request.label] ?? others(request.label)
  }

  package func cachedVariant(for request: ImageRequest) -> CachedVariant? { self[variant: request.label] }

  package func forgetFailure(of request: ImageRequest) { state.withLock { $0.forgotten.append(request.label) } }

  package func observeRefreshes(
    _ observer: @escaping @Sendable (@escaping @Sendable (ImageRequest) -> Bool) -> Void
  ) -> any Sendable {
    state.withLock { $0.refreshes[$0.refreshes.count] = observer }
    return 0
  }

  /// Tells the slots that the source of a name has changed.
  package func refresh(_ name: String) {
    for observer in state.withLock({ $0.refreshes.values.map { $0 } }) { observer { $0.label == name } }
  }

  package func hold(_ request: ImageRequest) -> (any Sendable)? { nil }

  package func startLoading(
    _ request: ImageRequest,
    isWatching: Bool,
    in scope: LoadScope?,
    observer: @escaping @Sendable (ImageEvent) -> Void,
  ) -> any RunningLoad {
    let load = Load(request, isWatching: isWatching, observer: observer)
    let answer = state.withLock { state in
      state.loads.append(load)
      return state.answersAtOnce[request.label]
    }
    if let answer { load.send(answer) }
    return load
  }
}

extension ImageRequest {
  /// A request with a name, which its images and errors have, too.
  package static func named(_ name: String) -> ImageRequest { ImageRequest(.data(Data(), id: name)) }

  package var label: String { String(source.description.dropFirst("data '".count).dropLast()) }
}

extension CachedVariant {
  /// A variant of the image of a name with so many pixels for each that is wanted.
  package static func of(_ name: String, version: Int = 1, pixelRatio: Double = 1) -> CachedVariant {
    CachedVariant(
      .tagged(name, version),
      processing: .same,
      isSameView: true,
      pixelRatio: pixelRatio,
      isStale: false,
    )
  }
}

extension ImageContainer {
  /// A picture of one pixel that tells a name and a version.
  package static func tagged(_ name: String, _ version: Int) -> ImageContainer {
    ImageContainer(Bitmap.tagged(name, version))
  }
}

extension Bitmap {
  /// A picture of one pixel that tells a version and a name such as `A`, `A12` or `999`.
  package static func tagged(_ name: String, _ version: Int) -> Bitmap {
    let number = Int(name.filter(\.isNumber)) ?? 0
    let letter = name.utf8.first { $0 >= 65 }.map { Int($0) - 64 } ?? 0
    let color = SIMD4(UInt8(number & 255), UInt8(letter << 2 | number >> 8), UInt8(version), 255)
    return .solid(color, width: 1, height: 1)
  }

  /// The name and the version of a ``tagged(_:_:)`` picture.
  package var tag: (name: String, version: Int) {
    let pixel = self[0, 0]
    let (letter, number) = (Int(pixel.y) >> 2, (Int(pixel.y) & 3) << 8 | Int(pixel.x))
    let name = (letter == 0 ? "" : String(UnicodeScalar(UInt8(letter + 64)))) + (number == 0 ? "" : "\(number)")
    return (name, Int(pixel.z))
  }
}

extension FrameMailbox {
  /// A mailbox that delivers when the test says so, and counts how often it asked.
  package static func manual(
    clock: any TimeSource = ManualClock(),
    budget: Duration = .seconds(1),
    asked: Counter = Counter(),
  ) -> FrameMailbox {
    FrameMailbox(budget: budget, clock: clock) { _ in asked.increase() }
  }
}
