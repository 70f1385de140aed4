#if HTTPTypes
public import HTTPTypes
public import VitrineHTTP

extension HTTPTypes.HTTPFields {
  /// Creates the fields of swift-http-types; a field whose name is no token is left out.
  public init(_ fields: VitrineHTTP.HTTPFields) {
    self.init()
    for field in fields {
      if let name = HTTPField.Name(field.name) { append(HTTPField(name: name, value: field.value)) }
    }
  }
}

extension VitrineHTTP.HTTPFields {
  /// Creates fields of those of swift-http-types.
  public init(_ fields: HTTPTypes.HTTPFields) {
    self.init(fields.map { (name: $0.name.rawName, value: $0.value) })
  }
}

extension HTTPTypes.HTTPRequest {
  /// Creates a request of swift-http-types, for a client in a `WholeBodyLoader`; the body is not part of it.
  public init(_ request: VitrineHTTP.HTTPRequest) {
    let url = request.url.string
    let scheme = url.prefix { $0 != ":" }
    let rest = url.dropFirst(scheme.count + 3)
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    let method = Method(rawValue: request.method.name) ?? .get
    let path = rest.dropFirst(authority.count)
    self.init(
      method: method,
      scheme: String(scheme),
      authority: String(authority),
      path: path.hasPrefix("/") ? String(path) : "/" + path,
      headerFields: HTTPTypes.HTTPFields(request.headers),
    )
  }
}

extension VitrineHTTP.HTTPResponse {
  /// Creates the response to a request from one of swift-http-types.
  public init(_ response: HTTPTypes.HTTPResponse, to request: VitrineHTTP.HTTPRequest) {
    self.init(status: response.status.code, headers: VitrineHTTP.HTTPFields(response.headerFields), url: request.url)
  }
}
#endif
