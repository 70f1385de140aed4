// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap

/// swift-http-types' field.
public struct HTTPField: Sendable, Hashable {
  public struct Name: Sendable, Hashable {
    public let rawName: String

    public init?(_ name: String) {
      guard !name.isEmpty, name.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") }) else {
        return nil
      }
      rawName = name
    }
  }

  public var name: Name
  public var value: String

  public init(name: Name, value: String) { (self.name, self.value) = (name, value) }
}

/// swift-http-types' fields.
public struct HTTPFields: Sendable, Hashable, RandomAccessCollection {
  private var fields: [HTTPField] = []

  public init() {}
  public var startIndex: Int { fields.startIndex }
  public var endIndex: Int { fields.endIndex }
  public subscript(place: Int) -> HTTPField { fields[place] }
  public mutating func append(_ field: HTTPField) { fields.append(field) }
}

/// swift-http-types' request.
public struct HTTPRequest: Sendable, Hashable {
  public struct Method: Sendable, Hashable, RawRepresentable {
    public let rawValue: String
    public init?(rawValue: String) { self.rawValue = rawValue }
    public static var get: Method { Method(rawValue: "GET")! }
  }

  public var method: Method
  public var scheme: String?
  public var authority: String?
  public var path: String?
  public var headerFields: HTTPFields

  public init(
    method: Method,
    scheme: String?,
    authority: String?,
    path: String?,
    headerFields: HTTPFields = HTTPFields(),
  ) {
    (self.method, self.scheme, self.authority) = (method, scheme, authority)
    (self.path, self.headerFields) = (path, headerFields)
  }
}

/// swift-http-types' response.
public struct HTTPResponse: Sendable, Hashable {
  public struct Status: Sendable, Hashable {
    public var code: Int
    public init(code: Int, reasonPhrase: String = "") { self.code = code }
  }

  public var status: Status
  public var headerFields: HTTPFields

  public init(status: Status, headerFields: HTTPFields = HTTPFields()) {
    (self.status, self.headerFields) = (status, headerFields)
  }
}
