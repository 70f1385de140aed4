public import VitrineCaching
import VitrineHTTP
public import VitrineImaging
import VitrineRuntime

extension PipelineCache {
  // MARK: Storing

  /// Stores an image for a request, in memory and on disk.
  ///
  /// ```swift
  /// await pipeline.cache.store(image, for: request, expiration: .after(.seconds(12 * 3600)))
  /// ```
  /// If the request has a size, a frame or processors, the disk keeps the image as it is shown, unless the request's
  /// ``StoragePolicy`` keeps originals only. For any other request, the disk keeps a file in place of the original,
  /// from which images of every size are made: a PNG up to 512 KB of pixels, a JPEG of quality 90 above that, or a
  /// lossless WebP if it has transparency. Images made from an earlier original are removed.
  ///
  /// The disk keeps images of http and https URLs, in sRGB. A stored image is used like a response from the server. It
  /// is served without a request until it expires. After that it is served for one more day, if the server cannot be
  /// reached. It is evicted like any other entry. ``ImageRequest/cacheAccess`` is ignored.
  ///
  /// - Parameters:
  ///   - image: The image, at the size of the request and after its processors.
  ///   - request: The request that the image answers.
  ///   - tiers: The caches that keep it. Defaults to both.
  ///   - expiration: The time at which it expires, in whole seconds on disk. Defaults to never. If that time has
  ///     passed, the image is not stored, and an older one is removed.
  /// - Returns: The tiers that keep the image. It can be read there when this returns.
  @discardableResult
  public func store(
    _ image: ImageContainer,
    for request: ImageRequest,
    in tiers: Tier = .all,
    expiration: Expiration = .never,
  ) async -> Tier {
    let request = context.prepared(request)
    var image = image
    // The disk gets a new file, and the cost in memory counts pixels only.
    image.encodedData = nil
    guard let term = Term(expiration, context) else {
      await drop(request, from: tiers)
      return []
    }
    var kept = Tier()
    var contentID = ContentID.none
    if tiers.contains(.disk) {
      let stored =
        request.isChanged ? await storeFinished(image, request, term) : await storeFile(of: image, request, term)
      if let stored {
        contentID = stored
        kept.insert(.disk)
      }
    }
    // The file on disk is now the original, and may have been stored with losses.
    let loaded = LoadedImage(
      image,
      contentID,
      term.validity,
      status: nil,
      byteCount: 0,
      nil,
      isLossy: contentID != .none,
    )
    if tiers.contains(.memory), keepInMemory(loaded, request) { kept.insert(.memory) }
    return kept
  }

  /// Stores pixels for a request; see ``store(_:for:in:expiration:)-(ImageContainer,ImageRequest,_,_)``.
  @discardableResult
  public func store(
    _ image: Bitmap,
    for request: ImageRequest,
    in tiers: Tier = .all,
    expiration: Expiration = .never,
  ) async -> Tier {
    await store(ImageContainer(image), for: request, in: tiers, expiration: expiration)
  }

  /// Stores pixels for a URL; see ``store(_:for:in:expiration:)-(ImageContainer,ImageRequest,_,_)``.
  @discardableResult
  public func store(
    _ image: Bitmap,
    for url: some URLConvertible,
    in tiers: Tier = .all,
    expiration: Expiration = .never,
  ) async -> Tier {
    await store(ImageContainer(image), for: ImageRequest(url.imageSource), in: tiers, expiration: expiration)
  }

  // MARK: Encoded bytes

  /// Returns the original bytes of a request's source from the disk, fresh or stale.
  ///
  /// Sends no request. Counts as use. If the request has several sources, the first with bytes on disk is taken.
  /// Returns `nil` for an image that is stored only as it is shown.
  public func data(for request: ImageRequest) async -> Data? {
    let request = context.prepared(request)
    for alternative in request.alternatives ?? [] {
      if let data = await data(for: alternative) { return data }
    }
    guard let disk else { return nil }
    await pending.finished(for: request.keys.fetch)
    return await disk.entry(for: request.keys.fetch)?.data
  }

  /// Returns the encoded bytes of a URL that are on disk; see ``data(for:)-(ImageRequest)``.
  public func data(for url: some URLConvertible) async -> Data? { await data(for: ImageRequest(url.imageSource)) }

  /// Stores the original bytes of a request's source on disk.
  ///
  /// Later loads make images of every size from them. They are used like a response from the server. They are served
  /// without a request until they expire. After that they are served for one more day, if the server cannot be reached.
  /// Images made from other bytes are removed. If the bytes are not an image, the first load that decodes them removes
  /// them.
  ///
  /// - Parameters:
  ///   - data: The encoded bytes.
  ///   - request: The request of an http or https URL.
  ///   - expiration: The time at which they expire, in whole seconds. Defaults to never. If that time has passed, the
  ///     bytes are not stored, and older ones are removed.
  /// - Returns: `true` if the disk keeps the bytes. They can be read when this returns.
  @discardableResult
  public func storeData(_ data: Data, for request: ImageRequest, expiration: Expiration = .never) async -> Bool {
    let request = context.prepared(request)
    guard let term = Term(expiration, context) else {
      if let disk { await remove(request.keys.fetch, from: disk) }
      return false
    }
    return await storeOriginal(request, term) { data } != nil
  }

  /// Stores the original bytes of a URL on disk; see ``storeData(_:for:expiration:)-(_,ImageRequest,_)``.
  @discardableResult
  public func storeData(
    _ data: Data,
    for url: some URLConvertible,
    expiration: Expiration = .never,
  ) async -> Bool {
    await storeData(data, for: ImageRequest(url.imageSource), expiration: expiration)
  }

  // MARK: Implementation

  /// The time during which a stored entry is fresh.
  private struct Term {
    let stored: Date
    let expires: Date?
    let freshness: Freshness

    /// Creates the term; returns `nil` if the expiration has passed.
    init?(_ expiration: Expiration, _ context: LoadContext) {
      let now = context.clock.now
      (stored, expires, freshness) = (now, expiration.date(from: now), context.configuration.freshness)
      if let expires, expires <= now { return nil }
    }

    /// Returns the response that a server would have sent.
    func response(of url: HTTPURL) -> StoredResponse {
      let seconds = min(expires.map { $0.timeIntervalSince(stored) } ?? .infinity, 2_147_483_648)
      let response = HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=\(Int(seconds))"], url: url)
      return StoredResponse(response, requested: stored, received: stored)
    }

    var validity: Validity {
      Validity(
        expires: expires,
        confirmed: stored,
        usableOnErrorUntil: expires?.addingTimeInterval(freshness.staleIfError / .seconds(1)),
        usableOnServerErrorUntil: freshness.staleIfServerError > .zero
          ? expires?.addingTimeInterval(freshness.staleIfServerError / .seconds(1)) : nil,
        isKept: true,
      )
    }
  }

  private func keepInMemory(_ image: LoadedImage, _ request: ImageRequest) -> Bool {
    let keys = request.keys
    return memory?.store(CachedImage(image), for: keys.image, cost: image.cost, group: keys.fetch) ?? false
  }

  private func drop(_ request: ImageRequest, from tiers: Tier) async {
    if tiers.contains(.memory) { memory?.remove(request.keys.image) }
    guard tiers.contains(.disk), let disk else { return }
    await remove(request.isChanged ? request.keys.image : request.keys.fetch, from: disk)
  }

  private func remove(_ key: CacheKey, from disk: any DataCaching) async {
    pending.add(for: key) { await disk.remove(key) }
    await pending.finished(for: key)
  }

  /// Stores an image as it is shown.
  ///
  /// - Returns: The content id of the stored image; `nil` if it was not stored.
  private func storeFinished(_ image: ImageContainer, _ request: ImageRequest, _ term: Term) async -> ContentID? {
    let key = request.keys.image
    guard let disk, context.storage(of: request).looksForFinished(request, step: request.processors.count) else {
      return nil
    }
    // The image was made from no bytes, so no later bytes can contradict it.
    let loaded = LoadedImage(image, .none, term.validity, status: nil, byteCount: 0, nil)
    pending.add(for: key) { [cacheWriter = context.cacheWriter] in
      await cacheWriter.put(loaded, for: key, stored: term.stored)
    }
    await pending.finished(for: key)
    return await disk.contains(key) ? ContentID.none : nil
  }

  /// Stores an image as a file in place of the original.
  private func storeFile(of image: ImageContainer, _ request: ImageRequest, _ term: Term) async -> ContentID? {
    await storeOriginal(request, term) { [decoders = context.decoders] in
      guard let data = FinishedImage.file(of: image.bitmap) else { return nil }
      // If the pipeline cannot decode the file, storing it is useless.
      return decoders.isImage(data, request) == true ? data : nil
    }
  }

  /// Stores the bytes that `make` returns, as the latest response of their source; `make` is called on the process
  /// queue.
  ///
  /// - Returns: The content id of the bytes; `nil` if they were not stored.
  private func storeOriginal(
    _ request: ImageRequest,
    _ term: Term,
    _ make: @escaping @Sendable () -> Data?,
  ) async -> ContentID? {
    guard let disk, let url = request.keys.url else { return nil }
    let key = request.keys.fetch
    let (record, sequence) = (context.sources.record(of: key), context.sources.nextSequence())
    let (cacheWriter, queue) = (context.cacheWriter, context.processQueue)
    let made = Lock(ContentID?.none)
    pending.add(for: key) {
      let entry = try? await queue.run { _ in
        make().map { data in
          CachedData(
            data: data,
            metadata: term.response(of: url).encoded,
            contentID: ContentID(of: data),
            expires: term.expires,
            stored: term.stored,
          )
        }
      }
      guard let entry else { return await disk.remove(key) }
      made.withLock { $0 = entry.contentID }
      await cacheWriter.put(entry, term.validity, for: request, sequence, record)
    }
    await pending.finished(for: key)
    // The cache may have refused them, or may have newer ones.
    guard let contentID = made.withLock({ $0 }), await disk.contentID(for: key) == contentID else { return nil }
    return contentID
  }
}
