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
    let load = CheckedLoader.checking(self).load(request, into: sink)
    return try await sink.outcome.value(orCancelled: .failure(cancelled)) { load.cancel() }.get()
  }
}

/// A sink that collects a body in memory.
final class DataSink: LoadSink, @unchecked Sendable {
  // Sendable, since a loader makes one call at a time.

  let outcome = Deferred<Result<(HTTPResponse, Data), HTTPError>>()
  let hooks: LoadHooks
  var canStartOver: Bool { true }
  private let request: HTTPRequest
  private var response: HTTPResponse?
  private var body = Data()

  init(_ request: HTTPRequest, _ hooks: LoadHooks) {
    (self.request, self.hooks) = (request, hooks)
  }

  func receive(_ response: HTTPResponse) -> LoadFlow {
    (self.response, body) = (response, Data())
    // The announced length is not trusted: bytes are counted as they arrive.
    if let length = response.contentLength { body.reserveCapacity(min(length, request.maxResponseBytes, 16 << 20)) }
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
        ?? .failure(HTTPError(.protocolError, url: request.url.string, "the loader delivered no response"))
    )
    body = Data()
  }
}
