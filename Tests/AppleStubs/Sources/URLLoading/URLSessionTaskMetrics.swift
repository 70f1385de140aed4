public import Foundation

// Sendable, since nothing in it changes after its creation.
/// What was measured during a task.
open class URLSessionTaskMetrics: NSObject, @unchecked Sendable {
  /// The ways in which a response was got.
  public enum ResourceFetchType: Int, Sendable {
    /// The way is not known.
    case unknown = 0
    /// The response was loaded.
    case networkLoad = 1
    /// The server pushed it.
    case serverPush = 2
    /// It came from the cache.
    case localCache = 3
  }

  /// The ways to resolve a name.
  public enum DomainResolutionProtocol: Int, Sendable {
    /// The way is not known.
    case unknown = 0
    /// DNS over UDP.
    case udp = 1
    /// DNS over TCP.
    case tcp = 2
    /// DNS over TLS.
    case tls = 3
    /// DNS over HTTPS.
    case https = 4
  }

  private let transactions: [URLSessionTaskTransactionMetrics]
  private let interval: DateInterval
  private let redirects: Int

  init(transactions: [Transaction], interval: DateInterval, redirects: Int) {
    self.transactions = transactions.map { URLSessionTaskTransactionMetrics($0) }
    self.interval = interval
    self.redirects = redirects
  }

  /// The metrics of each request with its response, in order.
  open var transactionMetrics: [URLSessionTaskTransactionMetrics] { transactions }
  /// The time from the creation of the task to its end.
  open var taskInterval: DateInterval { interval }
  /// The number of followed redirects.
  open var redirectCount: Int { redirects }
}

/// The measured values of a transaction, while it runs.
struct Transaction {
  var request: URLRequest
  var response: URLResponse?
  var fetchStart = Date()
  var lookupStart: Date?
  var lookupEnd: Date?
  var connectStart: Date?
  var connectEnd: Date?
  var requestStart: Date?
  var requestEnd: Date?
  var responseStart: Date?
  var responseEnd: Date?
  var isReused = false
  var isFromCache = false
  var isExpensive = false
  var isConstrained = false
  var requestHeaderBytes: Int64 = 0
  var requestBodyBytes: Int64 = 0
  var responseHeaderBytes: Int64 = 0
  var responseBodyBytes: Int64 = 0
  var local: Address?
  var remote: Address?

  init(_ request: URLRequest) { self.request = request }
}

// Sendable, since nothing in it changes after its creation.
/// What was measured during one request with its response.
open class URLSessionTaskTransactionMetrics: NSObject, @unchecked Sendable {
  private let values: Transaction

  init(_ values: Transaction) { self.values = values }

  /// The request.
  open var request: URLRequest { values.request }
  /// The response, if there was one.
  open var response: URLResponse? { values.response }
  /// The time when the session began.
  open var fetchStartDate: Date? { values.fetchStart }
  /// The time when the search for the host's address began, or `nil` on a reused connection.
  open var domainLookupStartDate: Date? { values.lookupStart }
  /// The time when the host's address was found, or `nil` on a reused connection.
  open var domainLookupEndDate: Date? { values.lookupEnd }
  /// The time when connecting began, or `nil` on a reused connection.
  open var connectStartDate: Date? { values.connectStart }
  /// The time when the connection was there, or `nil` on a reused connection.
  open var connectEndDate: Date? { values.connectEnd }
  /// The time when TLS began, which is always `nil` here.
  open var secureConnectionStartDate: Date? { nil }
  /// The time when TLS was there, which is always `nil` here.
  open var secureConnectionEndDate: Date? { nil }
  /// The time just before the request was sent.
  open var requestStartDate: Date? { values.requestStart }
  /// The time just after the request was sent.
  open var requestEndDate: Date? { values.requestEnd }
  /// The time of the first byte of the response.
  open var responseStartDate: Date? { values.responseStart }
  /// The time of the last byte of the response.
  open var responseEndDate: Date? { values.responseEnd }
  /// The name of the protocol, which is `http/1.1` for what was loaded.
  open var networkProtocolName: String? { values.response == nil || values.isFromCache ? nil : "http/1.1" }
  /// Whether there was a proxy, which is always `false` here.
  open var isProxyConnection: Bool { false }
  /// Whether an earlier connection was used again.
  open var isReusedConnection: Bool { values.isReused }
  /// The way in which the response was got.
  open var resourceFetchType: URLSessionTaskMetrics.ResourceFetchType {
    values.isFromCache ? .localCache : .networkLoad
  }
  /// The number of bytes of the request's head.
  open var countOfRequestHeaderBytesSent: Int64 { values.requestHeaderBytes }
  /// The number of bytes of the request's body.
  open var countOfRequestBodyBytesSent: Int64 { values.requestBodyBytes }
  /// The number of bytes of the request's body before its encoding, which is the same here.
  open var countOfRequestBodyBytesBeforeEncoding: Int64 { values.requestBodyBytes }
  /// The number of bytes of the response's head.
  open var countOfResponseHeaderBytesReceived: Int64 { values.responseHeaderBytes }
  /// The number of bytes of the response's body.
  open var countOfResponseBodyBytesReceived: Int64 { values.responseBodyBytes }
  /// The number of bytes of the response's body after its decoding, which is the same here.
  open var countOfResponseBodyBytesAfterDecoding: Int64 { values.responseBodyBytes }
  /// The local address.
  open var localAddress: String? { values.local?.name }
  /// The local port.
  open var localPort: Int? { values.local?.port }
  /// The server's address.
  open var remoteAddress: String? { values.remote?.name }
  /// The server's port.
  open var remotePort: Int? { values.remote?.port }
  /// Whether the connection was over a cellular network, which is always `false` here.
  open var isCellular: Bool { false }
  /// Whether the connection was over an expensive network.
  open var isExpensive: Bool { values.isExpensive }
  /// Whether the connection was over a network in Low Data Mode.
  open var isConstrained: Bool { values.isConstrained }
  /// Whether the connection used several paths, which is always `false` here.
  open var isMultipath: Bool { false }
  /// The way in which the host's name was resolved, which is never known here.
  open var domainResolutionProtocol: URLSessionTaskMetrics.DomainResolutionProtocol { .unknown }
}
