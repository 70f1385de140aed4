import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// A reader of whole sources: files, standard input, and URLs, without a cache.
struct SourceReader: Sendable {
  /// The pipeline, or `nil` if no source is a URL, since creating one takes a millisecond.
  private let pipeline: ImagePipeline?

  /// Creates a reader with at most `connections` concurrent loads from one host.
  ///
  /// The console shows their progress.
  init(_ sources: [Source], connections: Int, timeLimit: Duration? = nil, _ console: Console) {
    guard sources.contains(where: \.isURL) else {
      pipeline = nil
      return
    }
    pipeline = ImagePipeline(.ephemeral) {
      $0.memoryCache = nil
      $0.decoders = .ofTool
      $0.decodeLimits.timeLimit = timeLimit
      $0.loader = console.loader(connectionsPerHost: connections, for: sources)
    }
  }

  /// Returns the encoded image of a source; of a path that names an open descriptor, what that leads to.
  ///
  /// Blocks.
  func read(_ source: Source) throws(Failure) -> SourceContent {
    do throws(FileError) {
      switch source {
      case .standardInput: return SourceContent(.data(try FileContents.of(0)))
      case .file(let path) where path.descriptor != nil: return SourceContent(.data(try FileContents.named(path)))
      case .file(let path): return SourceContent(try ImageBytes(ofFileAt: path))
      case .url: break
      }
    } catch {
      throw Failure(stage: .fetch, source == .standardInput ? error.ofStandardFile : error.description)
    }
    let data = try load(source) { (pipeline, address) throws(LoadError) in
      try await pipeline.data(for: ImageRequest(url: address))
    }
    return SourceContent(.data(data))
  }

  /// Returns the image of a source after processors, with its metadata if wanted.
  ///
  /// Blocks. Of a URL, fetches only as much as the image needs.
  func image(
    of source: Source,
    _ options: DecodeOptions,
    _ job: DecodeJob = DecodeJob(),
    _ processors: [ImageProcessor] = [],
    readsMetadata: Bool = false,
  ) throws(Failure) -> ImageContainer {
    guard !source.isURL else {
      let image = try load(source) { (pipeline, address) throws(LoadError) in
        var request = ImageRequest(url: address, size: options.size)
        (request.quality, request.frame, request.animates) = (options.quality, options.frame, options.animates)
        (request.acceptsPartial, request.dynamicRange) = (options.acceptsPartial, options.dynamicRange)
        request.processors = processors
        request.keepsEncodedData = readsMetadata
        return try await pipeline.imageTask(for: request).response.container
      }
      return readsMetadata ? try Self.adding(image.encodedData, to: image) : image
    }
    let content = try read(source)
    var image = try content.image(options, job)
    do throws(ImageError) {
      for processor in processors { image = try processor.process(image, ProcessingContext(limits: options.limits)) }
    } catch {
      throw Failure(stage: .process, error.detail)
    }
    if readsMetadata { image.metadata = try content.metadata() }
    return image
  }

  /// Returns an image with the metadata of its file.
  static func adding(_ data: Data?, to image: ImageContainer) throws(Failure) -> ImageContainer {
    guard let data else { return image }
    var image = image
    image.metadata = try SourceContent(.data(data)).metadata()
    return image
  }

  private func load<Value: Sendable>(
    _ source: Source,
    _ body: @escaping @Sendable (ImagePipeline, String) async throws(LoadError) -> Value,
  ) throws(Failure) -> Value {
    let address = try source.requireURL()
    guard let pipeline else { throw Failure(stage: .request, "not a URL") }
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
  /// Returns the URL as text.
  func requireURL() throws(Failure) -> String {
    guard case .url(let url) = self else { throw Failure(stage: .request, "not an http or https URL") }
    guard let text = url.text else {
      throw Failure(stage: .request, "not valid UTF-8; percent-encode such bytes, as in %E9")
    }
    return text
  }
}

extension Console {
  /// Returns a loader that shows the progress of the only download, if progress is shown.
  func loader(connectionsPerHost count: Int, for sources: [Source]) -> any DataLoader {
    let loader = ObjectSources.loader(for: sources, others: PlatformDefaults.loader(connectionsPerHost: count))
    guard showsDownload else { return loader }
    return ProgressLoader(loader: loader) { [self] in receive($0, of: $1) }
  }
}
