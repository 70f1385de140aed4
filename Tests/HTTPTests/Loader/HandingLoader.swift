import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport

/// A loader that keeps nothing of the handles that it gives, and says what becomes of them.
final class HandingLoader: DataLoader {
  private struct State {
    var sinks: [any LoadSink] = []
    var onLoad: (@Sendable () -> Void)?
    var onPriority: (@Sendable (Priority) -> Void)?
    var onRelease: (@Sendable () -> Void)?
  }

  private let state = Lock(State())
  /// What the handles were told.
  let told = Record<String>()

  /// Called from within a load, before its handle is there.
  var onLoad: (@Sendable () -> Void)? {
    get { state.withLock { $0.onLoad } }
    set { state.withLock { $0.onLoad = newValue } }
  }

  /// Called by a handle that is told its priority.
  var onPriority: (@Sendable (Priority) -> Void)? {
    get { state.withLock { $0.onPriority } }
    set { state.withLock { $0.onPriority = newValue } }
  }

  /// Called by a handle that is released.
  var onRelease: (@Sendable () -> Void)? {
    get { state.withLock { $0.onRelease } }
    set { state.withLock { $0.onRelease = newValue } }
  }

  /// The number of loads so far.
  var loadCount: Int { state.withLock { $0.sinks.count } }

  /// The sink of the last load.
  var sink: (any LoadSink)? { state.withLock { $0.sinks.last } }

  func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    state.withLock { $0.sinks.append(sink) }
    onLoad?()
    return Handle(self, request.priority)
  }

  /// Lets the last load fail.
  func fail(_ code: HTTPError.Code) {
    sink?.finish(HTTPError(code, url: "http://a.example/a", "a"))
  }

  /// Has the last load answer.
  @discardableResult
  func respond(_ status: Int) throws -> LoadFlow? {
    sink?.receive(HTTPResponse(status: status, url: try HTTPURL("http://a.example/a")))
  }

  private final class Handle: LoadHandle {
    private let loader: HandingLoader
    private let current: Lock<Priority>

    init(_ loader: HandingLoader, _ priority: Priority) {
      self.loader = loader
      current = Lock(priority)
    }

    deinit { loader.onRelease?() }

    var priority: Priority {
      get { current.withLock { $0 } }
      set {
        current.withLock { $0 = newValue }
        loader.told.add("\(newValue)")
        loader.onPriority?(newValue)
      }
    }

    func cancel() { loader.told.add("cancel") }

    func resume() { loader.told.add("resume") }
  }
}
