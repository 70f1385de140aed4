import VitrineHTTP
import VitrineTestSupport

/// The loader over libcurl, with requests that no slow machine runs out of time with.
struct PatientLoader: DataLoader {
  private let loader = SystemLoader()

  @discardableResult
  func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    var request = request
    request.timeouts = .patient
    return loader.load(request, into: sink)
  }
}
