public import VitrineRuntime

/// Gets bytes from a URL.
///
/// `CurlLoader` is the one for Linux. To write one of your own, a fake for tests among them, answer
/// through the sink: one head, any number of chunks, one end.
/// ```swift
/// struct FixedLoader: DataLoader {
///   func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
///     let handle = NoLoadHandle()
///     guard sink.receive(HTTPResponse(status: 200, url: request.url)) == .proceed else {
///       sink.finish(HTTPError(.cancelled, url: request.url.string, "refused"))
///       return handle
///     }
///     _ = sink.receive(Data("hello".utf8))
///     sink.finish(nil)
///     return handle
///   }
/// }
/// ```
public protocol DataLoader: Sendable {
  /// Starts a load, or queues it, and returns at once.
  ///
  /// The loader keeps the sink until it has called ``LoadSink/finish(_:)``, exactly once, whatever happens:
  /// also when the load is cancelled, and when the loader itself is released.
  ///
  /// - Returns: The handle to cancel the load or to change its priority. Dropping it cancels nothing.
  @discardableResult
  func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle

  /// Returns whether nothing that the guard refuses is ever connected to: names are looked up and redirects followed under
  /// it; false unless implemented.
  func obeys(_ addressGuard: AddressGuard) -> Bool
}

extension DataLoader {
  /// Returns false, since nothing is known of what the loader connects to.
  public func obeys(_ addressGuard: AddressGuard) -> Bool { false }
}

/// Takes what a ``DataLoader`` gets.
///
/// Calls come one after the other, never two at once, from a thread of the loader's that serves other loads
/// too: they must not block, and what takes more than some microseconds belongs elsewhere.
public protocol LoadSink: AnyObject, Sendable {
  /// What takes part in the load beside the sink; nothing unless implemented.
  ///
  /// Asked for once, when the load is queued.
  var hooks: LoadHooks { get }

  /// Learns that the load has left the queue; does nothing unless implemented.
  ///
  /// Called at most once, before anything else. A load that is cancelled in the queue ends without it.
  func begin()

  /// Takes the head of the response, of whatever status; redirects that are followed are not shown.
  ///
  /// - Returns: Whether to go on with the body.
  func receive(_ response: HTTPResponse) -> LoadFlow

  /// Takes the next bytes of the body; they are valid within the call only.
  ///
  /// - Returns: Whether to go on. With ``LoadFlow/pause`` these bytes count as taken, and no more come
  ///   until ``LoadHandle/resume()``; a server that goes on sending fills the connection, not memory.
  func receive(_ bytes: RawSpan) -> LoadFlow

  /// Learns that there is no more to come; the last call of all.
  ///
  /// - Parameter error: Nil when the body is whole.
  func finish(_ error: HTTPError?)
}

extension LoadSink {
  /// None.
  public var hooks: LoadHooks { LoadHooks() }

  /// Does nothing.
  public func begin() {}

  /// Takes the next bytes of the body from data; for fakes.
  ///
  /// - Returns: What the sink says to the bytes.
  public func receive(_ data: Data) -> LoadFlow {
    receive(data.bytes)
  }
}

/// What a ``LoadSink`` wants to happen next.
public enum LoadFlow: Sendable, Hashable {
  /// To receive more.
  case proceed
  /// To receive nothing until ``LoadHandle/resume()``; time-outs wait too, save the total one.
  case pause
  /// To receive no more at all: the load ends with ``HTTPError/Code/cancelled``.
  case stop
}

/// A load that is queued or under way.
public protocol LoadHandle: AnyObject, Sendable {
  /// How urgent the load is; what is queued moves, what runs goes on.
  var priority: Priority { get set }

  /// Ends the load with ``HTTPError/Code/cancelled``, unless it has ended.
  ///
  /// Returns at once; the sink is told from the loader's thread.
  func cancel()

  /// Goes on with a load that its sink has paused; does nothing otherwise. Returns at once.
  func resume()
}

/// The handle of a load that is over when it starts; for fakes.
public final class NoLoadHandle: LoadHandle {
  /// Always `Priority.normal`.
  public var priority: Priority {
    get { .normal }
    set { _ = newValue }
  }

  /// Creates one; all are the same.
  public init() {}

  /// Does nothing.
  public func cancel() {}

  /// Does nothing.
  public func resume() {}
}

extension DataLoader {
  /// Loads a whole body into memory, without blocking a thread.
  ///
  /// When the task is cancelled this throws at once, and the connection is freed some milliseconds later.
  ///
  /// - Parameters:
  ///   - request: What to load; its ``HTTPRequest/maxResponseBytes`` bounds the memory.
  ///   - hooks: What takes part in it; nothing by default.
  /// - Returns: The response, of whatever status (see ``HTTPResponse/requireSuccess()``), and its body.
  /// - Throws: ``HTTPError`` if no complete response came, also on cancellation.
  public func data(
    for request: HTTPRequest,
    hooks: LoadHooks = LoadHooks(),
  ) async throws(HTTPError) -> (HTTPResponse, Data) {
    let cancelled = HTTPError(.cancelled, url: request.url.string, "was cancelled")
    guard !Task.isCancelled else { throw cancelled }
    let sink = DataSink(request, hooks)
    let result = await withTaskCancellationHandler {
      sink.attach(load(request, into: sink))
      return await sink.outcome.value()
    } onCancel: {
      sink.outcome.resolve(.failure(cancelled))
      sink.cancel()
    }
    return try result.get()
  }
}
