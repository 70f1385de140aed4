import CVitrineCurl

extension CurlTransfer {
  /// Returns the error for a result of libcurl, or `nil` for a success.
  func error(for result: CURLcode, _ handle: CurlHandle) -> HTTPError? {
    switch result {
    case CURLE_OK:
      // libcurl reports no error if a connection ends within the head, after some of it arrived.
      return isHeadDelivered ? nil : chain.error(.protocolError, "the response has no complete head")
    case let code where !isHeadDelivered && (code == CURLE_OUT_OF_MEMORY || code.rawValue == 100):
      // libcurl rejects a longer line, and reports a lack of memory before 8.6.
      return chain.error(.protocolError, "a line in the head of the response is longer than 100 KB")
    default:
      if result == CURLE_COULDNT_CONNECT, let refusal = handle.refusal { return chain.error(.addressRefused, refusal) }
      let code = HTTPError.Code(of: result, isHeadDelivered: isHeadDelivered)
      let timeout = handle.isConnected ? HTTPError.Timeout.idle : .connect
      return chain.error(code, timeout: code == .timedOut ? timeout : nil, handle.explanation(of: result))
    }
  }
}

extension HTTPError.Code {
  /// Creates the code for an error of libcurl.
  init(of result: CURLcode, isHeadDelivered: Bool) {
    self =
      switch result {
      case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .cannotResolve
      case CURLE_COULDNT_CONNECT: .cannotConnect
      case CURLE_OPERATION_TIMEDOUT: .timedOut
      case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CIPHER,
        CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH:
        .tls
      case CURLE_PARTIAL_FILE: .truncated
      case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM:
        isHeadDelivered ? .truncated : .connectionLost
      case CURLE_URL_MALFORMAT: .invalidURL
      default: .protocolError
      }
  }
}
