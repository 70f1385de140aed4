import VitrineHTTP
import VitrineRuntime

/// The bytes of sources that need no network: files, data, closures.
final class LocalFetchJob: Job<FetchedBytes>, @unchecked Sendable {
  // @unchecked: like its superclass, guarded by the jobs' lock.
  private let keys: RequestKeys
  private let context: JobContext

  private var source: ImageSource { keys.source }
  override var requestKeys: RequestKeys? { keys }

  init(_ keys: RequestKeys, _ context: JobContext) { (self.keys, self.context) = (keys, context) }

  override func start(_ turn: inout Turn) {
    let name = source.description
    trace = context.recorder?.stage(.fetch, name, at: turn.uptime)
    switch source.kind {
    case .data(let data, _): finish(.success(FetchedBytes(local: data)), &turn)
    case .inline(let url, _):
      read(name, &turn) {
        do throws(HTTPError) {
          return .success(FetchedBytes(local: try DataURL(url).data))
        } catch {
          return .failure(LoadError(.invalidURL, .request, name, error.detail, cause: error))
        }
      }
    case .file(let path, let isURL):
      guard !isURL || context.configuration.allowsFileURLs else {
        return finish(.failure(LoadError(.forbidden, .request, path, Self.refusal)), &turn)
      }
      read(path, &turn) { Self.contents(of: path, path) }
    case .thumbnail(let path, let isURL, let load):
      guard !isURL || context.configuration.allowsFileURLs else {
        return finish(.failure(LoadError(.forbidden, .request, path, Self.refusal)), &turn)
      }
      read(path, &turn) {
        do {
          return .success(FetchedBytes(local: try load(), isThumbnail: true))
        } catch {
          return .failure(LoadError(.unreadable, .fetch, path, "\(error)", cause: error))
        }
      }
    case .resource(_, let folder):
      read(name, &turn) {
        let places = folder.map { [$0] } ?? PlatformDefaults.resourceFolders
        guard let path = ResourceFiles.path(of: name, in: places) else {
          let detail = "no such file in \(places.isEmpty ? "any folder" : places.joined(separator: ", "))"
          return .failure(LoadError(.unreadable, .fetch, name, detail))
        }
        return Self.contents(of: path, path)
      }
    case .closure(_, let load):
      task = Task(executorPreference: context.stepper) { [self, context] in
        let result: Result<FetchedBytes, LoadError>
        do {
          result = .success(FetchedBytes(local: try await load()))
        } catch let error as CancellationError {
          result = .failure(LoadError(.cancelled, .fetch, name, "cancelled", cause: error))
        } catch {
          result = .failure(LoadError(.unreadable, .fetch, name, "\(error)", cause: error))
        }
        context.turn { finish(result, &$0) }
      }
    case .url, .sized, .first:
      finish(.failure(LoadError(.invalidURL, .request, name, "not a local source")), &turn)
    }
  }

  static let refusal = "file URLs are not allowed here"

  private static func contents(of path: String, _ name: String) -> Result<FetchedBytes, LoadError> {
    do throws(FileError) {
      return .success(FetchedBytes(local: try FileContents.at(path)))
    } catch {
      return .failure(LoadError(.unreadable, .fetch, name, error.description, cause: error))
    }
  }

  private func read(
    _ name: String,
    _ turn: inout Turn,
    _ body: @escaping @Sendable () -> Result<FetchedBytes, LoadError>,
  ) {
    let trace = trace
    trace?.enter("queue", at: turn.uptime)
    do throws(WorkQueueError) {
      item = try context.fileReads.enqueue(priority: priority) { [self, context] in
        trace?.enter("read")
        let result = body()
        context.turn { finish(result, &$0) }
      }
    } catch {
      finish(.failure(LoadError(.overloaded, .fetch, name, "too many files are waiting to be read")), &turn)
    }
  }
}
