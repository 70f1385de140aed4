public import VitrineRuntime

extension HTTPRequest {
  /// Creates a request from the URL, method, header fields, body and time-out (``HTTPTimeouts/idle``) of a
  /// `URLRequest`.
  ///
  /// A body that is a stream is not sent.
  ///
  /// - Throws: ``HTTPError`` with ``HTTPError/Code/invalidURL``.
  public init(_ request: URLRequest) throws(HTTPError) {
    // Some programs set infinity for no limit.
    let timeout = min(max(request.timeoutInterval, 0), 1e9)
    self.init(
      try HTTPURL(request.url?.absoluteString ?? ""),
      method: HTTPMethod(request.httpMethod ?? "GET"),
      headers: HTTPFields(request.allHTTPHeaderFields ?? [:]),
      body: request.httpBody,
    )
    timeouts.idle = .seconds(timeout)
  }
}
