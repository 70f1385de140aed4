public import VitrineRuntime

extension DataLoader {
  /// Loads a whole body into memory, without blocking a thread.
  ///
  /// If the task is cancelled, this throws at once, and the connection is freed some milliseconds later.
  ///
  /// - Parameters:
  ///   - request: The request, whose ``HTTPRequest/maxResponseBytes`` bounds the memory.
  ///   - hooks: The hooks of the load. Defaults to none.
  /// - Returns: The response, of whatever status (see ``HTTPResponse/requireSuccess()``), and its body.
  /// - Throws: ``HTTPError`` if no complete response arrives, also on cancellation.
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

/// A sink that collects a body in memory.
final class DataSink: LoadSink, @unchecked Sendable {
  // Sendable, since a loader makes one call at a time, and all other state has a lock.

  let outcome = Deferred<Result<(HTTPResponse, Data), HTTPError>>()
  let hooks: LoadHooks
  var canStartOver: Bool { true }
  private let wrapped: Lock<WrappedHandle>
  private let maxResponseBytes: Int
  private let url: String
  private var response: HTTPResponse?
  private var body = Data()

  init(_ request: HTTPRequest, _ hooks: LoadHooks) {
    self.hooks = hooks
    wrapped = Lock(WrappedHandle(request.priority))
    maxResponseBytes = request.maxResponseBytes
    url = request.url.string
  }

  func attach(_ new: any LoadHandle) {
    wrapped.change { $0.attach(new, startedWith: $0.priority) }
  }

  func cancel() {
    wrapped.change { $0.cancel() }
  }

  func receive(_ response: HTTPResponse) -> LoadFlow {
    (self.response, body) = (response, Data())
    // The announced length is not trusted: bytes are counted as they arrive.
    if let length = response.contentLength { body.reserveCapacity(min(length, maxResponseBytes, 16 << 20)) }
    return .proceed
  }

  func receive(_ bytes: RawSpan) -> LoadFlow {
    // The pointer is used only within the closure.
    unsafe bytes.withUnsafeBytes { unsafe body.append(contentsOf: $0) }
    return .proceed
  }

  func finish(_ error: HTTPError?) {
    outcome.resolve(
      error.map { .failure($0) } ?? response.map { .success(($0, body)) }
        ?? .failure(HTTPError(.protocolError, url: url, "the loader delivered no response"))
    )
    body = Data()
    // The handle is released without the lock, since this may be the last reference to a foreign one.
    let handle = wrapped.withLock { $0.detach() }
    withExtendedLifetime(handle) {}
  }
}
