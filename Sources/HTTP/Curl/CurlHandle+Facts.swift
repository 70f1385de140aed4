import CVitrineCurl
import VitrineRuntime

/// The facts that libcurl reports about a transfer.
extension CurlHandle {
  /// A Boolean value that indicates whether there is a connection.
  var isConnected: Bool { offset(CURLINFO_PRETRANSFER_TIME_T) > 0 }

  /// A Boolean value that indicates whether the host name is resolved, or needs no look-up.
  var isResolved: Bool { offset(CURLINFO_NAMELOOKUP_TIME_T) > 0 }

  var isHTTP2: Bool { number(CURLINFO_HTTP_VERSION) == Int(CURL_HTTP_VERSION_2_0) }

  /// The number of bytes of the request's body that have been sent.
  var uploadedCount: Int { Int(clamping: offset(CURLINFO_SIZE_UPLOAD_T)) }

  /// Returns the metrics of a transfer's hop.
  func metrics(of transfer: CurlTransfer, now: Duration) -> LoadMetrics {
    var metrics = LoadMetrics(url: transfer.url)
    metrics.status = transfer.hop.head?.status
    metrics.queued = max(.zero, transfer.hop.started - transfer.queued)
    metrics.total = max(.zero, now - transfer.hop.started)
    metrics.nameLookup = time(CURLINFO_NAMELOOKUP_TIME_T)
    metrics.connected = time(CURLINFO_CONNECT_TIME_T)
    metrics.secured = time(CURLINFO_APPCONNECT_TIME_T)
    // libcurl also counts the end of a connection here.
    metrics.firstByte = transfer.hop.head == nil ? nil : time(CURLINFO_STARTTRANSFER_TIME_T)
    metrics.bytesReceived = Int(clamping: offset(CURLINFO_SIZE_DOWNLOAD_T)) + number(CURLINFO_HEADER_SIZE)
    metrics.isConnectionReused = isConnected && number(CURLINFO_NUM_CONNECTS) == 0
    let versions = [CURL_HTTP_VERSION_1_0: "1.0", CURL_HTTP_VERSION_1_1: "1.1", CURL_HTTP_VERSION_2_0: "2"]
    metrics.httpVersion = versions[numericCast(number(CURLINFO_HTTP_VERSION))]
    // The string belongs to the handle, and is copied here.
    if let address = unsafe vitrine_curl_get_string(easy, CURLINFO_PRIMARY_IP) {
      metrics.remoteAddress = unsafe IPAddress(String(cString: address))
    }
    return metrics
  }

  private func time(_ info: CURLINFO) -> Duration? {
    let microseconds = offset(info)
    return microseconds > 0 ? .microseconds(microseconds) : nil
  }

  private func offset(_ info: CURLINFO) -> Int64 {
    var value: Int64 = 0
    unsafe vitrine_curl_get_offset(easy, info, &value)
    return value
  }

  private func number(_ info: CURLINFO) -> Int {
    var value = 0
    unsafe vitrine_curl_get_long(easy, info, &value)
    return value
  }
}
