public import Foundation

/// The figures of one exchange, as they are gathered.
struct Transaction: Sendable {
  var response: URLResponse?
  var fetchStart = Date()
  var lookupEnd: Date?
  var connectEnd: Date?
  var responseStart: Date?
  var responseEnd: Date?
  var isReused = false
  var headerBytes: Int64 = 0
  var bodyBytes: Int64 = 0
  var remoteAddress: String?
}

// Sendable, since nothing in it changes after its creation.
/// The metrics of a task.
open class URLSessionTaskMetrics: NSObject, @unchecked Sendable {
  /// The metrics of each exchange.
  public let transactionMetrics: [URLSessionTaskTransactionMetrics]

  init(_ transactions: [Transaction]) {
    transactionMetrics = transactions.map { URLSessionTaskTransactionMetrics($0) }
  }
}

// Sendable, since nothing in it changes after its creation.
/// The metrics of one exchange.
open class URLSessionTaskTransactionMetrics: NSObject, @unchecked Sendable {
  private let values: Transaction

  init(_ values: Transaction) { self.values = values }

  /// The response.
  open var response: URLResponse? { values.response }
  /// When the task was taken up.
  open var fetchStartDate: Date? { values.fetchStart }
  /// When the host's addresses were known.
  open var domainLookupEndDate: Date? { values.lookupEnd }
  /// When the connection was made.
  open var connectEndDate: Date? { values.connectEnd }
  /// When TLS was ready, which is never.
  open var secureConnectionEndDate: Date? { nil }
  /// When the first byte came.
  open var responseStartDate: Date? { values.responseStart }
  /// When the last byte came.
  open var responseEndDate: Date? { values.responseEnd }
  /// The name of the protocol.
  open var networkProtocolName: String? { values.response == nil ? nil : "http/1.1" }
  /// Whether the connection had been used before.
  open var isReusedConnection: Bool { values.isReused }
  /// The number of bytes of the head.
  open var countOfResponseHeaderBytesReceived: Int64 { values.headerBytes }
  /// The number of bytes of the body, as they came.
  open var countOfResponseBodyBytesReceived: Int64 { values.bodyBytes }
  /// The server's address.
  open var remoteAddress: String? { values.remoteAddress }
}
