import VitrineHTTP
import VitrineRuntime

/// A change to a request after which a server that refused it may accept it; each is tried once in a load.
enum Correction: Hashable {
  /// The bucket is in another region.
  case region
  /// The bucket is at another host for now.
  case host
  /// The clock is wrong.
  case time
  /// The credentials have expired.
  case credentials
  /// The object has changed since its beginning was loaded, so all of it is wanted.
  case whole
}

extension S3Transport {
  /// An attempt that a server has answered.
  struct Attempt {
    let target: S3Target
    let method: HTTPMethod
    let region: String
    let url: HTTPURL
    let signed: Signed
    let done: Set<Correction>
    /// A Boolean value that indicates whether a range of an unchanged object was asked for.
    let isConditional: Bool
  }

  /// Returns a Boolean value that indicates whether a response may call for a correction, so that its body is read.
  static func mayCorrect(_ response: HTTPResponse) -> Bool {
    [301, 307, 400, 401, 403, 412].contains(response.status)
  }

  /// Returns the correction after which the request is to be sent again, and the host to ask, if that changes; `nil` if
  /// the response is to be taken as it is.
  func correction(
    after attempt: Attempt,
    _ response: HTTPResponse,
    _ body: Data,
  ) -> (Correction, authority: HTTPURL?)? {
    let document = S3ErrorDocument(body)
    // The answer to HEAD has no body, so that the header fields have to tell.
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

  /// Returns the host of a redirect, if it belongs to who runs the server that was asked: another port may not.
  private func authority(in response: HTTPResponse, _ attempt: Attempt) -> HTTPURL? {
    guard let location = response.headers["Location"], let next = try? HTTPURL(location),
      next.isSecure || !attempt.url.isSecure, next.port == attempt.url.port
    else { return nil }
    let homes = configuration.endpoint.map { [$0.host] } ?? ["amazonaws.com", "amazonaws.com.cn"]
    guard homes.contains(where: { next.host == $0 || next.host.hasSuffix(".\($0)") }) else { return nil }
    return next
  }
}
