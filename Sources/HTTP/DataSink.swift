import VitrineRuntime

/// Gathers a body in memory.
final class DataSink: LoadSink, @unchecked Sendable {
  // Sendable, since a loader never makes two calls at once, and the rest is behind `handle`'s lock.

  private enum Handle {
    case none
    case cancelledEarly
    case attached(any LoadHandle)
  }

  let outcome = Deferred<Result<(HTTPResponse, Data), HTTPError>>()
  let hooks: LoadHooks
  private let handle = Lock(Handle.none)
  private let maxResponseBytes: Int
  private let url: String
  private var response: HTTPResponse?
  private var body = Data()

  init(_ request: HTTPRequest, _ hooks: LoadHooks) {
    self.hooks = hooks
    maxResponseBytes = request.maxResponseBytes
    url = request.url.string
  }

  func attach(_ new: any LoadHandle) {
    let isCancelled = handle.withLock { handle in
      if case .cancelledEarly = handle { return true }
      handle = .attached(new)
      return false
    }
    if isCancelled { new.cancel() }
  }

  func cancel() {
    let attached: (any LoadHandle)? = handle.withLock { handle in
      if case .attached(let attached) = handle { return attached }
      handle = .cancelledEarly
      return nil
    }
    attached?.cancel()
  }

  func receive(_ response: HTTPResponse) -> LoadFlow {
    self.response = response
    // A server may announce what it likes; what comes is counted.
    if let length = response.contentLength { body.reserveCapacity(min(length, maxResponseBytes, 16 << 20)) }
    return .proceed
  }

  func receive(_ bytes: RawSpan) -> LoadFlow {
    // The pointer is used within the closure only.
    unsafe bytes.withUnsafeBytes { unsafe body.append(contentsOf: $0) }
    return .proceed
  }

  func finish(_ error: HTTPError?) {
    if let error {
      outcome.resolve(.failure(error))
    } else if let response {
      outcome.resolve(.success((response, body)))
    } else {
      outcome.resolve(.failure(HTTPError(.protocolError, url: url, "the loader delivered no response")))
    }
    body = Data()
    // Released with the lock open, since it may be the last one to refer to a handle of somebody else's.
    let attached: (any LoadHandle)? = handle.withLock { handle in
      guard case .attached(let attached) = handle else { return nil }
      handle = .none
      return attached
    }
    withExtendedLifetime(attached) {}
  }
}
