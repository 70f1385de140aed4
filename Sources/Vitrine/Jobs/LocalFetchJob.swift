import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// Bytes of sources that need no network: files, bytes at hand, closures.
final class LocalFetchJob: Job<FetchedBytes, LoadError>, @unchecked Sendable {
  // @unchecked: like its superclass, guarded by the engine's lock.
  private let source: ImageSource
  private let context: JobContext
  private var item: WorkItem?
  private var task: Task<Void, Never>?

  init(source: ImageSource, context: JobContext, onEnd: @escaping (inout Turn) -> Void) {
    (self.source, self.context) = (source, context)
    super.init(onEnd: onEnd)
  }

  override func start(_ turn: inout Turn) {
    trace = context.recorder?.stage("fetch", source.description)
    switch source.kind {
    case .data(let data, _): finish(.success(Self.bytes(data)), &turn)
    case .inline(let address, _): read(address: address, &turn)
    case .file(let path, let isAddress):
      guard !isAddress || context.allowsFileAddresses else {
        let detail = "addresses of files are not allowed here"
        return finish(.failure(LoadError(.forbidden, .request, path, detail)), &turn)
      }
      read(path, &turn)
    case .resource(let name, let folder):
      let places = folder.map { [$0] } ?? PlatformDefaults.resourceFolders
      guard let path = ResourceFiles.path(of: name, in: places) else {
        let detail = "no such file in \(places.isEmpty ? "any folder" : places.joined(separator: ", "))"
        return finish(.failure(LoadError(.unreadable, .fetch, name, detail)), &turn)
      }
      read(path, &turn)
    case .closure(_, let load):
      let name = source.description
      task = Task(executorPreference: context.stepper) { [weak self, context] in
        let result: Result<FetchedBytes, LoadError>
        do {
          result = .success(Self.bytes(try await load()))
        } catch is CancellationError {
          result = .failure(LoadError(.cancelled, .fetch, name, "cancelled"))
        } catch {
          result = .failure(LoadError(.unreadable, .fetch, name, "\(error)", cause: error))
        }
        guard let self else { return }
        context.engine.turn { self.finish(result, &$0) }
      }
    case .url, .sized, .first:
      finish(.failure(LoadError(.invalidURL, .request, source.description, "no source of bytes at hand")), &turn)
    }
  }

  override func stop(_ turn: inout Turn) {
    item?.cancel()
    task?.cancel()
    (item, task) = (nil, nil)
  }

  override func priorityChanged(_ turn: inout Turn) { item?.priority = priority }

  private func read(_ path: String, _ turn: inout Turn) {
    work(path, &turn) {
      do throws(FileError) {
        return .success(Self.bytes(try FileContents.at(path)))
      } catch {
        return .failure(LoadError(.unreadable, .fetch, path, error.description, cause: error))
      }
    }
  }

  /// Reads a `data:` URL, which is work where it is long.
  private func read(address: String, _ turn: inout Turn) {
    let name = source.description
    work(name, &turn) {
      do throws(HTTPError) {
        return .success(Self.bytes(try DataURL(address).data))
      } catch {
        return .failure(LoadError(.invalidURL, .request, name, error.detail, cause: error))
      }
    }
  }

  private func work(
    _ name: String,
    _ turn: inout Turn,
    _ body: @escaping @Sendable () -> Result<FetchedBytes, LoadError>,
  ) {
    let trace = trace
    trace?.enter("queue")
    do throws(WorkQueueError) {
      item = try context.fileQueue.enqueue(priority: priority) { [weak self, context] _ in
        trace?.enter("read")
        let result = body()
        guard let self else { return }
        context.engine.turn { self.finish(result, &$0) }
      }
    } catch {
      finish(.failure(LoadError(.overloaded, .fetch, name, "too much is waiting to be read")), &turn)
    }
  }

  private static func bytes(_ data: Data) -> FetchedBytes {
    FetchedBytes(
      data: data,
      contentID: .none,
      validity: .unlimited,
      origin: .local,
      isStale: false,
      status: nil,
      verdict: nil,
    )
  }
}
