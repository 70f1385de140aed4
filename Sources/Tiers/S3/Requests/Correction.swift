import VitrineHTTP
import VitrineRuntime

/// A change to a refused request, after which the server may accept it.
///
/// Each is tried once in a load.
enum Correction: Hashable {
  /// A change of the region.
  case region
  /// A temporary change of the host.
  case host
  /// A correction of the clock.
  case time
  /// A replacement of expired credentials.
  case credentials
  /// A request for the whole object, which has changed since its beginning was loaded.
  case whole
}

extension S3Transport {
  /// An attempt with a response.
  struct Attempt {
    let target: S3Target
    let method: HTTPMethod
    let region: String
    let url: HTTPURL
    let signed: Signed
    let done: Set<Correction>
    /// A Boolean value that indicates whether the request was for a range of an unchanged object.
    let isConditional: Bool
  }

  /// Returns a Boolean value that indicates whether a response may require a correction, so that its body must be read.
  static func mayCorrect(_ response: HTTPResponse) -> Bool {
    [301, 307, 400, 401, 403, 412].contains(response.status)
  }

  /// Returns the correction with which to resend the request, and the new host if it changes, or `nil` if the response
  /// is final.
  func correction(
    after attempt: Attempt,
    _ response: HTTPResponse,
    _ body: Data,
  ) -> (Correction, authority: HTTPURL?)? {
    let document = S3ErrorDocument(body)
    // The response to HEAD has no body, so the header fields must suffice.
    let isMute = attempt.method == .head
    if response.status == 412, attempt.isConditional, !attempt.done.contains(.whole) { return (.whole, nil) }
    if !attempt.done.contains(.region), let region = region(in: response, document, isMute), region != attempt.region {
      setRegion(region, of: attempt.target.bucket)
      return (.region, nil)
    }
    if response.status == 307, !attempt.done.contains(.host), let next = authority(in: response, attempt) {
      return (.host, next)
    }
    if !attempt.done.contains(.time), document.code == "RequestTimeTooSkewed" || isMute && response.status == 403,
      let date = response.headers["Date"].flatMap({ HTTPDate.parse($0, now: clock.now) }),
      abs(date.timeIntervalSince(attempt.signed.date)) > 60
    {
      setTime(date)
      return (.time, nil)
    }
    let isExpired = ["ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"].contains(document.code)
    if isExpired, !attempt.done.contains(.credentials), let keys = attempt.signed.credentials, credentials.drop(keys) {
      return (.credentials, nil)
    }
    return nil
  }

  private func region(in response: HTTPResponse, _ document: S3ErrorDocument, _ isMute: Bool) -> String? {
    let isMeant =
      [301, 307].contains(response.status) || isMute
      || ["AuthorizationHeaderMalformed", "PermanentRedirect", "IncorrectEndpoint"].contains(document.code)
    guard isMeant, let region = response.headers["x-amz-bucket-region"] ?? document.region,
      S3Configuration.isRegion(region)
    else { return nil }
    return region
  }

  /// Returns the host of a redirect, if it belongs to the operator of the server.
  ///
  /// Another port may not.
  private func authority(in response: HTTPResponse, _ attempt: Attempt) -> HTTPURL? {
    guard let location = response.headers["Location"], let next = try? HTTPURL(location),
      next.isSecure || !attempt.url.isSecure, next.port == attempt.url.port
    else { return nil }
    let homes = configuration.endpoint.map { [$0.host] } ?? ["amazonaws.com", "amazonaws.com.cn"]
    guard homes.contains(where: { next.host == $0 || next.host.hasSuffix(".\($0)") }) else { return nil }
    return next
  }
}
