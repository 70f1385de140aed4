import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// The only writer of a pipeline's caches: stores responses and the images made from them.
///
/// A result has no effect if a later request has brought other content.
final class CacheWriter: Sendable {
  private let memory: MemoryCache<CachedImage>?
  private let disk: (any DataCaching)?
  private let partials: Partials?
  private let variations: VaryVariants
  private let sources: SourceRecords
  let pending: PendingWrites
  private let delegate: (any PipelineDelegate)?
  private let decoders: DecoderChoice
  private let defaultStorage: StoragePolicy
  private let clock: any TimeSource
  /// The queue on which images are encoded for storage.
  private let queue: WorkQueue

  init(
    _ configuration: PipelineConfiguration,
    _ pending: PendingWrites,
    _ partials: Partials?,
    _ variations: VaryVariants,
    _ sources: SourceRecords,
    _ decoders: DecoderChoice,
    _ queue: WorkQueue,
  ) {
    (memory, disk) = (configuration.memoryCache, configuration.diskCache)
    (delegate, defaultStorage, clock) = (configuration.delegate, configuration.storagePolicy, configuration.clock)
    (self.partials, self.variations, self.sources) = (partials, variations, sources)
    (self.decoders, self.queue, self.pending) = (decoders, queue, pending)
  }

  private func storage(of request: ImageRequest) -> StoragePolicy { request.storagePolicy ?? defaultStorage }

  /// Returns the data cache, if the request may write to it.
  private func writableDisk(_ request: ImageRequest) -> (any DataCaching)? {
    request.cacheAccess.contains(.diskWrites) ? disk : nil
  }

  // MARK: Responses

  /// A whole body from a server.
  struct NewBody {
    let data: Data
    let contentID: ContentID
    let stored: StoredResponse
    let validity: Validity
    /// The time of the request.
    let time: Date
    let response: HTTPResponse
    /// The part of the body that is on disk already.
    let recording: BodyRecording?
    let sequence: SourceRecord.Sequence
    let record: SourceRecord

    /// The entry for a data cache.
    var entry: CachedData {
      var entry = CachedData(
        data: data,
        metadata: stored.encoded,
        contentID: contentID,
        expires: validity.expires,
        // So a tier that has seen a removal since refuses the entry.
        stored: time,
      )
      entry.isPrivate = validity.isPrivate
      return entry
    }
  }

  /// The verdict of a caller on a body.
  enum Verdict: Sendable, Equatable {
    /// The bytes are valid; `isKept` if this caller wants them stored.
    case good(isKept: Bool)
    /// The bytes are unusable.
    case bad
    /// The bytes are to be stored.
    case keep
  }

  /// Acts on a verdict about a body.
  func settle(_ body: NewBody, of request: ImageRequest, _ word: Verdict) {
    let keys = request.keys
    let isOutdated = body.record.isOutdated(body.sequence, body.contentID)
    let allowsKeeping = body.validity.isKept && request.cacheAccess.contains(.diskWrites)
    switch word {
    case .good where isOutdated: break
    case .good(let isKept):
      acceptResponse(body.sequence, body.contentID, body.validity, of: keys.fetch, body.record)
      // The previous version must not outlive this one, which is not stored.
      if !isKept || !allowsKeeping {
        dropOutdated(keys.fetch, and: keys.images, by: body.validity.isKept ? body.contentID : nil)
      }
    case .keep where !isOutdated && allowsKeeping: keepOriginal(body, of: request)
    case .bad, .keep:
      guard let recording = body.recording else { return }
      pending.add { await recording.drop() }
    }
  }

  /// Acts on a 304: renews the stored entry, or removes it if the server no longer allows storing it.
  func renew(
    _ request: ImageRequest,
    _ contentID: ContentID,
    _ renewed: StoredResponse,
    _ validity: Validity,
    _ sequence: SourceRecord.Sequence,
    _ record: SourceRecord,
  ) {
    let key = request.keys.fetch
    guard acceptResponse(sequence, contentID, validity, of: key, record) else { return }
    guard validity.isKept else { return forget(key, and: request.keys.images) }
    guard let disk = writableDisk(request) else { return }
    pending.add(for: key) {
      guard !record.isOutdated(sequence, contentID) else { return }
      await disk.renew(
        key,
        contentID: contentID,
        expires: validity.expires,
        metadata: renewed.encoded,
        isPrivate: validity.isPrivate,
      )
    }
  }

  /// Updates everything in memory that was made from a source after its latest response.
  ///
  /// Images of the same content are renewed if they may be stored, and images of other content are removed. Images that
  /// the program has set stay.
  @discardableResult
  private func acceptResponse(
    _ sequence: SourceRecord.Sequence,
    _ contentID: ContentID,
    _ validity: Validity,
    of source: CacheKey,
    _ record: SourceRecord,
  ) -> Bool {
    guard record.acceptResponse(sequence, contentID) else { return false }
    memory?.updateVariants(of: source) { variant in
      switch variant.value.contentID {
      case .none: variant.value
      case contentID where validity.isKept:
        CachedImage(variant.value.loaded.with(validity, status: variant.value.loaded.status))
      default: nil
      }
    }
    return true
  }

  /// Stores bytes that the program provides, as the latest response of their source.
  func put(
    _ entry: CachedData,
    _ validity: Validity,
    for request: ImageRequest,
    _ sequence: SourceRecord.Sequence,
    _ record: SourceRecord,
  ) async {
    guard let disk, acceptResponse(sequence, entry.contentID, validity, of: request.keys.fetch, record) else { return }
    await disk.store(entry, for: request.keys.fetch)
  }

  /// Drops a partial download that cannot be used.
  func dropPartial(of key: CacheKey) {
    guard let partials else { return }
    pending.add { await partials.remove(key) }
  }

  private func keepOriginal(_ body: NewBody, of request: ImageRequest) {
    guard let disk else { return }
    let (key, entry, record, sequence) = (request.keys.fetch, body.entry, body.record, body.sequence)
    guard let delegate else {
      return pending.add(for: key) {
        guard !record.isOutdated(sequence, entry.contentID) else { return await body.recording?.drop() ?? () }
        if await body.recording?.seal(entry) != true { await disk.store(entry, for: key) }
      }
    }
    pending.add(for: key) { [decoders, queue] in
      do {
        let kept = try await queue.run(priority: .veryLow) { _ -> CachedData? in
          guard let data = delegate.willStore(entry.data, for: request, response: body.response) else { return nil }
          var kept = entry
          kept.data = data
          return data == entry.data || decoders.isSamePicture(data, as: entry.data, request) ? kept : nil
        }
        guard !record.isOutdated(sequence, entry.contentID) else { return }
        // An entry of an earlier response would be served in place of this one, which must not be stored.
        if let kept { await disk.store(kept, for: key) } else { await disk.remove(key) }
      } catch {
        // The queue is full: the bytes are not stored this time.
      }
    }
  }

  /// Drops an entry whose content is not `contentID`, and the images made from it, which would be served for ever.
  ///
  /// With `nil`, any entry is dropped.
  private func dropOutdated(_ key: CacheKey, and images: CacheKey? = nil, by contentID: ContentID?) {
    guard let disk else { return }
    pending.add(for: key) {
      guard let old = await disk.contentID(for: key), old != contentID else { return }
      // Without the original, these images would not be recognised as outdated.
      if let images { await disk.removeAll(extending: images) }
      await disk.remove(key)
    }
  }

  /// Drops an entry, and the images made from it.
  private func forget(_ key: CacheKey, and images: CacheKey) {
    guard let disk else { return }
    pending.add(for: key) {
      // After this call, a shared tier refuses older entries, so that a late write does not bring the entry back.
      await disk.removeAll(extending: images)
      await disk.remove(key)
    }
  }

  /// Drops the bytes of a URL in all variants, and all images made from them.
  func invalidate(_ request: ImageRequest) {
    let plain = request.keys.plain
    for key in variations.keys(under: plain) { drop(source: key) }
    guard let disk else { return }
    pending.add(for: plain) { await disk.removeAll(extending: plain.variants) }
  }

  /// Drops the variants that have been evicted in favour of others.
  func dropEvicted() {
    for key in variations.takeEvicted() { drop(source: key) }
  }

  private func drop(source key: CacheKey) {
    memory?.updateVariants(of: key) { _ in nil }
    dropPartial(of: key)
    forget(key, and: RequestKeys.images(of: key))
  }

  // MARK: Images

  /// A new image and its origin.
  struct NewImage {
    let image: LoadedImage
    var request: ImageRequest
    /// The number of processors it has been through.
    let step: Int
    let sequence: SourceRecord.Sequence
    var record: SourceRecord
    /// A Boolean value that indicates whether a subscriber needs the image itself, and not only an encoded form.
    var hasImageSubscriber: Bool

    var key: CacheKey { request.keys.key(step: step) }
    var isFinal: Bool { step == request.processors.count }
  }

  /// Stores a new image in memory and, if the request's storage policy selects it, on disk as a finished image.
  func keep(_ made: NewImage, from origin: ImageResponse.Origin) {
    keepInMemory(made)
    guard made.isFinal, made.hasImageSubscriber else { return }
    keepFinished(placed(made), from: origin)
  }

  /// Returns the image with the keys and the record of its variant.
  private func placed(_ made: NewImage) -> NewImage {
    let request = variations.place(of: made.image.validity.variation, made.request)
    guard request.keys.fetch != made.request.keys.fetch else { return made }
    var made = made
    (made.request, made.record) = (request, sources.record(of: request.keys.fetch))
    return made
  }

  /// Stores an image in memory, unless newer bytes of its source have arrived.
  func keepInMemory(_ made: NewImage) {
    let (made, image) = (placed(made), made.image)
    guard image.validity.isKept, made.request.cacheAccess.contains(.memoryWrites), !made.request.keepsEncodedData,
      let memory, !isOutdated(made)
    else { return }
    memory.store(CachedImage(image), for: made.key, cost: image.cost, group: made.request.keys.fetch)
    // The check is repeated after the write: newer bytes that arrive later remove the image themselves.
    guard isOutdated(made) else { return }
    memory.updateVariants(of: made.request.keys.fetch) { [key = made.key] in
      $0.key == key && $0.value.contentID == image.contentID ? nil : $0.value
    }
  }

  private func isOutdated(_ made: NewImage) -> Bool {
    made.record.isOutdated(made.sequence, made.image.contentID)
  }

  private func keepFinished(_ made: NewImage, from origin: ImageResponse.Origin) {
    let (image, request) = (made.image, made.request)
    guard let disk = writableDisk(request) else {
      if request.isChanged, image.contentID != .none { dropOutdated(made.key, by: image.contentID) }
      return
    }
    let (isProcessed, isResized) = (!request.processors.isEmpty, request.isChanged)
    guard !request.keepsEncodedData, request.isStorable, !isOutdated(made),
      image.contentID != .none || request.keys.url == nil,
      storage(of: request).storesFinished(image, isProcessed: isProcessed, isResized: isResized),
      delegate?.storesFinished(ImageResponse(image, from: origin), for: request) ?? true
    else { return }
    let (key, now) = (made.key, clock.now)
    pending.add(for: key) { [queue] in
      // A large image is encoded first, which takes a while.
      guard
        let entry = try? await queue.run(priority: .veryLow, { _ in FinishedImage.entry(of: image, stored: now) }),
        !self.isOutdated(made)
      else { return }
      await disk.store(entry, for: key)
    }
  }

  /// Stores an image that the program provides, as it is shown and without loss, since it has no original.
  func put(_ image: LoadedImage, for key: CacheKey, stored: Date) async {
    guard let disk else { return }
    let entry = try? await queue.run { _ in FinishedImage.entry(of: image, stored: stored, isLossless: true) }
    if let entry { await disk.store(entry, for: key) } else { await disk.remove(key) }
  }

  /// Renews a finished image after its bytes have been revalidated, or removes it if it must no longer be stored.
  func renewFinished(_ made: NewImage, isInMemory: Bool) {
    let (image, request) = (made.image, made.request)
    guard image.validity.isKept else { return drop([made.key]) }
    guard made.isFinal, let disk = writableDisk(request),
      storage(of: request).looksForFinished(request, step: made.step)
    else { return }
    // The pixels on disk may be less exact than the pixels in memory.
    let stored = isInMemory ? image.replacing(image.container, image.parameters, isLossy: true) : image
    pending.add(for: made.key) {
      let metadata = FinishedImage.Header(of: stored).encoded
      await disk.renew(made.key, contentID: image.contentID, expires: image.validity.expires, metadata: metadata)
    }
  }

  // MARK: NewFile images

  /// A new encoded image and its origin.
  struct NewFile {
    let image: EncodedImage
    let key: CacheKey
    let request: ImageRequest
    let sequence: SourceRecord.Sequence
    let record: SourceRecord

    var isOutdated: Bool { record.isOutdated(sequence, image.source) }
  }

  /// Stores a new encoded image on disk, if its request allows that.
  func keep(_ made: NewFile) {
    let (image, request) = (made.image, made.request)
    guard let disk = writableDisk(request), request.keys.url != nil, image.validity.isKept, image.source != .none,
      image.damage == nil, storage(of: request) != .original, !made.isOutdated,
      delegate?.storesEncoded(image, for: request) ?? true
    else { return }
    let entry = image.entry(stored: clock.now)
    pending.add(for: made.key) {
      guard !made.isOutdated else { return }
      await disk.store(entry, for: made.key)
    }
  }

  /// Renews an encoded image after its bytes have been revalidated, or removes it if it must no longer be stored.
  func renewEncoded(_ made: NewFile) {
    let image = made.image
    guard image.validity.isKept else { return drop([made.key]) }
    guard let disk = writableDisk(made.request) else { return }
    pending.add(for: made.key) {
      await disk.renew(
        made.key,
        contentID: image.source,
        expires: image.validity.expires,
        metadata: EncodedImage.Header(of: image).encoded,
        isPrivate: image.validity.isPrivate,
      )
    }
  }

  /// Drops entries that are outdated, damaged or not images.
  func drop(_ keys: [CacheKey]) {
    guard let disk else { return }
    for key in keys { pending.add(for: key) { await disk.remove(key) } }
  }
}

extension StoragePolicy {
  /// Returns `true` if the finished image is stored.
  func storesFinished(_ image: LoadedImage, isProcessed: Bool, isResized: Bool) -> Bool {
    guard isProcessed || isResized, image.validity.isKept else { return false }
    switch self {
    case .original: return false
    case .finished, .both: return true
    case .automatic:
      let (info, bitmap) = (image.info, image.container.bitmap)
      let pixels = info.width * info.height
      // An image made from the beginning of a body has no stored original that could spare its server a request.
      guard !isProcessed, !image.contentID.isOfPartialBody else { return true }
      return pixels >= max(1_000_000, 4 * bitmap.width * bitmap.height)
    }
  }

  /// Returns `true` if a finished image may be on disk after some of the request's processors.
  func looksForFinished(_ request: ImageRequest, step: Int) -> Bool {
    self != .original && !request.keepsEncodedData && request.isChanged(before: step) && request.isStorable
  }
}

extension ImageRequest {
  /// A Boolean value that indicates whether the disk may keep images of the source: of a URL, or of a file whose version
  /// the request names.
  var isStorable: Bool {
    guard keys.url == nil else { return true }
    guard case .file = source.kind else { return false }
    return storagePolicy != nil && cachePartition?.isEmpty == false
  }

  /// A Boolean value that indicates whether the request selects a size or a later frame, or has processors.
  var isChanged: Bool { isChanged(before: processors.count) }

  func isChanged(before step: Int) -> Bool { step > 0 || size != nil || frame > 0 }
}
