import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport

#if VITRINE_APPLE
/// False where URLSession loads, which has limits and time-outs of its own.
let isLibcurl = false
#else
/// True where libcurl loads.
let isLibcurl = true
#endif

extension DataLoader {
  func data(_ url: String, headers: HTTPFields = [:]) async throws(HTTPError) -> (HTTPResponse, Data) {
    try await data(for: try HTTPRequest.patient(url, headers: headers))
  }

  /// What went wrong; the test fails if nothing did.
  func failure(_ url: String, _ change: (inout HTTPRequest) -> Void = { _ in }) async throws -> HTTPError {
    var request = try HTTPRequest.patient(url)
    change(&request)
    do throws(HTTPError) {
      let (response, data) = try await data(for: request)
      Issue.record("\(data.count) bytes came, with status \(response.status)")
    } catch {
      return error
    }
    throw Unexpected()
  }
}
