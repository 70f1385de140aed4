import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// Reads whole sources: files, standard input, and addresses, of which it keeps nothing.
struct SourceReader: Sendable {
  /// There is none where no source is an address, as making one takes a millisecond.
  private let pipeline: ImagePipeline?

  /// `connections` is how many loads run at once from one host, `console` is told how they get on.
  init(_ sources: [Source], connections: Int, _ console: Console) {
    guard sources.contains(where: \.isURL) else {
      pipeline = nil
      return
    }
    pipeline = ImagePipeline {
      $0.memoryCache = nil
      $0.decoders = .ofTool
      $0.loader = console.loader(connectionsPerHost: connections)
    }
  }

  /// All bytes of a source.
  ///
  /// Blocks.
  func read(_ source: Source) throws(Failure) -> Data {
    do throws(FileError) {
      switch source {
      case .standardInput: return try FileContents.of(0)
      case .file(let path): return try FileContents.at(path)
      case .url: break
      }
    } catch {
      throw Failure(stage: .fetch, source == .standardInput ? error.ofStandardFile : error.description)
    }
    return try load(source) { (pipeline, address) throws(LoadError) in
      try await pipeline.data(for: ImageRequest(url: address))
    }
  }

  /// The image of a source.
  ///
  /// Blocks. Of an address no more is fetched than that takes.
  func image(of source: Source, _ options: DecodeOptions) throws(Failure) -> Bitmap {
    guard !source.isURL else {
      return try load(source) { (pipeline, address) throws(LoadError) in
        var request = ImageRequest(url: address, size: options.size)
        (request.quality, request.frame) = (options.quality, options.frame)
        return try await pipeline.image(for: request)
      }
    }
    let data = try read(source)
    do throws(ImageError) {
      return try DecoderRegistry.ofTool.decode(data, options).bitmap
    } catch {
      throw Failure(error)
    }
  }

  private func load<Value: Sendable>(
    _ source: Source,
    _ body: @escaping @Sendable (ImagePipeline, String) async throws(LoadError) -> Value,
  ) throws(Failure) -> Value {
    let address = try source.requireURL()
    guard let pipeline else { throw Failure(stage: .request, "not an address") }
    let result: Result<Value, Failure> = blocking {
      do throws(LoadError) {
        return .success(try await body(pipeline, address))
      } catch {
        return .failure(Failure(error))
      }
    }
    return try result.get()
  }
}

extension Source {
  /// The URL as text.
  func requireURL() throws(Failure) -> String {
    guard case .url(let url) = self else { throw Failure(stage: .request, "not an address of http or https") }
    guard let text = url.text else {
      throw Failure(stage: .request, "not valid UTF-8; a URL has such bytes written as in %E9")
    }
    return text
  }
}

extension Console {
  /// A loader whose only download is shown where somebody watches.
  func loader(connectionsPerHost count: Int) -> any DataLoader {
    let loader = PlatformDefaults.loader(connectionsPerHost: count)
    guard showsDownload else { return loader }
    return ProgressLoader(loader: loader) { [self] in receive($0, of: $1) }
  }
}
