import Foundation

/// The scheme, host and port that connections belong to.
struct Origin: Hashable {
  var host: String
  var port: Int

  /// Finds the origin, or says why there is none.
  init(_ url: URL?) throws(Failure) {
    guard let url, let scheme = url.scheme?.lowercased() else { throw Failure(.unsupportedURL) }
    guard scheme == "http" || scheme == "https" else { throw Failure(.unsupportedURL) }
    let bare = (url.host() ?? "").lowercased()
    guard !bare.isEmpty else { throw Failure(.badURL) }
    if bare == "invalid" || bare.hasSuffix(".invalid") { throw Failure(.cannotFindHost) }
    guard scheme == "http" else { throw Failure(.secureConnectionFailed) }
    host = bare.hasPrefix("[") ? String(bare.dropFirst().dropLast()) : bare
    port = url.port ?? 80
  }

  /// The value of the `Host` field.
  var authority: String { (host.contains(":") ? "[\(host)]" : host) + (port == 80 ? "" : ":\(port)") }
}

/// A task on its way from connection to connection.
struct Job {
  let task: URLSessionTask
  let session: URLSession
  var origin: Origin
  var request: URLRequest
  var transactions: [Transaction] = []
  var redirects = 0
  /// The number of refused credentials.
  var refusals = 0
  /// The value of the `Authorization` field of a credential that answers a challenge.
  var authorization: String?
  /// The time at which the resource is no longer waited for.
  var deadline: TimeInterval

  /// Creates the job of a new task, or returns `nil` after completing a task that cannot be loaded.
  init?(_ task: URLSessionTask, _ session: URLSession) {
    guard let request = task.currentRequest else { return nil }
    self.task = task
    self.session = session
    self.request = request
    do throws(Failure) {
      origin = try Origin(request.url)
      if request.httpMethod?.uppercased() == "GET", request.httpBody?.isEmpty == false {
        throw Failure(.dataLengthExceedsMaximum)
      }
    } catch {
      session.complete(task, transactions: [], redirects: 0, failure: error)
      return nil
    }
    deadline = _URLLoading.now(port: origin.port) + session.settings.resourceTimeout
  }

  /// The time without progress after which it fails.
  var idleTimeout: TimeInterval {
    let seconds = request.explicitTimeout ?? session.settings.idleTimeout
    return seconds > 0 ? seconds : 60
  }

  /// The method in use.
  var method: String { request.httpMethod ?? "GET" }

  /// Whether doing it twice is the same as doing it once.
  var isIdempotent: Bool { ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"].contains(method) }

  /// The cache policy in use.
  var cachePolicy: NSURLRequest.CachePolicy {
    request.cachePolicy == .useProtocolCachePolicy ? session.settings.cachePolicy : request.cachePolicy
  }

  func finish(_ failure: Failure?) {
    session.complete(task, transactions: transactions, redirects: redirects, failure: failure)
  }
}
