import VitrineCaching
public import VitrineImaging
import VitrineRuntime

extension ImagePipeline {
  /// Loads an image and encodes it, once for all callers.
  ///
  /// ```swift
  /// let request = ImageRequest(url: url, size: .pixels(400, 400))
  /// let file = try await pipeline.encoded(for: request, as: .jpeg(quality: 80))
  /// respond(file.data, type: file.format.mediaType, expires: file.expires)
  /// ```
  /// The encoded image is kept in ``PipelineConfiguration/diskCache``, and found there before anything is fetched or
  /// decoded. It is as fresh as its original, and revalidated with it. A load for encoding stores this file and no
  /// finished image; with the ``StoragePolicy`` `.original` it stores neither.
  ///
  /// Equal encodings give the same bytes for the same picture, whatever the caches contain. A cached image that differs
  /// slightly from a decode of its original, since it was stored as a JPEG or resampled from a larger image, is made
  /// again.
  ///
  /// The original's bytes are served as they came if the format is the same, nothing is resized or processed, and the
  /// encoding's metadata is `.keep`; its other options do not matter. An animation is encoded with all of its frames if
  /// ``ImageRequest/animates`` is `true` and the format has a place for them.
  ///
  /// Interceptors are not called, as for data. A stale image that may be served during revalidation is revalidated in
  /// the background.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - encoding: The format, its options, and the metadata to write.
  /// - Returns: The encoded image.
  /// - Throws: ``LoadError``; with code `.unencodable` if the format has no encoder in
  ///   ``PipelineConfiguration/encoders``, or does not allow such an image; with code `.cancelled`,
  ///   at once, if the awaiting task is cancelled.
  public func encoded(for request: ImageRequest, as encoding: ImageEncoding) async throws(LoadError) -> EncodedImage {
    try await encodedTask(for: request, as: encoding).response
  }

  /// Starts to load an image and to encode it; see ``encoded(for:as:)-(ImageRequest,_)``.
  ///
  /// The task runs until it ends, even if it is not retained.
  public func encodedTask(for request: ImageRequest, as encoding: ImageEncoding) -> LoadTask<EncodedImage> {
    let prepared = context.varied(context.prepared(request))
    let task: LoadTask<EncodedImage> = context.task(for: prepared, .encoded, priority: prepared.priority)
    let named = NamedEncoding(encoding, context)
    task.begin(context.encodedLoad(prepared, named), in: context.files) { [context] task, result in
      // If there are several sources, their load revalidates the image that it found.
      if case .success(let image) = result, image.isRevalidationDue, !prepared.keys.hasAlternatives {
        context.revalidate(prepared, as: named)
      }
      task.end(result)
    }
    return task
  }

  /// Loads the image at a URL and encodes it; see ``encoded(for:as:)-(ImageRequest,_)``.
  ///
  /// - Throws: ``LoadError``; with code `.cancelled`, at once, if the awaiting task is cancelled.
  public func encoded(
    for url: some URLConvertible,
    as encoding: ImageEncoding,
  ) async throws(LoadError) -> EncodedImage {
    try await encoded(for: ImageRequest(url.imageSource), as: encoding)
  }
}

/// An encoding, with its name in keys.
///
/// The program's encoders and options may supply the name, so it is made once.
struct NamedEncoding: Sendable {
  let encoding: ImageEncoding
  let identifier: String

  /// Creates the encoding and its name.
  init(_ encoding: ImageEncoding, _ context: LoadContext) {
    (self.encoding, identifier) = (encoding, context.configuration.encoders.identifier(of: encoding))
  }
}

extension LoadContext {
  /// Returns the key under which an encoded image is stored, an extension of the image's key.
  func encodedKey(of request: ImageRequest, _ encoding: NamedEncoding) -> CacheKey {
    request.keys.image.extended { key in
      key.append("encoded")
      key.append(encoding.identifier)
    }
  }

  func encodedLoadKey(of request: ImageRequest, _ key: CacheKey) -> LoadKey {
    LoadKey(key, .encoded(storage(of: request)), of: request, caches(of: request))
  }

  /// Returns the load of an encoded image.
  func encodedLoad(_ request: ImageRequest, _ encoding: NamedEncoding) -> SharedLoad<EncodedImage> {
    let request = varied(request)
    let key = encodedKey(of: request, encoding)
    return SharedLoad(key: shared(encodedLoadKey(of: request, key))) { [self] handle throws(LoadError) in
      guard request.alternatives != nil else {
        return try await traced(.encode, request.name, handle) { trace throws(LoadError) in
          try await EncodedLoad(request, encoding.encoding, key, self, handle, trace).load()
        }
      }
      return try await traced(.sources, request.name, handle) { trace throws(LoadError) in
        try await first(of: request) { alternative throws(LoadError) in
          let image = try await handle.value(of: encodedLoad(alternative, encoding), in: files, trace)
          if image.isRevalidationDue { revalidate(alternative, as: encoding) }
          return image
        }
      }
    }
  }

  /// Revalidates an encoded image that was served stale, once for all its callers.
  func revalidate(_ request: ImageRequest, as encoding: NamedEncoding) {
    var request = request
    request.revalidates = true
    let load = encodedLoad(request, encoding)
    guard !files.isRunning(load.key) else { return }
    let task: LoadTask<EncodedImage> = task(for: request, .revalidation, priority: .low, isCaller: false)
    task.begin(load, in: files) { $0.end($1) }
  }
}
