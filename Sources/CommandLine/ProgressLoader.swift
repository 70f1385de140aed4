import VitrineHTTP
import VitrineRuntime

/// A loader that delegates to another one and reports how much of each body has arrived.
struct ProgressLoader: DataLoader {
  let loader: any DataLoader
  /// Reports the progress.
  ///
  /// Called on the loader's thread, so it must not block. The total is `nil` if unknown.
  let tell: @Sendable (_ received: Int, _ total: Int?) -> Void

  @discardableResult
  func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    loader.load(request, into: Sink(sink, tell))
  }

  func obeys(_ addressGuard: AddressGuard) -> Bool { loader.obeys(addressGuard) }

  private final class Sink: LoadSink, @unchecked Sendable {
    // Sendable, since a loader never makes two calls at once.

    private let sink: any LoadSink
    private let tell: @Sendable (Int, Int?) -> Void
    private var received = 0
    private var total: Int?
    /// Set if the body is that of a success, and not an error page.
    private var isWanted = false

    init(_ sink: any LoadSink, _ tell: @escaping @Sendable (Int, Int?) -> Void) {
      (self.sink, self.tell) = (sink, tell)
    }

    var hooks: LoadHooks { sink.hooks }
    var canStartOver: Bool { sink.canStartOver }

    func begin() { sink.begin() }

    func receive(_ response: HTTPResponse) -> LoadFlow {
      (received, total, isWanted) = (0, response.contentLength, response.isSuccess)
      return sink.receive(response)
    }

    func receive(_ bytes: RawSpan) -> LoadFlow {
      received += bytes.byteCount
      if isWanted { tell(received, total) }
      return sink.receive(bytes)
    }

    func finish(_ error: HTTPError?) { sink.finish(error) }
  }
}
