public import Foundation

/// The calls about a session, of which the stub makes none.
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {}

/// The calls about tasks of every kind.
public protocol URLSessionTaskDelegate: URLSessionDelegate {
  /// Asks for the request that follows a redirect, where `nil` makes the redirect itself the response.
  func urlSession(
    _ session: URLSession,
    task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void,
  )

  /// Tells the metrics of a task that is about to complete.
  func urlSession(
    _ session: URLSession,
    task: URLSessionTask,
    didFinishCollecting metrics: URLSessionTaskMetrics,
  )

  /// Tells that a task ended, as the last call about it.
  func urlSession(
    _ session: URLSession,
    task: URLSessionTask,
    didCompleteWithError error: (any Error)?,
  )
}

/// The calls about data tasks.
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
  /// Asks whether a task goes on after its response.
  func urlSession(
    _ session: URLSession,
    dataTask: URLSessionDataTask,
    didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void,
  )

  /// Tells a piece of the body.
  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}
