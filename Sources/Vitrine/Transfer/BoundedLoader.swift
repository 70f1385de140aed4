import Synchronization
import VitrineHTTP
import VitrineRuntime

/// A loader that passes loads on to another loader, unless too many are waiting there.
///
/// A load is waiting from the moment it is passed on until the loader calls `begin()`. A load beyond the limit fails at
/// once.
struct BoundedLoader: DataLoader {
  private let loader: any DataLoader
  private let limit: Int
  private let waiting = Lock(0)

  init(_ loader: any DataLoader, limit: Int) {
    (self.loader, self.limit) = (loader, max(0, limit))
  }

  @discardableResult
  func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    let hasRoom = waiting.withLock { waiting in
      guard waiting < limit else { return false }
      waiting += 1
      return true
    }
    guard hasRoom else {
      sink.finish(HTTPError(.overloaded, url: request.url.string, "\(limit) loads are waiting already"))
      return NoLoadHandle()
    }
    let place = Place(sink, waiting)
    return Handle(loader.load(request, into: place), place)
  }

  /// The sink of one load; it counts as waiting until the load begins or ends.
  private final class Place: LoadSink {
    private let sink: any LoadSink
    private let waiting: Lock<Int>
    private let isWaiting = Atomic(true)

    init(_ sink: any LoadSink, _ waiting: Lock<Int>) { (self.sink, self.waiting) = (sink, waiting) }

    var hooks: LoadHooks { sink.hooks }
    var canStartOver: Bool { sink.canStartOver }

    func leave() {
      if isWaiting.exchange(false, ordering: .relaxed) { waiting.withLock { $0 -= 1 } }
    }

    func begin() {
      leave()
      sink.begin()
    }

    func receive(_ response: HTTPResponse) -> LoadFlow {
      leave()
      return sink.receive(response)
    }

    func receive(_ bytes: RawSpan) -> LoadFlow { sink.receive(bytes) }

    func finish(_ error: HTTPError?) {
      leave()
      sink.finish(error)
    }
  }

  private final class Handle: LoadHandle {
    private let handle: any LoadHandle
    private let place: Place

    init(_ handle: any LoadHandle, _ place: Place) { (self.handle, self.place) = (handle, place) }

    var priority: Priority {
      get { handle.priority }
      set { handle.priority = newValue }
    }

    func cancel() {
      // The loader may be slow to report the end.
      place.leave()
      handle.cancel()
    }

    func resume() { handle.resume() }
  }
}
