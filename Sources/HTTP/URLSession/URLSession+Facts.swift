import VitrineRuntime

// Conversions of URLSession's types to the loader's.

extension LoadMetrics {
  /// Creates the metrics of a transfer.
  init(_ figures: URLSessionTaskTransactionMetrics, of url: HTTPURL) {
    self.init(url: url)
    func span(_ end: Date?) -> Duration? {
      guard let start = figures.fetchStartDate, let end else { return nil }
      return .seconds(max(0, end.timeIntervalSince(start)))
    }
    status = (figures.response as? HTTPURLResponse)?.statusCode
    nameLookup = span(figures.domainLookupEndDate)
    connected = span(figures.connectEndDate)
    secured = span(figures.secureConnectionEndDate)
    firstByte = span(figures.responseStartDate)
    total = span(figures.responseEndDate) ?? .zero
    bytesReceived = Int(figures.countOfResponseHeaderBytesReceived + figures.countOfResponseBodyBytesReceived)
    isConnectionReused = figures.isReusedConnection
    httpVersion = figures.networkProtocolName.map { name in
      name == "h2" ? "2" : name == "h3" ? "3" : String(name.drop { $0 != "/" }.dropFirst())
    }
    remoteAddress = figures.remoteAddress.flatMap { IPAddress($0) }
  }
}

extension HTTPError.Code {
  /// Creates the code for an error of URLSession.
  init(of problem: any Error, isHeadDelivered: Bool) {
    self =
      switch (problem as? URLError)?.code {
      case .cancelled: .cancelled
      case .timedOut: .timedOut
      case .cannotFindHost, .dnsLookupFailed: .cannotResolve
      case .cannotConnectToHost, .notConnectedToInternet: .cannotConnect
      case .networkConnectionLost: isHeadDelivered ? .truncated : .connectionLost
      case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
        .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
        .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
        .tls
      case .badURL, .unsupportedURL: .invalidURL
      default: .protocolError
      }
  }
}

extension Priority {
  /// The priority for URLSession, from 0 to 1.
  var taskPriority: Float { (Float(rawValue) + 1) / Float(Priority.allCases.count + 1) }
}
