import VitrineHTTP
import VitrineRuntime

/// Loads what the pipeline of a server may load: URLs, and files below one folder as URLs of a host that does not exist.
///
/// As responses files have a freshness and a validator, so that their thumbnails are kept on disk like all others.
struct SourceLoader: DataLoader {
  private let remote: any DataLoader
  private let local: LocalFiles?
  private let rules: SourceRules
  /// The traces that remote sources are told of; `nil` for none.
  private let traces: SourceTraces?

  /// Makes a loader of URLs, whose redirects obey the rules, and of local files.
  init(_ remote: any DataLoader, _ local: LocalFiles?, _ rules: SourceRules, _ traces: SourceTraces? = nil) {
    (self.remote, self.local, self.rules, self.traces) = (remote, local, rules, traces)
  }

  func obeys(_ addressGuard: AddressGuard) -> Bool { remote.obeys(addressGuard) }

  @discardableResult
  func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    guard request.url.host == LocalFiles.host else {
      var request = request
      if let field = traces?.field(for: request.url.string) { request.headers["traceparent"] = field }
      return remote.load(request, into: RuledSink(sink) { [rules] in Self.objection(to: $0, rules) })
    }
    guard let local else {
      sink.finish(HTTPError(.addressRefused, url: request.url.string, "there is no folder of local files"))
      return NoLoadHandle()
    }
    return local.load(request, into: sink)
  }

  private static func objection(to url: HTTPURL, _ rules: SourceRules) -> String? {
    url.host == LocalFiles.host ? "the host is that of local files" : rules.objection(to: url)
  }
}

/// A sink whose load follows only redirects that the rules of sources allow.
private final class RuledSink: LoadSink {
  private let sink: any LoadSink
  private let objection: @Sendable (HTTPURL) -> String?

  init(_ sink: any LoadSink, _ objection: @escaping @Sendable (HTTPURL) -> String?) {
    (self.sink, self.objection) = (sink, objection)
  }

  var canStartOver: Bool { sink.canStartOver }

  var hooks: LoadHooks {
    var hooks = sink.hooks
    hooks.redirectObjection = objection
    return hooks
  }

  func begin() { sink.begin() }

  func receive(_ response: HTTPResponse) -> LoadFlow { sink.receive(response) }

  func receive(_ bytes: RawSpan) -> LoadFlow { sink.receive(bytes) }

  func finish(_ error: HTTPError?) { sink.finish(error) }
}
