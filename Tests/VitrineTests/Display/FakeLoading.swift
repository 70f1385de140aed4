@testable import Vitrine
import VitrineCaching
import VitrineImaging
import VitrineRuntime
import VitrineTesting

/// A pipeline whose every event the test causes: what is in memory, and what happens to a load, also after it was
/// cancelled.
final class FakeLoading: ImageLoading {
  final class Load: RunningLoad {
    private struct State {
      var priority: Priority
      var isCancelled = false
      var isEnded = false
    }

    let request: ImageRequest
    let name: String
    let isWatching: Bool
    private let observer: @Sendable (ImageEvent) -> Void
    private let state: Lock<State>

    fileprivate init(_ request: ImageRequest, isWatching: Bool, observer: @escaping @Sendable (ImageEvent) -> Void) {
      (self.request, self.isWatching, self.observer) = (request, isWatching, observer)
      name = request.name
      state = Lock(State(priority: request.priority))
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// The width of the box it was asked for in.
    var width: Double? { request.size?.width }

    var isEnded: Bool { state.withLock { $0.isEnded } }

    var priority: Priority {
      get { state.withLock { $0.priority } }
      set { state.withLock { $0.priority = newValue } }
    }

    func cancel() {
      state.withLock { $0.isCancelled = true }
      observer(.finished(.failure(LoadError(.cancelled, .request, name, "cancelled"))))
    }

    /// Brings an image, or fails for `nil`.
    func end(_ version: Int?, source: (width: Int, height: Int) = (1, 1)) {
      guard let version else {
        return send(.finished(.failure(LoadError(.fetchFailed, .fetch, name, "failed"))))
      }
      send(.finished(.success(.of(name, version: version, source: source))))
    }

    /// Tells of an event, also when the load was cancelled: on another thread it may have been under way already.
    func send(_ event: ImageEvent) {
      if case .finished = event { state.withLock { $0.isEnded = true } }
      observer(event)
    }
  }

  private struct State {
    var memory: [String: ImageResponse] = [:]
    var variants: [String: CachedVariant] = [:]
    var loads: [Load] = []
    var forgotten: [String] = []
    var answersAtOnce: [String: ImageEvent] = [:]
  }

  private let state = Lock(State())

  var loads: [Load] { state.withLock { $0.loads } }

  /// The names of the requests whose failures were to be forgotten.
  var forgotten: [String] { state.withLock { $0.forgotten } }

  func forgetFailure(of request: ImageRequest) { state.withLock { $0.forgotten.append(request.name) } }

  /// What is in memory for requests of a name, of whatever size.
  subscript(memory name: String) -> ImageResponse? {
    get { state.withLock { $0.memory[name] } }
    set { state.withLock { $0.memory[name] = newValue } }
  }

  /// What a load brings before the call that begins it returns.
  func answerAtOnce(_ name: String, _ event: ImageEvent) {
    state.withLock { $0.answersAtOnce[name] = event }
  }

  func cachedImage(for request: ImageRequest) -> ImageResponse? {
    request.cachePolicy == .reload ? nil : self[memory: request.name]
  }

  /// What is most like the image of a name, in memory.
  subscript(variant name: String) -> CachedVariant? {
    get { state.withLock { $0.variants[name] } }
    set { state.withLock { $0.variants[name] = newValue } }
  }

  func cachedVariant(for request: ImageRequest) -> CachedVariant? { self[variant: request.name] }

  func hold(_ request: ImageRequest) -> (any Sendable)? { nil }

  func startLoading(
    _ request: ImageRequest,
    isWatching: Bool,
    in scope: LoadScope?,
    observer: @escaping @Sendable (ImageEvent) -> Void,
  ) -> any RunningLoad {
    let load = Load(request, isWatching: isWatching, observer: observer)
    let answer = state.withLock { state in
      state.loads.append(load)
      return state.answersAtOnce[request.name]
    }
    if let answer { load.send(answer) }
    return load
  }
}

extension CachedVariant {
  /// An image of a name that has so many pixels for each that is asked for.
  static func of(_ name: String, version: Int = 1, pixelRatio: Double = 1) -> CachedVariant {
    CachedVariant(
      .tagged(name, version),
      processing: .same,
      isSameView: true,
      pixelRatio: pixelRatio,
      isStale: false,
    )
  }
}

extension ImageRequest {
  /// A request that says in all it brings where that belongs.
  static func named(_ name: String) -> ImageRequest { ImageRequest(.data(Data(), id: name)) }

  var name: String { String(source.description.dropFirst("data '".count).dropLast()) }
}

extension ImageResponse {
  /// An image that says whose it is and which version.
  static func of(
    _ name: String,
    version: Int = 1,
    origin: Origin = .network,
    isStale: Bool = false,
    source: (width: Int, height: Int) = (1, 1),
  ) -> ImageResponse {
    let info = ImageInfo(format: .png, storedWidth: source.width, storedHeight: source.height)
    let loaded = LoadedImage(
      ImageContainer(.tagged(name, version), info: info),
      ContentID(low: UInt64(version), high: 1),
      .unlimited,
      status: nil,
      byteCount: 0,
      nil,
    )
    return ImageResponse(loaded, from: origin, isStale: isStale)
  }
}

extension ImageContainer {
  /// A picture of one pixel that says whose it is.
  static func tagged(_ name: String, _ version: Int) -> ImageContainer { ImageContainer(Bitmap.tagged(name, version)) }
}

extension Bitmap {
  /// A picture of one pixel that says whose it is.
  static func tagged(_ name: String, _ version: Int) -> Bitmap {
    unsafe Bitmap(width: 1, height: 1, alpha: .opaque) { pixels in
      // Four bytes, as one pixel has.
      unsafe pixels.copyBytes(from: [name.utf8.first ?? 0, UInt8(version), 0, 255])
    }
  }

  var tag: (name: String, version: Int) {
    (String(decoding: [self[0, 0].x], as: UTF8.self), Int(self[0, 0].y))
  }
}

/// What is seen on a display, to compare with what should be.
enum Seen: Equatable, CustomStringConvertible {
  case nothing
  case placeholder(String)
  case preview(String)
  case image(String, Int, fades: Bool)
  case failure(String)

  var description: String {
    switch self {
    case .nothing: "nothing"
    case .placeholder(let name): "placeholder of \(name)"
    case .preview(let name): "preview of \(name)"
    case .image(let name, let version, let fades): "image \(name)\(version)\(fades ? ", fading" : "")"
    case .failure(let name): "failure of \(name)"
    }
  }
}

/// A view that only remembers.
final class Screen: ImageDisplay {
  private(set) var seen = Seen.nothing
  private(set) var log: [Seen] = []
  private(set) var lastFailure: Placeholder?
  var onShow: (() -> Void)?

  func show(_ content: ImageSlot.Content) {
    switch content {
    case .empty: seen = .nothing
    case .placeholder(.symbol(let name)): seen = .placeholder(name)
    case .placeholder: seen = .placeholder("?")
    case .preview(let preview): seen = .preview(preview.bitmap.tag.name)
    case .image(let response, let fades):
      seen = .image(response.image.tag.name, response.image.tag.version, fades: fades)
    case .failure(let error, let placeholder):
      seen = .failure(error.source)
      lastFailure = placeholder
    }
    log.append(seen)
    onShow?()
  }
}

extension FrameMailbox {
  /// A mailbox that delivers when the test says so, and counts how often it asked.
  static func manual(
    clock: any TimeSource = ManualClock(),
    budget: Duration = .seconds(1),
    asked: Counter = Counter(),
  ) -> FrameMailbox {
    FrameMailbox(budget: budget, clock: clock) { _ in asked.increase() }
  }
}
