import VitrineHTTP
import VitrineRuntime

/// Hands loads on to another loader, unless too many wait there already for their turn.
///
/// A load waits from when it is handed over until the loader says that it has begun. One that finds no place is refused at once.
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
      sink.finish(HTTPError(.overloaded, url: request.url.string, "\(limit) loads wait already"))
      return NoLoadHandle()
    }
    let wait = Wait { [waiting] in waiting.withLock { $0 -= 1 } }
    return Handle(loader.load(request, into: Sink(sink, wait)), wait)
  }

  /// The wait of one load, which ends once.
  private final class Wait: Sendable {
    private let onEnd: Lock<(@Sendable () -> Void)?>

    init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = Lock(onEnd) }

    func end() { onEnd.withLock { $0.take() }?() }
  }

  private final class Sink: LoadSink {
    private let sink: any LoadSink
    private let wait: Wait

    init(_ sink: any LoadSink, _ wait: Wait) { (self.sink, self.wait) = (sink, wait) }

    var hooks: LoadHooks { sink.hooks }

    func begin() {
      wait.end()
      sink.begin()
    }

    func receive(_ response: HTTPResponse) -> LoadFlow {
      wait.end()
      return sink.receive(response)
    }

    func receive(_ bytes: RawSpan) -> LoadFlow { sink.receive(bytes) }

    func finish(_ error: HTTPError?) {
      wait.end()
      sink.finish(error)
    }
  }

  private final class Handle: LoadHandle {
    private let handle: any LoadHandle
    private let wait: Wait

    init(_ handle: any LoadHandle, _ wait: Wait) { (self.handle, self.wait) = (handle, wait) }

    var priority: Priority {
      get { handle.priority }
      set { handle.priority = newValue }
    }

    func cancel() {
      // The loader may take its time to say so.
      wait.end()
      handle.cancel()
    }

    func resume() { handle.resume() }
  }
}
