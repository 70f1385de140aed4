public import VitrineRuntime

/// A source of bytes by URL.
///
/// `CurlLoader` is the implementation for Linux, and `URLSessionLoader` the one for Apple's systems. A loader of your
/// own, such as a fake for tests, answers through the sink: one head, any number of chunks, one end.
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
  /// Starts or queues a load, and returns at once.
  ///
  /// The loader keeps the sink until it has called ``LoadSink/finish(_:)``. It calls that exactly once, even if the
  /// load is cancelled or the loader is released.
  ///
  /// - Returns: A handle to cancel the load or change its priority. Releasing it does not cancel the load.
  @discardableResult
  func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle

  /// Returns a Boolean value that indicates whether the loader never connects to anything that the guard refuses.
  ///
  /// That includes addresses from name look-ups, and redirects. Defaults to `false`.
  func obeys(_ addressGuard: AddressGuard) -> Bool
}

extension DataLoader {
  /// Returns `false`, since nothing is known about the loader's connections.
  public func obeys(_ addressGuard: AddressGuard) -> Bool { false }
}

/// A receiver of a ``DataLoader``'s response.
///
/// Calls come one at a time, from a thread of the loader that also serves other loads. They must not block, and should
/// return within microseconds.
public protocol LoadSink: AnyObject, Sendable {
  /// The hooks of the load.
  ///
  /// Defaults to none. Read once, when the load is queued.
  var hooks: LoadHooks { get }

  /// A Boolean value that indicates whether the sink takes another head and a whole body after an interrupted one.
  ///
  /// Defaults to `false`: a ``RetryingLoader`` whose response was interrupted and cannot be continued then fails. With
  /// `true` it may deliver another head, and what came before that is of no use. Read once, when the load is queued. A
  /// sink that passes its calls on to another one returns that one's answer.
  var canStartOver: Bool { get }

  /// Tells the sink that the load has left the queue.
  ///
  /// Defaults to doing nothing. Called at most once, before anything else. A load that is cancelled in the queue ends
  /// without this call.
  func begin()

  /// Receives the head of the response, of any status.
  ///
  /// Followed redirects are not reported.
  ///
  /// - Returns: The way to continue with the body.
  func receive(_ response: HTTPResponse) -> LoadFlow

  /// Receives the next bytes of the body, which are valid only within the call.
  ///
  /// - Returns: The way to continue. After ``LoadFlow/pause`` these bytes count as received, and no more arrive until
  ///   ``LoadHandle/resume()``. If the server keeps sending, the data stays in the connection and not in memory.
  func receive(_ bytes: RawSpan) -> LoadFlow

  /// Tells the sink that the load has ended.
  ///
  /// The last of all calls.
  ///
  /// - Parameter error: The error, or `nil` if the body is complete.
  func finish(_ error: HTTPError?)
}

extension LoadSink {
  /// No hooks.
  public var hooks: LoadHooks { LoadHooks() }

  /// `false`.
  public var canStartOver: Bool { false }

  /// Does nothing.
  public func begin() {}

  /// Receives the next bytes of the body as data, for fakes.
  ///
  /// - Returns: The sink's answer.
  public func receive(_ data: Data) -> LoadFlow {
    receive(data.bytes)
  }
}

/// The way in which a ``LoadSink`` wants to continue.
public enum LoadFlow: Sendable, Hashable {
  /// Continue.
  case proceed
  /// Send nothing until ``LoadHandle/resume()``.
  ///
  /// Time-outs pause too, except for the total one.
  case pause
  /// End the load with ``HTTPError/Code/cancelled``.
  case stop
}

/// A queued or running load.
public protocol LoadHandle: AnyObject, Sendable {
  /// The priority.
  ///
  /// A change moves a queued load and does not affect a running one.
  var priority: Priority { get set }

  /// Ends the load with ``HTTPError/Code/cancelled``, unless it has ended.
  ///
  /// Returns at once. The sink is called from the loader's thread.
  func cancel()

  /// Resumes a load that its sink has paused, and otherwise does nothing.
  ///
  /// Returns at once.
  func resume()
}

/// A handle of a load that ends as it starts, for fakes.
public final class NoLoadHandle: LoadHandle {
  /// Always `Priority.normal`.
  public var priority: Priority {
    get { .normal }
    set { _ = newValue }
  }

  /// Creates a handle.
  ///
  /// All are the same.
  public init() {}

  /// Does nothing.
  public func cancel() {}

  /// Does nothing.
  public func resume() {}
}

extension DataLoader {
  /// Loads a whole body into memory, without blocking a thread.
  ///
  /// If the task is cancelled, this throws at once, and the connection is freed some milliseconds later.
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
      sink.attach(CheckedLoader.checking(self).load(request, into: sink))
      return await sink.outcome.value()
    } onCancel: {
      sink.outcome.resolve(.failure(cancelled))
      sink.cancel()
    }
    return try result.get()
  }
}
