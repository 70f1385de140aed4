import VitrineHTTP
import VitrineRuntime

/// The load of the bytes of sources that need no network: files, data, closures.
struct LocalLoad: Sendable {
  static let refusal = "file URLs are not allowed here"

  private let source: ImageSource
  private let context: LoadContext
  private let work: SharedLoad<FetchedBytes>.Handle
  /// A Boolean value that indicates whether a large file is only opened, if another process decodes it.
  private let lends: Bool

  init(_ source: ImageSource, _ context: LoadContext, _ work: SharedLoad<FetchedBytes>.Handle, lends: Bool) {
    (self.source, self.context, self.work, self.lends) = (source, context, work, lends)
  }

  func load() async throws(LoadError) -> FetchedBytes {
    let name = source.description
    return try await context.traced(.fetch, name, work) { trace throws(LoadError) in
      switch source.kind {
      case .data(let data, _, _): return FetchedBytes(local: .data(data))
      case .inline(let url, _):
        return try await read(name, trace) { () throws(LoadError) in
          do throws(HTTPError) {
            return FetchedBytes(local: .data(try DataURL(url).data))
          } catch {
            throw LoadError(.invalidURL, .request, name, error.detail, cause: error)
          }
        }
      case .file(let path, let isURL):
        try check(path, isURL: isURL)
        return try await read(path, trace) { () throws(LoadError) in
          if let file = opened(path) { return file }
          return try Self.contents(of: path)
        }
      case .thumbnail(let path, let isURL, let load):
        try check(path, isURL: isURL)
        return try await read(path, trace) { () throws(LoadError) in
          do {
            return FetchedBytes(local: .data(try load()), isThumbnail: true)
          } catch {
            throw LoadError(.unreadable, .fetch, path, "\(error)", cause: error)
          }
        }
      case .resource(_, let folder):
        return try await read(name, trace) { () throws(LoadError) in
          let places = folder.map { [$0] } ?? PlatformDefaults.resourceFolders
          guard let path = ResourceFiles.path(of: name, in: places) else {
            let detail = "no such file in \(places.isEmpty ? "any folder" : places.joined(separator: ", "))"
            throw LoadError(.unreadable, .fetch, name, detail)
          }
          return try Self.contents(of: path)
        }
      case .closure(_, let load):
        return try await call(load, name)
      case .url, .sized, .first: throw LoadError(.invalidURL, .request, name, "not a local source")
      }
    }
  }

  private func check(_ path: String, isURL: Bool) throws(LoadError) {
    guard !isURL || context.configuration.allowsFileURLs else {
      throw LoadError(.forbidden, .request, path, Self.refusal)
    }
  }

  /// Opens a large file for the process that decodes it; returns `nil` if the file must be read here.
  private func opened(_ path: String) -> FetchedBytes? {
    guard lends, let file = LargeFile(ByteString(path)), context.decoders.lends(file) else { return nil }
    return FetchedBytes(local: .file(file))
  }

  private static func contents(of path: String) throws(LoadError) -> FetchedBytes {
    do throws(FileError) {
      return FetchedBytes(local: .data(try FileContents.at(path)))
    } catch {
      throw LoadError(.unreadable, .fetch, path, error.description, cause: error)
    }
  }

  private func read(
    _ name: String,
    _ trace: StageTrace?,
    _ body: @escaping @Sendable () throws(LoadError) -> FetchedBytes,
  ) async throws(LoadError) -> FetchedBytes {
    let queue = { [context] (priority, read) throws(WorkQueueError) in
      try context.fileReads.enqueue(priority: priority, read)
    }
    return try await work.perform(trace, phase: "read", on: queue) {
      LoadError(.overloaded, .fetch, name, "too many files are waiting to be read")
    } _: { _ throws(LoadError) in
      try body()
    }
  }

  /// Calls the program's closure on Swift's own executor; a closure that ignores its cancellation is not waited for.
  private func call(
    _ load: @escaping @Sendable () async throws -> Data,
    _ name: String,
  ) async throws(LoadError) -> FetchedBytes {
    let outcome = Deferred<Result<FetchedBytes, LoadError>>()
    let task = Task(executorPreference: context.stepper) {
      do {
        outcome.resolve(.success(FetchedBytes(local: .data(try await load()))))
      } catch let error as CancellationError {
        outcome.resolve(.failure(LoadError(.cancelled, .fetch, name, "cancelled", cause: error)))
      } catch {
        outcome.resolve(.failure(LoadError(.unreadable, .fetch, name, "\(error)", cause: error)))
      }
    }
    return try await outcome.value(orCancelled: .failure(.cancelled)) { task.cancel() }.get()
  }
}
