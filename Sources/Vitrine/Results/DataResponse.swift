import VitrineCaching
public import VitrineHTTP
import VitrineRuntime

/// Encoded bytes with their response.
public struct DataResponse: Sendable {
  /// The bytes.
  public let data: Data
  /// The origin of the bytes.
  public let origin: ImageResponse.Origin
  /// A Boolean value that indicates whether the bytes were stale when they were served.
  public let isStale: Bool
  /// The HTTP status of the response; `nil` for other sources.
  public let status: Int?
  /// The header fields of the response.
  ///
  /// Bytes from the network have all fields. Bytes from the disk have `Content-Type` and the fields that caching
  /// depends on.
  public let headers: HTTPFields
  /// The URL that the bytes came from, after redirects; `nil` for other sources.
  ///
  /// For bytes from the disk this is the URL of the request, since the cache keeps no redirects.
  public var url: URL? { location.flatMap { URL(string: $0) } }
  let location: String?

  /// Creates a response, for fakes.
  ///
  /// - Parameters:
  ///   - data: The bytes.
  ///   - origin: The origin of the bytes. Defaults to ``ImageResponse/Origin/local``.
  ///   - isStale: A Boolean value that indicates whether the bytes are stale. Defaults to `false`.
  ///   - status: The HTTP status. Defaults to `nil`.
  ///   - headers: The header fields. Defaults to none.
  ///   - url: The URL after redirects. Defaults to `nil`.
  package init(
    _ data: Data,
    from origin: ImageResponse.Origin = .local,
    isStale: Bool = false,
    status: Int? = nil,
    headers: HTTPFields = [:],
    url: URL? = nil,
  ) {
    (self.data, self.origin, self.isStale, self.status) = (data, origin, isStale, status)
    (self.headers, location) = (headers, url?.absoluteString)
  }

  /// Creates a response from stored bytes, which need no load.
  init(_ entry: CachedData, _ stored: StoredResponse, isStale: Bool, of request: ImageRequest) {
    (data, origin, self.isStale, status) = (entry.data, .disk, isStale, stored.status)
    (headers, location) = (stored.headers, request.keys.url?.string)
  }
}

extension DataResponse: LoadedValue {
  var byteCount: Int { data.count }
}
