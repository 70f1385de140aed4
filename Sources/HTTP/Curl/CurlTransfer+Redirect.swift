import CVitrineCurl
import VitrineRuntime

extension CurlTransfer {
  /// Returns the error for a result of libcurl, or `nil` for a success.
  func error(for result: CURLcode, _ handle: CurlHandle) -> HTTPError? {
    let detail = handle.explanation(of: result)
    switch result {
    case CURLE_OK:
      // libcurl reports no error if a connection ends within the head, after some of it arrived.
      return isHeadDelivered ? nil : error(.protocolError, "the response has no complete head")
    case let code where !isHeadDelivered && (code == CURLE_OUT_OF_MEMORY || code.rawValue == 100):
      // libcurl rejects a longer line, and reports a lack of memory before 8.6.
      return error(.protocolError, "a line in the head of the response is longer than 100 KB")
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
      return error(.cannotResolve, detail)
    case CURLE_COULDNT_CONNECT:
      if let refusal = handle.refusal { return error(.addressRefused, refusal) }
      return error(.cannotConnect, detail)
    case CURLE_OPERATION_TIMEDOUT:
      return error(.timedOut, timeout: handle.isConnected ? .idle : .connect, detail)
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CIPHER,
      CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH:
      return error(.tls, detail)
    case CURLE_PARTIAL_FILE:
      return error(.truncated, detail)
    case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM:
      return error(isHeadDelivered ? .truncated : .connectionLost, detail)
    case CURLE_URL_MALFORMAT:
      return error(.invalidURL, detail)
    default:
      return error(.protocolError, detail)
    }
  }
}
