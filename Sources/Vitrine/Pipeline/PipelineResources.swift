package import VitrineCaching
package import VitrineImaging
package import VitrineRuntime

/// The queues, caches and decoders of a pipeline, for modules built on it.
package struct PipelineResources: Sendable {
  private let context: LoadContext

  init(_ context: LoadContext) { self.context = context }

  package var clock: any TimeSource { context.clock }
  /// The executor of tasks; `nil` for Swift's own executor.
  package var executor: (any TaskExecutor)? { context.stepper }
  package var niceness: CInt { LoadContext.niceness }

  // MARK: Bytes

  /// The bytes of a source.
  package struct Source: Sendable {
    package let request: ImageRequest
    package let content: ImageBytes
    package let contentID: ContentID
    package let origin: ImageResponse.Origin
    package let isStale: Bool
    let validity: Validity
    let status: Int?

    /// The whole bytes, or the beginning of a file that was only opened for its decoder.
    package var data: Data { content.beginning }
    /// The end of the bytes' freshness; `nil` for ever.
    package var expires: Date? { validity.expires }
  }

  /// Fetches the bytes of a request, which are stored if they are an image; a large file may be opened and not read.
  ///
  /// Cancelling the awaiting task cancels the fetch.
  package func bytes(
    for request: ImageRequest,
    progress: (@Sendable (LoadProgress) -> Void)? = nil,
  ) async throws(LoadError) -> Source {
    let request = context.varied(context.prepared(request))
    guard !Task.isCancelled else { throw LoadError(.cancelled, .fetch, request.name, "cancelled") }
    let task = context.fetchForDisk(request, context.bytesLoad(request, lends: true), priority: request.priority)
    // It ends with the load.
    if let progress { Task { for await case .progress(let new) in task.events { progress(new) } } }
    let bytes = try await task.response
    let isKnown = bytes.contentID != .none && !bytes.contentID.isOfPartialBody
    return Source(
      request: request,
      content: bytes.content,
      contentID: isKnown ? bytes.contentID : ContentID(bytes.content),
      origin: bytes.origin,
      isStale: bytes.isStale,
      validity: bytes.validity,
      status: bytes.status,
    )
  }

  // MARK: Decoding

  package func decoders(of source: Source) -> DecoderRegistry {
    context.decoders.decoders(for: source.request, of: source.data)
  }

  /// Returns the options of a decode: the limits, the colours of a request, and its acceptance of damage.
  private func decodeOptions(of request: ImageRequest) -> DecodeOptions {
    var options = DecodeOptions()
    options.limits = context.configuration.decodeLimits
    (options.colorSpace, options.acceptsPartial) = (request.colorSpace, request.acceptsPartial)
    return options
  }

  /// Decodes on the queue of decodes, or on the queue of passes over whole files, within the memory limit of all
  /// decodes.
  ///
  /// Cancelling the awaiting task cancels the decode without waiting for it, so that a decode that never returns blocks
  /// no caller.
  ///
  /// - Parameters:
  ///   - source: The bytes.
  ///   - isPass: A Boolean value that indicates whether the decode takes seconds. Defaults to `false`.
  ///   - priority: The priority.
  ///   - begun: A closure that receives the item, whose priority may change.
  ///   - body: The decode, with options that have its limits and its cancellation, and a job that has its memory and
  ///     the cores that all decodes share.
  /// - Returns: The result of `body`.
  /// - Throws: ``LoadError``: the error of `body`, `.overloaded`, or `.cancelled` if the awaiting task is cancelled.
  package func decode<Output: Sendable>(
    _ source: Source,
    isPass: Bool = false,
    priority: Priority,
    begun: (WorkItem) -> Void = { _ in },
    _ body: @escaping @Sendable (WorkItem, DecodeOptions, DecodeJob) throws(ImageError) -> Output,
  ) async throws(LoadError) -> Output {
    let (context, name) = (context, source.request.name)
    let outcome = Deferred<Result<Output, LoadError>>()
    let item: WorkItem
    do throws(WorkQueueError) {
      item = try (isPass ? context.passQueue : context.decodeQueue).enqueue(priority: priority) {
        [options = decodeOptions(of: source.request)] item in
        let share = MemoryShare(of: context.decodeBudget)
        var options = options
        options.isCancelled = { item.isCancelled }
        do throws(ImageError) {
          let output = try context.decodeWatch.run(item, share) {
            context.decoders.decoders(for: source.request, of: source.data).format(of: source.data)
          } onStuck: { error in
            outcome.resolve(.failure(LoadError(error, .decode, name)))
          } _: { [options] () throws(ImageError) in
            try body(item, options, DecodeJob(memoryShare: share, cores: context.decodeCores))
          }
          outcome.resolve(.success(output))
        } catch {
          outcome.resolve(.failure(LoadError(error, .decode, name)))
        }
      }
    } catch {
      throw overloaded(name)
    }
    begun(item)
    let result = await withTaskCancellationHandler {
      await outcome.value()
    } onCancel: {
      item.cancel()
      outcome.resolve(.failure(LoadError(.cancelled, .decode, name, "cancelled")))
    }
    return try result.get()
  }

  /// Runs work on the queue of processors.
  ///
  /// Cancelling the awaiting task cancels the work, and waits for its end.
  package func process<Output: Sendable>(
    _ name: String,
    priority: Priority,
    _ body: @escaping @Sendable (WorkItem, DecodeLimits) throws(ImageError) -> Output,
  ) async throws(LoadError) -> Output {
    let limits = context.configuration.decodeLimits
    do {
      return try await context.processQueue.run(priority: priority) { item in try body(item, limits) }
    } catch is WorkQueueError {
      throw overloaded(name)
    } catch is CancellationError {
      throw LoadError(.cancelled, .decode, name, "cancelled")
    } catch {
      throw LoadError(error, .decode, name)
    }
  }

  // MARK: Encoding

  /// Encodes a picture that was made of a source's bytes, on the queue of processors, within the memory limit of all
  /// decodes.
  ///
  /// - Parameters:
  ///   - image: The picture.
  ///   - encoding: The encoding.
  ///   - source: The bytes, whose freshness the file has.
  ///   - priority: The priority.
  /// - Returns: The file, which is stored nowhere.
  /// - Throws: ``LoadError``: `.unencodable`, `.overloaded`, or `.cancelled` if the awaiting task is cancelled.
  package func encode(
    _ image: ImageContainer,
    as encoding: ImageEncoding,
    of source: Source,
    priority: Priority,
  ) async throws(LoadError) -> EncodedImage {
    let (context, name) = (context, source.request.name)
    do {
      return try await context.processQueue.run(priority: priority) { item in
        let (data, format) = try context.encode(image, as: encoding, item)
        return EncodedImage(data, format, width: image.bitmap.width, height: image.bitmap.height, of: source)
      }
    } catch is WorkQueueError {
      throw LoadError(.overloaded, .encode, name, "too many images are waiting to be encoded")
    } catch is CancellationError {
      throw LoadError(.cancelled, .encode, name, "cancelled")
    } catch {
      throw LoadError(encoding: error, name)
    }
  }

  private func overloaded(_ name: String) -> LoadError {
    LoadError(.overloaded, .decode, name, "too many images are waiting to be decoded")
  }

  // MARK: Stored data

  /// Returns the data cache, if the request uses it in this way.
  package func disk(for request: ImageRequest, _ use: CacheAccess) -> (any DataCaching)? {
    context.disk(for: request, use)
  }

  /// Adds a write, for which ``PipelineCache/flush()`` waits.
  package func addWrite(_ write: @escaping @Sendable () async -> Void) { context.cacheWriter.pending.add(write) }
}

extension ContentID {
  /// Creates the identity of bytes, or of a file until its next modification.
  fileprivate init(_ content: ImageBytes) {
    switch content {
    case .data(let data): self.init(of: data)
    case .file(let file): self.init(of: Data("file \(file.identity)".utf8))
    }
  }
}

extension ImagePipeline {
  package var resources: PipelineResources { PipelineResources(context) }
}

extension EncodedImage {
  /// Creates a file that was made of a source's bytes, and is as fresh as they are.
  package init(
    _ data: Data,
    _ format: ImageFormat,
    width: Int,
    height: Int,
    of source: PipelineResources.Source,
  ) {
    (self.data, self.format, self.width, self.height) = (data, format, width, height)
    (origin, isStale, status, isOriginal) = (source.origin, source.isStale, source.status, false)
    (self.source, validity, isRevalidationDue, damage) = (source.contentID, source.validity, false, nil)
  }
}
