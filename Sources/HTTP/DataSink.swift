import VitrineRuntime

/// A sink that collects a body in memory.
final class DataSink: LoadSink, @unchecked Sendable {
  // Sendable, since a loader makes one call at a time, and all other state has a lock.

  private enum Handle {
    case none
    case cancelledEarly
    case attached(any LoadHandle)
  }

  let outcome = Deferred<Result<(HTTPResponse, Data), HTTPError>>()
  let hooks: LoadHooks
  var canStartOver: Bool { true }
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
    if let error {
      outcome.resolve(.failure(error))
    } else if let response {
      outcome.resolve(.success((response, body)))
    } else {
      outcome.resolve(.failure(HTTPError(.protocolError, url: url, "the loader delivered no response")))
    }
    body = Data()
    // The handle is released without the lock, since this may be the last reference to a foreign one.
    let attached: (any LoadHandle)? = handle.withLock { handle in
      guard case .attached(let attached) = handle else { return nil }
      handle = .none
      return attached
    }
    withExtendedLifetime(attached) {}
  }
}
