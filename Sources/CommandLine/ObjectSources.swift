import VitrineHTTP
import VitrineRuntime
#if !VITRINE_APPLE
import VitrineS3
#endif

/// Sources that are objects in buckets: `s3://bucket/key`.
enum ObjectSources {
  /// Returns a loader of the objects among the sources, and of everything else by another loader.
  ///
  /// It reads the buckets that the sources name: whoever runs the tool has the keys, and has named them.
  static func loader(for sources: [Source], others: any DataLoader) -> any DataLoader {
    #if !VITRINE_APPLE
    let buckets = Set(sources.compactMap { $0.object?.bucket })
    guard !buckets.isEmpty else { return others }
    do throws(S3Error) {
      let client = try S3Client(S3Configuration(environment: ProcessInfo.processInfo.environment))
      return S3Loader(client, buckets: buckets, others: others)
    } catch {
      return RefusingLoader(others: others, reason: error.description)
    }
    #else
    return others
    #endif
  }

  /// A loader for objects that says why it cannot load them.
  private struct RefusingLoader: DataLoader {
    let others: any DataLoader
    let reason: String

    @discardableResult
    func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
      guard ObjectURL.isStandIn(request.url) else { return others.load(request, into: sink) }
      sink.finish(HTTPError(.preparationFailed, url: request.url.string, reason))
      return NoLoadHandle()
    }

    func obeys(_ addressGuard: AddressGuard) -> Bool { others.obeys(addressGuard) }
  }
}
