import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// The only writer of a pipeline's memory and disk: what comes of answers and of images made of them.
///
/// Not to be called within a turn. What is older than what has come since, by when it was asked for, changes nothing.
final class Settlement: Sendable {
  private let memory: MemoryCache<CachedImage>?
  private let disk: (any DataCaching)?
  private let partials: Partials?
  let pending: PendingWrites
  private let delegate: (any PipelineDelegate)?
  private let decoders: DecoderChoice
  private let defaultStorage: StoragePolicy
  private let clock: any TimeSource
  /// Where images are encoded to be stored.
  private let queue: WorkQueue

  init(
    _ configuration: ImagePipeline.Configuration,
    _ partials: Partials?,
    _ decoders: DecoderChoice,
    _ queue: WorkQueue,
  ) {
    (memory, disk) = (configuration.memoryCache, configuration.diskCache)
    (delegate, defaultStorage, clock) = (configuration.delegate, configuration.storagePolicy, configuration.clock)
    (self.partials, self.decoders, self.queue) = (partials, decoders, queue)
    pending = PendingWrites(configuration.stepper)
  }

  private func storage(of request: ImageRequest) -> StoragePolicy { request.storagePolicy ?? defaultStorage }

  /// The disk, if the request lets it be written.
  private func writableDisk(_ request: ImageRequest) -> (any DataCaching)? {
    request.cacheAccess.contains(.diskWrites) ? disk : nil
  }

  // MARK: Answers

  /// A whole body that came from a server.
  struct Body {
    let data: Data
    let contentID: ContentID
    let stored: StoredResponse
    let validity: Validity
    /// When it came.
    let time: Date
    let response: HTTPResponse
    /// What the disk has of it already.
    let recording: BodyRecording?
    let ask: SourceRecord.Ask
    let record: SourceRecord

    /// The form in which a cache keeps it.
    var entry: CachedData {
      CachedData(
        data: data,
        metadata: stored.encoded,
        contentID: contentID,
        expires: validity.expires,
        stored: time,
      )
    }
  }

  /// Acts on what somebody has said of a body.
  func settle(_ body: Body, of request: ImageRequest, _ word: Answer.Word) {
    let keys = request.keys
    let isOutdated = body.record.isOutdated(body.ask, body.contentID)
    let allowsKeeping = body.validity.isKept && request.cacheAccess.contains(.diskWrites)
    switch word {
    case .good where isOutdated: break
    case .good(let isKept):
      claim(body.ask, body.contentID, body.validity, of: keys.fetch, body.record)
      // What is kept nowhere does not take the place of what was stored before.
      if !isKept || !allowsKeeping { dropOutdated(keys.fetch, and: keys.images, by: body.contentID) }
    case .keep where !isOutdated && allowsKeeping: keepOriginal(body, of: request)
    case .bad, .keep:
      guard let recording = body.recording else { return }
      pending.add { await recording.drop() }
    }
  }

  /// Acts on a server's word that what is stored has not changed.
  func renew(
    _ request: ImageRequest,
    _ contentID: ContentID,
    _ renewed: StoredResponse,
    _ validity: Validity,
    _ ask: SourceRecord.Ask,
    _ record: SourceRecord,
  ) {
    let key = request.keys.fetch
    guard claim(ask, contentID, validity, of: key, record), let disk = writableDisk(request) else { return }
    pending.add(for: key) {
      guard !record.isOutdated(ask, contentID) else { return }
      await disk.renew(key, contentID: contentID, expires: validity.expires, metadata: renewed.encoded)
    }
  }

  /// Brings what was made of a source into line with the latest answer.
  ///
  /// Images of its content are good for longer, images of any other are gone. What somebody put there is left alone.
  @discardableResult
  private func claim(
    _ ask: SourceRecord.Ask,
    _ contentID: ContentID,
    _ validity: Validity,
    of source: CacheKey,
    _ record: SourceRecord,
  ) -> Bool {
    guard record.claim(ask, contentID) else { return false }
    memory?.updateVariants(of: source) { variant in
      switch variant.value.contentID {
      case .none: variant.value
      case contentID: CachedImage(variant.value.loaded.with(validity, status: variant.value.loaded.status))
      default: nil
      }
    }
    return true
  }

  /// Drops the beginning of a download that is of no use.
  func dropPartial(of key: CacheKey) {
    guard let partials else { return }
    pending.add { await partials.disk.removePartial(for: key) }
  }

  private func keepOriginal(_ body: Body, of request: ImageRequest) {
    guard let disk else { return }
    let (key, entry, record, ask) = (request.keys.fetch, body.entry, body.record, body.ask)
    guard let delegate else {
      return pending.add(for: key) {
        guard !record.isOutdated(ask, entry.contentID) else { return await body.recording?.drop() ?? () }
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
        guard !record.isOutdated(ask, entry.contentID) else { return }
        // What is there of an earlier answer would be served in place of what nobody may keep.
        if let kept { await disk.store(kept, for: key) } else { await disk.remove(key) }
      } catch {
        // The queue takes no more: it is not kept this time.
      }
    }
  }

  /// Drops an entry that is of other content than what has just come, and the images made of it: else it would go on being served.
  private func dropOutdated(_ key: CacheKey, and images: CacheKey? = nil, by contentID: ContentID) {
    guard let disk else { return }
    pending.add(for: key) {
      guard let old = await disk.contentID(for: key), old != contentID else { return }
      await disk.remove(key)
      // Without the bytes nothing would tell that these are out of date.
      if let images { await disk.removeAll(extending: images) }
    }
  }

  /// Drops everything that was made of a source.
  func invalidate(_ request: ImageRequest) {
    let keys = request.keys
    memory?.updateVariants(of: keys.fetch) { _ in nil }
    dropPartial(of: keys.fetch)
    guard let disk else { return }
    pending.add(for: keys.fetch) {
      await disk.remove(keys.fetch)
      await disk.removeAll(extending: keys.images)
    }
  }

  // MARK: Images

  /// An image that was made, and of what.
  struct Made {
    let image: LoadedImage
    let request: ImageRequest
    /// The number of processors it has been through.
    let step: Int
    let ask: SourceRecord.Ask
    let record: SourceRecord

    var key: CacheKey { request.keys.key(step: step) }
    var isFinal: Bool { step == request.processors.count }
  }

  /// Keeps an image that was just made, in memory and, where its request wants that, on disk as it is shown.
  func keep(_ made: Made, from origin: ImageResponse.Origin) {
    keepInMemory(made)
    guard made.isFinal else { return }
    keepFinished(made, from: origin)
  }

  /// Keeps an image in memory, unless other bytes of its source have come since its own.
  func keepInMemory(_ made: Made) {
    let image = made.image
    guard image.validity.isKept, made.request.cacheAccess.contains(.memoryWrites), !made.request.keepsEncodedData,
      let memory, !isOutdated(made)
    else { return }
    memory.set(CachedImage(image), for: made.key, cost: image.cost, group: made.request.keys.fetch)
    // Again, now that it is there: whoever brings newer bytes from now on takes it away.
    guard isOutdated(made) else { return }
    memory.updateVariants(of: made.request.keys.fetch) { [key = made.key] in
      $0.key == key && $0.value.contentID == image.contentID ? nil : $0.value
    }
  }

  private func isOutdated(_ made: Made) -> Bool {
    made.image.contentID != .none && made.record.isOutdated(made.ask, made.image.contentID)
  }

  private func keepFinished(_ made: Made, from origin: ImageResponse.Origin) {
    let (image, request) = (made.image, made.request)
    guard let disk = writableDisk(request) else {
      if request.isChanged, image.contentID != .none { dropOutdated(made.key, by: image.contentID) }
      return
    }
    let (isProcessed, isResized) = (!request.processors.isEmpty, request.isChanged)
    guard !request.keepsEncodedData, request.keys.url != nil, !isOutdated(made),
      storage(of: request).keepsFinished(image, isProcessed: isProcessed, isResized: isResized),
      delegate?.keepsFinished(ImageResponse(image, from: origin), for: request) ?? true
    else { return }
    let (key, now) = (made.key, clock.now)
    pending.add(for: key) { [queue] in
      // What is large is encoded first, which takes a while.
      guard
        let entry = try? await queue.run(priority: .veryLow, { _ in FinishedImage.entry(of: image, stored: now) }),
        !self.isOutdated(made)
      else { return }
      await disk.store(entry, for: key)
    }
  }

  /// Lets a stored image be fresh for as long as its bytes, which have just been confirmed.
  func renewFinished(_ made: Made) {
    let (image, request) = (made.image, made.request)
    guard made.isFinal, let disk = writableDisk(request),
      storage(of: request).looksForFinished(request, step: made.step)
    else { return }
    pending.add(for: made.key) {
      let metadata = FinishedImage.Header(of: image).encoded
      await disk.renew(made.key, contentID: image.contentID, expires: image.validity.expires, metadata: metadata)
    }
  }

  /// Drops from disk what is out of date, damaged or no image.
  func drop(_ keys: [CacheKey]) {
    guard let disk else { return }
    for key in keys { pending.add(for: key) { await disk.remove(key) } }
  }
}

extension StoragePolicy {
  /// Whether an image of a request may be on disk as it is shown, after some of its processors.
  func looksForFinished(_ request: ImageRequest, step: Int) -> Bool {
    self != .original && !request.keepsEncodedData && request.isChanged(before: step) && request.keys.url != nil
  }
}

extension ImageRequest {
  /// Whether anything is done to the image but to decode it.
  var isChanged: Bool { isChanged(before: processors.count) }

  func isChanged(before step: Int) -> Bool { step > 0 || size != nil || frame > 0 }
}
