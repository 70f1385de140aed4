import Foundation

/// The scheme, host and port that a connection belongs to.
struct Origin: Hashable {
  var host: String
  var port: Int

  /// Reads the origin of a URL, which must be plain HTTP.
  init(_ url: URL?) throws(Failure) {
    guard let url, let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https"
    else {
      throw Failure(.unsupportedURL)
    }
    let bare = (url.host() ?? "").lowercased()
    guard !bare.isEmpty else { throw Failure(.badURL) }
    // Never looked up (RFC 6761, 6.4).
    if bare == "invalid" || bare.hasSuffix(".invalid") { throw Failure(.cannotFindHost) }
    guard scheme == "http" else { throw Failure(.secureConnectionFailed) }
    host = bare.hasPrefix("[") ? String(bare.dropFirst().dropLast()) : bare
    port = url.port ?? 80
  }

  /// The value of the field `Host`.
  var authority: String {
    (host.contains(":") ? "[\(host)]" : host) + (port == 80 ? "" : ":\(port)")
  }
}

/// A task on its way through the engine.
struct Job {
  let task: URLSessionTask
  let session: URLSession
  let request: URLRequest
  let origin: Origin

  /// Makes a job, or completes a task that cannot be loaded and returns `nil`.
  init?(_ task: URLSessionTask, _ session: URLSession) {
    (self.task, self.session, request) = (task, session, task.request)
    do throws(Failure) {
      origin = try Origin(request.url)
      if request.httpMethod == "GET", request.httpBody?.isEmpty == false {
        throw Failure(.dataLengthExceedsMaximum)
      }
    } catch {
      session.complete(task, [], error)
      return nil
    }
  }

  var method: String { request.httpMethod ?? "GET" }

  /// Whether the request may be sent again when a connection turns out to be dead (RFC 9110, 9.2.2).
  var isIdempotent: Bool { ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"].contains(method) }

  /// The first bytes of the request.
  var head: [UInt8] {
    var fields = request.allHTTPHeaderFields ?? [:]
    func add(_ name: String, _ value: String) {
      if !fields.keys.contains(where: { $0.isSameField(as: name) }) { fields[name] = value }
    }
    add("Host", origin.authority)
    add("Accept", "*/*")
    add("Accept-Language", "en-US,en;q=0.9")
    add("Connection", "keep-alive")
    let body = request.httpBody
    let sendsLength = body?.isEmpty == false || ["POST", "PUT", "PATCH"].contains(method)
    if sendsLength { add("Content-Length", String(body?.count ?? 0)) }
    let url = request.url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) }
    let path = url?.percentEncodedPath ?? ""
    let target = (path.isEmpty ? "/" : path) + (url?.percentEncodedQuery.map { "?\($0)" } ?? "")
    var text = "\(method) \(target) HTTP/1.1\r\n"
    for (name, value) in fields.sorted(by: { $0.key < $1.key }) { text += "\(name): \(value)\r\n" }
    return Array((text + "\r\n").utf8)
  }
}

/// The reason why a task failed.
struct Failure: Error {
  let code: URLError.Code

  init(_ code: URLError.Code) { self.code = code }
}

extension String {
  /// Whether both are the same field name: ASCII without regard to case.
  func isSameField(as other: String) -> Bool { lowercased() == other.lowercased() }
}
