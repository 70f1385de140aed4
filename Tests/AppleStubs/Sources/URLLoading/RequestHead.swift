import Foundation

/// The bytes of a request's line and header fields.
enum RequestHead {
  static func bytes(for job: Job) -> [UInt8] {
    var fields = job.request.allHTTPHeaderFields ?? [:]
    func add(_ name: String, _ value: String?) {
      guard let value, !fields.keys.contains(where: { $0.isSameField(as: name) }) else { return }
      fields[name] = value
    }
    for (name, value) in job.session.settings.headers ?? [:] { add(name, value) }
    if let authorization = job.authorization {
      fields = fields.filter { !$0.key.isSameField(as: "Authorization") }
      fields["Authorization"] = authorization
    }
    add("Host", job.origin.authority)
    add("Accept", "*/*")
    add("Accept-Language", "en-US,en;q=0.9")
    add("User-Agent", userAgent)
    add("Connection", "keep-alive")
    add("Cookie", cookies(for: job))
    let body = job.request.httpBody
    let sendsLength = body?.isEmpty == false || ["POST", "PUT", "PATCH"].contains(job.method)
    if sendsLength { add("Content-Length", String(body?.count ?? 0)) }
    if job.cachePolicy == .reloadIgnoringLocalAndRemoteCacheData {
      add("Cache-Control", "no-cache")
      add("Pragma", "no-cache")
    }
    var text = "\(job.method) \(target(of: job.request.url)) HTTP/1.1\r\n"
    let ordered = fields.sorted { left, right in
      let (first, second) = (left.key.isSameField(as: "Host"), right.key.isSameField(as: "Host"))
      return first != second ? first : left.key < right.key
    }
    for (name, value) in ordered where !(name + value).utf8.contains(where: { $0 == 13 || $0 == 10 }) {
      text += "\(name): \(value)\r\n"
    }
    return Array((text + "\r\n").utf8)
  }

  private static let userAgent = "\(ProcessInfo.processInfo.processName)/1 CFNetwork/0 Linux"

  private static func target(of url: URL?) -> String {
    guard let url, let parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return "/" }
    let path = parts.percentEncodedPath
    return (path.isEmpty ? "/" : path) + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
  }

  private static func cookies(for job: Job) -> String? {
    let settings = job.session.settings
    guard job.request.httpShouldHandleCookies, settings.setsCookies, let url = job.request.url else { return nil }
    return HTTPCookie.requestHeaderFields(with: settings.cookies?.cookies(for: url) ?? [])["Cookie"]
  }
}
