package import VitrineHTTP
import VitrineRuntime

extension HTTPTimeouts {
  /// Time-outs that no slow machine reaches.
  package static let patient = {
    var timeouts = HTTPTimeouts()
    (timeouts.connect, timeouts.idle, timeouts.minimumRate) = (.seconds(3600), .seconds(3600), 0)
    return timeouts
  }()
}

extension HTTPRequest {
  /// Makes a request with time-outs that no slow machine reaches.
  package static func patient(_ url: String, headers: HTTPFields = [:]) throws(HTTPError) -> HTTPRequest {
    var request = try HTTPRequest(url, headers: headers)
    request.timeouts = .patient
    return request
  }
}

/// Makes a loader that ignores the machine's proxies.
package func makeLoader(_ change: (inout SystemLoader.Options) -> Void = { _ in }) -> SystemLoader {
  var options = SystemLoader.Options()
  options.usesProxiesOfEnvironment = false
  change(&options)
  return SystemLoader(options)
}

/// A loader that sends requests with time-outs that no slow machine reaches.
package struct PatientLoader: DataLoader {
  private let loader: SystemLoader

  package init(_ loader: SystemLoader = makeLoader()) { self.loader = loader }

  @discardableResult
  package func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    var request = request
    request.timeouts = .patient
    return loader.load(request, into: sink)
  }

  package func obeys(_ addressGuard: AddressGuard) -> Bool { loader.obeys(addressGuard) }
}
