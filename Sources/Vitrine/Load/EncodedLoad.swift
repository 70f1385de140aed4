import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// The load of an image as a file: from disk, or encoded from the image, once for all callers.
///
/// If metadata of the original is wanted, or originals of some formats are passed on, the original's bytes are fetched
/// first, and served as they are where nothing has to change.
///
/// Equal encodings give the same bytes for the same picture, whatever the caches hold. So nothing is encoded from
/// pixels that were stored with losses or resampled from others (``ImageRequest/requiresExactPixels``).
struct EncodedLoad: Sendable {
  private let request: ImageRequest
  private let encoding: ImageEncoding
  private let key: CacheKey
  private let context: LoadContext
  private let work: SharedLoad<EncodedImage>.Handle
  private let trace: StageTrace?
  private let record: SourceRecord
  /// The number of the latest request of the source when the load began; see ``ImageLoad``.
  private let sequence: SourceRecord.Sequence

  private var cacheWriter: CacheWriter { context.cacheWriter }
  private var keepsOriginal: Bool { context.keepsOriginal(of: request) }

  init(
    _ request: ImageRequest,
    _ encoding: ImageEncoding,
    _ key: CacheKey,
    _ context: LoadContext,
    _ work: SharedLoad<EncodedImage>.Handle,
    _ trace: StageTrace?,
  ) {
    var request = request
    request.requiresExactPixels = true
    (self.request, self.encoding, self.key, self.context) = (request, encoding, key, context)
    (self.work, self.trace) = (work, trace)
    record = context.sources.record(of: request.keys.fetch)
    sequence = record.sequence
  }

  func load() async throws(LoadError) -> EncodedImage {
    guard let search = EncodedSearch(request, key, context) else { return try await make(.unknown).image }
    trace?.enter("look-up")
    if let known = known(await search.find()) { return try await serve(known) }
    var lease: WorkLease?
    var original = StoredOriginal.unknown
    if let coordinator = context.coordinator(for: request) {
      trace?.enter("lease")
      lease = await coordinator.enter(key)
      guard !work.hasEnded else { throw .cancelled }
      let found = await search.find()
      if let known = known(found) {
        // Another machine has made it.
        lease?.pass()
        return try await serve(known)
      }
      original = found.original
    }
    do throws(LoadError) {
      let (image, isShared) = try await make(original)
      if isShared { lease?.finish() } else { lease?.giveUp() }
      return image
    } catch {
      if error.isCancellation { lease?.pass() } else { lease?.giveUp() }
      throw error
    }
  }

  // MARK: On disk

  /// A file on disk, and its use.
  private struct Known {
    let image: EncodedImage
    let use: LoadPlan.Use
    let isRenewed: Bool
    let original: StoredOriginal
  }

  private func known(_ found: EncodedSearch.Found) -> Known? {
    trace?.note("found", .flag(found.plan.use != nil))
    if found.plan.isUseless { cacheWriter.drop([key]) }
    guard let use = found.plan.use, let data = found.data, let stored = found.stored, let header = stored.header,
      let validity = found.plan.validity
    else { return nil }
    let image = EncodedImage(data, header, stored.contentID, validity, from: .disk)
    return Known(image: image, use: use, isRenewed: found.plan.isRenewed, original: found.original)
  }

  private func serve(_ known: Known) async throws(LoadError) -> EncodedImage {
    switch known.use {
    case .serve(let isStale):
      if known.isRenewed { cacheWriter.renewEncoded(made(known.image)) }
      return known.image.served(isStale: isStale)
    case .serveAndRevalidate: return known.image.served(isStale: true, isRevalidationDue: true)
    case .revalidate: return try await revalidate(known)
    }
  }

  private func made(_ image: EncodedImage) -> CacheWriter.NewFile {
    CacheWriter.NewFile(image: image, key: key, request: request, sequence: sequence, record: record)
  }

  /// Revalidates a stale file: serves it if its bytes are unchanged, else makes it of the new ones.
  private func revalidate(_ known: Known) async throws(LoadError) -> EncodedImage {
    let bytes: FetchedBytes
    do throws(LoadError) {
      // All of the bytes could not confirm an image made from their beginning.
      guard !known.image.source.isOfPartialBody else { return try await make(known.original).image }
      bytes = try await fetch(known.original)
    } catch {
      // A reload gets an error rather than a stale image.
      guard request.cachePolicy != .reload, error.allowsStale(known.image.validity, now: context.clock.now) else {
        throw error
      }
      trace?.note("fallback", .text(error.detail))
      return known.image.served(isStale: true)
    }
    guard bytes.contentID == known.image.source else { return try await make(of: bytes).image }
    let image = known.image.served(bytes)
    bytes.commit?.accept(keeps: keepsOriginal)
    cacheWriter.renewEncoded(made(image))
    return image
  }

  // MARK: Making

  private typealias Made = (image: EncodedImage, isShared: Bool)

  private func fetch(_ original: StoredOriginal) async throws(LoadError) -> FetchedBytes {
    let load = context.bytesLoad(request, original: record.sequence == sequence ? original : .unknown, record: record)
    return try await work.value(of: load, in: context.bytes, trace, limit: .progress)
  }

  private func make(_ original: StoredOriginal) async throws(LoadError) -> Made {
    guard !encoding.needsOriginal else { return try await make(of: try await fetch(original)) }
    return try await shared(try await image(.unknown, request), nil)
  }

  private func make(of bytes: FetchedBytes) async throws(LoadError) -> Made {
    guard encoding.needsOriginal else { return try await shared(try await image(of: bytes, request), nil) }
    var bytes = bytes
    var changes = 0
    while true {
      let metadata: ImageMetadata?
      var request = request
      switch try await inspect(bytes) {
      case .original(let info):
        bytes.commit?.accept(keeps: keepsOriginal)
        return (EncodedImage(original: bytes, info), false)
      case .metadata(let found, let hasGainMap):
        metadata = found
        // Other files share the image with requests that ask for no range.
        if hasGainMap { request.dynamicRange = .high }
      }
      let image = try await image(of: bytes, request)
      let isSame = image.contentID == bytes.contentID
      // If other bytes have come meanwhile, theirs are read, up to two times.
      guard isSame || changes == 2 else {
        changes += 1
        bytes = try await fetch(.unknown)
        continue
      }
      return try await shared(image, isSame ? metadata : nil)
    }
  }

  /// The findings in the original's bytes.
  private enum Inspection: Sendable {
    /// The original's bytes are the file that was asked for.
    case original(ImageInfo)
    case metadata(ImageMetadata?, hasGainMap: Bool)
  }

  /// Reads the metadata in the original's bytes, before its pixels.
  private func inspect(_ bytes: FetchedBytes) async throws(LoadError) -> Inspection {
    try await perform(on: context.promptQueue) { [context, request, encoding] _ in
      let decoders = context.decoders.decoders(for: request, of: bytes.data)
      let limits = context.configuration.decodeLimits
      // The load of the image judges bytes that are no image, and may fetch them again.
      guard let info = try? decoders.info(of: bytes.data, limits: limits) else {
        return .metadata(nil, hasGainMap: false)
      }
      if encoding.passesOn(info.format, bytes.data)
        || request.isAnswered(by: info, as: encoding, context.configuration.encoders)
      {
        return .original(info)
      }
      let hasGainMap =
        context.configuration.encoders.keepsGainMap(encoding)
        && (info.dynamicRange == .high || info.gainMapHeadroom(in: bytes.data) != nil)
      return .metadata(try? decoders.metadata(of: bytes.data, limits: limits), hasGainMap: hasGainMap)
    }
  }

  /// Returns the image that is made of some bytes, from memory if it is there.
  private func image(of bytes: FetchedBytes, _ request: ImageRequest) async throws(LoadError) -> ImageResponse {
    let last = request.processors.count
    let known = context.findingsInMemory(request, step: last, at: context.clock.now).known
    guard let known, known.step == last, known.image.contentID == bytes.contentID, bytes.contentID != .none else {
      return try await image(.bytes(bytes), request)
    }
    bytes.commit?.accept(keeps: known.image.container.damage == nil && keepsOriginal)
    return ImageResponse(known.image.with(bytes.validity, status: bytes.status), from: bytes)
  }

  /// Returns the image, without previews and without storing it: the file is stored instead.
  private func image(_ start: ImageLoad.Start, _ request: ImageRequest) async throws(LoadError) -> ImageResponse {
    try await work.value(
      of: context.imageLoad(request, start),
      in: context.images,
      trace,
      limit: .progress,
    )
  }

  /// Encodes an image, which other machines find unless it is damaged.
  private func shared(_ image: ImageResponse, _ metadata: ImageMetadata?) async throws(LoadError) -> Made {
    let image = try await encode(image, metadata)
    return (image, image.damage == nil)
  }

  private func encode(_ image: ImageResponse, _ metadata: ImageMetadata?) async throws(LoadError) -> EncodedImage {
    try await perform(on: context.queue(context.processQueue, for: image.place)) { [self] item in
      var container = image.container
      if metadata != nil { container.metadata = metadata }
      let (data, format) = try context.encode(container, as: encoding, item)
      let encoded = EncodedImage(data, format, of: image)
      cacheWriter.keep(made(encoded))
      return encoded
    }
  }

  private func perform<Output: Sendable>(
    on own: WorkQueue,
    _ body: @escaping @Sendable (WorkItem) throws -> Output,
  ) async throws(LoadError) -> Output {
    let queue = { (priority, work) throws(WorkQueueError) in try own.enqueue(priority: priority, work) }
    return try await work.perform(trace, on: queue) {
      LoadError(.overloaded, .encode, request.name, "too many images are waiting to be encoded")
    } _: { [request] item throws(LoadError) in
      do {
        return try body(item)
      } catch {
        throw LoadError(encoding: error, request.name)
      }
    }
  }
}

extension EncodedImage {
  /// Returns the same image, served in another way.
  fileprivate func served(isStale: Bool, isRevalidationDue: Bool = false) -> EncodedImage {
    EncodedImage(
      data,
      Header(of: self),
      source,
      validity,
      from: .disk,
      isStale: isStale,
      isRevalidationDue: isRevalidationDue,
    )
  }

  /// Returns the same image after its bytes have been revalidated.
  fileprivate func served(_ bytes: FetchedBytes) -> EncodedImage {
    EncodedImage(
      data,
      Header(Header(of: self), bytes.validity),
      source,
      bytes.validity,
      from: bytes.origin,
      isStale: bytes.isStale,
      isRevalidationDue: bytes.isRevalidationDue,
    )
  }
}

extension ImageRequest {
  /// Returns `true` if an original is what the request would give in an encoding, so that its bytes may be served.
  ///
  /// It must be of the format, at the size, with all of its metadata and frames.
  func isAnswered(by info: ImageInfo, as encoding: ImageEncoding, _ encoders: EncoderRegistry) -> Bool {
    guard encoding.metadata == .keep, processors.isEmpty, frame == 0, animates || info.frameCount <= 1,
      !info.isVector, encoders.mayServe(info.format, as: encoding)
    else { return false }
    guard let size else { return true }
    guard let plan = try? SamplingPlan(size, width: info.width, height: info.height) else { return false }
    return plan == SamplingPlan(width: info.width, height: info.height)
  }
}

extension LoadError {
  /// Creates a ``LoadError`` from an error of encoding.
  init(encoding error: any Error, _ source: String) {
    guard let error = error as? ImageError else {
      self.init(.unencodable, .encode, source, "\(error)", cause: error)
      return
    }
    switch error.code {
    case .cancelled: self.init(.cancelled, .encode, source, "cancelled")
    case .notEncodable: self.init(.unencodable, .encode, source, error.detail, cause: error)
    // A frame of an animation is decoded when it is written.
    default: self.init(.undecodable, .decode, source, error.detail, cause: error)
    }
  }
}
