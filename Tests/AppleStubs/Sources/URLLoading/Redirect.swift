import Foundation

/// The rules of redirects.
enum Redirect {
  /// The maximum number of redirects of a task.
  static let limit = 20

  /// Returns the request that a redirect asks for, or `nil` if the response is none.
  static func request(after response: HTTPURLResponse, to request: URLRequest) -> URLRequest? {
    guard [301, 302, 303, 307, 308].contains(response.statusCode), let old = request.url,
      let location = response.value(forHTTPHeaderField: "Location"), !location.isEmpty,
      let target = URL(string: location, relativeTo: old)?.absoluteURL
    else { return nil }
    var next = request
    next.url = target
    let method = request.httpMethod ?? "GET"
    let becomesGet =
      response.statusCode == 303
      ? method != "HEAD" && method != "GET" : response.statusCode < 303 && method == "POST"
    if becomesGet {
      next.httpMethod = "GET"
      next.httpBody = nil
      for name in ["Content-Length", "Content-Type", "Transfer-Encoding"] where next.has(name) {
        next.setValue(nil, forHTTPHeaderField: name)
      }
    }
    if (try? Origin(target)) != (try? Origin(old)), next.has("Authorization") {
      next.setValue(nil, forHTTPHeaderField: "Authorization")
    }
    return next
  }
}

extension URLRequest {
  fileprivate func has(_ name: String) -> Bool { value(forHTTPHeaderField: name) != nil }
}

/// The rules of challenges.
enum Challenge {
  /// Returns the space that a 401 response is about, or `nil` if it asks for nothing that is known.
  static func space(of response: HTTPURLResponse, _ origin: Origin) -> URLProtectionSpace? {
    guard response.statusCode == 401, let field = response.value(forHTTPHeaderField: "WWW-Authenticate") else {
      return nil
    }
    let method: String
    switch field.prefix(while: { $0 != " " && $0 != "," }).lowercased() {
    case "basic": method = NSURLAuthenticationMethodHTTPBasic
    case "digest": method = NSURLAuthenticationMethodHTTPDigest
    default: return nil
    }
    let realm = field.range(of: "realm=\"", options: .caseInsensitive).map {
      field[$0.upperBound...].prefix { $0 != "\"" }
    }
    return URLProtectionSpace(
      host: origin.host,
      port: origin.port,
      protocol: NSURLProtectionSpaceHTTP,
      realm: realm.map(String.init),
      authenticationMethod: method,
    )
  }

  /// Returns the header field that sends a credential.
  static func authorization(_ credential: URLCredential) -> String {
    "Basic " + Data("\(credential.user ?? ""):\(credential.password ?? "")".utf8).base64EncodedString()
  }
}
