@testable import Vitrine
import VitrineRuntime
import VitrineTesting

/// A pipeline whose every answer the test gives, also after the load was cancelled.
final class FakeLoading: ImageLoading {
  final class Load: RunningLoad {
    let request: ImageRequest
    private let observer: @Sendable (ImageEvent) -> Void
    private let state: Lock<(priority: Priority, isCancelled: Bool, isEnded: Bool)>

    fileprivate init(_ request: ImageRequest, _ observer: @escaping @Sendable (ImageEvent) -> Void) {
      (self.request, self.observer) = (request, observer)
      state = Lock((request.priority, false, false))
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }
    var isEnded: Bool { state.withLock { $0.isEnded } }

    var priority: Priority {
      get { state.withLock { $0.priority } }
      set { state.withLock { $0.priority = newValue } }
    }

    func cancel() { state.withLock { $0.isCancelled = true } }

    /// Ends the load, cancelled or not: on another thread its answer may have been under way already.
    func end(_ response: ImageResponse?) {
      state.withLock { $0.isEnded = true }
      let error = LoadError(.fetchFailed, .fetch, request.name, "failed")
      observer(.finished(response.map { .success($0) } ?? .failure(error)))
    }
  }

  private struct State {
    var memory: [String: ImageResponse] = [:]
    var variants: [String: CachedVariant] = [:]
    var families: [Character: (version: Int, isStale: Bool)] = [:]
    var loads: [Load] = []
    var forgotten: [String] = []
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

  /// Forgets everything.
  func reset() { state.withLock { $0 = State() } }

  /// Puts images into memory for all names that begin with a letter.
  func remember(_ family: Character, version: Int, isStale: Bool = false) {
    state.withLock { $0.families[family] = (version, isStale) }
  }

  /// The oldest load of a name that has not ended, cancelled or not.
  func oldest(_ name: String) -> Load? { loads.first { $0.request.name == name && !$0.isEnded } }

  func cachedImage(for request: ImageRequest) -> ImageResponse? {
    let name = request.name
    return state.withLock { state in
      if let image = state.memory[name] { return image }
      guard let family = name.first, let known = state.families[family] else { return nil }
      return .of(name, version: known.version, origin: .memory, isStale: known.isStale)
    }
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
    let load = Load(request, observer)
    state.withLock { $0.loads.append(load) }
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
  /// A request whose source says in all it brings where that belongs.
  static func named(_ name: String) -> ImageRequest { ImageRequest(.data(Data(), id: name)) }

  var name: String { String(source.description.dropFirst("data '".count).dropLast()) }
}

extension ImageResponse {
  /// An image whose pixels say whose it is, and which version.
  static func of(
    _ name: String,
    version: Int = 1,
    origin: Origin = .network,
    isStale: Bool = false,
    image: Bitmap? = nil,
  ) -> ImageResponse {
    let image = image ?? .tagged(name, version)
    let info = ImageInfo(format: .png, storedWidth: image.width, storedHeight: image.height)
    return of(ImageContainer(image, info: info), version: version, origin: origin, isStale: isStale)
  }

  static func of(
    _ container: ImageContainer,
    version: Int = 1,
    origin: Origin = .network,
    isStale: Bool = false,
  ) -> ImageResponse {
    let loaded = LoadedImage(
      container,
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
  /// A picture of one pixel that tells names such as `A`, `A12` and `999` apart, and versions.
  static func tagged(_ name: String, _ version: Int) -> Bitmap {
    let number = Int(name.filter(\.isNumber)) ?? 0
    let letter = name.utf8.first { $0 >= 65 }.map { Int($0) - 64 } ?? 0
    let color = SIMD4(UInt8(number & 255), UInt8(letter << 2 | number >> 8), UInt8(version), 255)
    return .solid(color, width: 1, height: 1)
  }

  /// Whether it was made by ``tagged(_:_:)`` for this name.
  func isTagged(_ name: String) -> Bool {
    let (mine, other) = (self[0, 0], Bitmap.tagged(name, 0)[0, 0])
    return mine.x == other.x && mine.y == other.y
  }
}

extension FrameMailbox {
  /// A mailbox that delivers when the test says so.
  static func manual() -> FrameMailbox { FrameMailbox(budget: .seconds(1), clock: ManualClock()) { _ in } }
}
