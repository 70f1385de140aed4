public import VitrineRuntime

/// A source of bytes by URL.
///
/// `CurlLoader` is the implementation for Linux, and `URLSessionLoader` the one for Apple's systems. A custom loader,
/// such as a fake for tests, responds through the sink: one head, any number of chunks, one end.
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
  /// The loader retains the sink until it has called ``LoadSink/finish(_:)``. It calls that method exactly once, even
  /// if the load is cancelled or the loader is released.
  ///
  /// - Returns: A handle to cancel the load or change its priority. Releasing it does not cancel the load.
  @discardableResult
  func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle

  /// Returns a Boolean value that indicates whether the loader never connects to a URL or an address that the guard
  /// refuses.
  ///
  /// The loader must check redirects, and the addresses from name look-ups. Defaults to `false`.
  func obeys(_ addressGuard: AddressGuard) -> Bool
}

extension DataLoader {
  /// Returns `false`, since the loader's connections are unknown.
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

  /// A Boolean value that indicates whether the sink accepts another head and a whole body after an interrupted one.
  ///
  /// Defaults to `false`: a ``RetryingLoader`` whose response was interrupted and cannot be continued then fails. With
  /// `true` it may deliver another head, which makes the earlier bytes invalid. Read once, when the load is queued. A
  /// sink that forwards its calls returns the value of the sink behind it.
  var canStartOver: Bool { get }

  /// Notifies the sink that the load has left the queue.
  ///
  /// Defaults to doing nothing. Called at most once, before any other call. A load that is cancelled in the queue ends
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

  /// Notifies the sink that the load has ended.
  ///
  /// It is the last of all calls.
  ///
  /// - Parameter error: The error, or `nil` if the body is complete.
  func finish(_ error: HTTPError?)
}

extension LoadSink {
  /// The default: no hooks.
  public var hooks: LoadHooks { LoadHooks() }

  /// The default: `false`.
  public var canStartOver: Bool { false }

  /// Does nothing.
  public func begin() {}

  /// Receives the next bytes of the body as data, for fakes.
  ///
  /// - Returns: The way to continue.
  public func receive(_ data: Data) -> LoadFlow {
    receive(data.bytes)
  }
}

/// The way in which a load continues after a call to its ``LoadSink``.
public enum LoadFlow: Sendable, Hashable {
  /// Continues the load.
  case proceed
  /// Pauses the load until ``LoadHandle/resume()``.
  ///
  /// Time-outs pause too, except for the total one.
  case pause
  /// Ends the load with ``HTTPError/Code/cancelled``.
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

/// A handle for fakes, whose loads end as they start.
public final class NoLoadHandle: LoadHandle {
  /// The priority, always `Priority.normal`.
  public var priority: Priority {
    get { .normal }
    set { _ = newValue }
  }

  /// Creates a handle.
  ///
  /// All instances are equivalent.
  public init() {}

  /// Does nothing.
  public func cancel() {}

  /// Does nothing.
  public func resume() {}
}
