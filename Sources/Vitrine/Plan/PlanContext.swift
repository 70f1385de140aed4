import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// The parts of a pipeline that its plans depend on, and the ``CacheWriter`` that writes to its caches.
///
/// It is the lower half of a ``LoadContext``: look-ups and plans know no loads.
// @unchecked: all properties are constant, of it and of its subclass.
class PlanContext: @unchecked Sendable {
  let configuration: PipelineConfiguration
  let decoders: DecoderChoice
  let partials: Partials?
  let network: NetworkContext
  let cacheWriter: CacheWriter
  let sources = SourceRecords()
  let arrived = ArrivedBytes()
  let variations = VaryVariants()
  let recorder: StageRecorder?
  let processQueue: WorkQueue
  /// The queue for hooks that may block and have no better place.
  let hookQueue: WorkQueue
  /// The cores that concurrent decodes use together; a lone one may use several.
  let decodeCores: CoreBudget
  /// The fields of every request: `Accept` with the media types that the decoders read.
  private let plainFields: HTTPFields

  final var delegate: (any PipelineDelegate)? { configuration.delegate }
  final var clock: any TimeSource { configuration.clock }
  final var diskCache: (any DataCaching)? { configuration.diskCache }
  final var memoryCache: MemoryCache<CachedImage>? { configuration.memoryCache }
  /// The executor of tasks; `nil` for Swift's own.
  final var stepper: (any TaskExecutor)? { configuration.stepper }

  /// Creates the context; `processQueue` also encodes images that are stored.
  init(
    _ configuration: PipelineConfiguration,
    _ feed: EventFeed?,
    _ pending: PendingWrites,
    processQueue: WorkQueue,
    hookQueue: WorkQueue,
  ) {
    (self.configuration, self.processQueue, self.hookQueue) = (configuration, processQueue, hookQueue)
    decoders = DecoderChoice(configuration)
    // Nothing is stored that a delegate has not seen, so no partial downloads either.
    partials = configuration.delegate == nil ? Partials(in: configuration.diskCache, configuration.clock) : nil
    cacheWriter = CacheWriter(configuration, pending, partials, variations, sources, decoders, processQueue)
    let isRecording = feed != nil || configuration.recorder != nil || configuration.collectsMetrics
    recorder = isRecording ? StageRecorder(configuration.recorder, feed, clock: configuration.clock) : nil
    network = NetworkContext(configuration, log: feed)
    decodeCores = CoreBudget(count: min(configuration.maxConcurrentDecodes, CoreBudget.machine.count))
    let types = configuration.decoders.formats.map(\.mediaType).filter { !$0.isEmpty }
    plainFields = ["Accept": (types + ["image/*;q=0.8", "*/*;q=0.5"]).joined(separator: ", ")]
  }

  // MARK: Requests

  final func storage(of request: ImageRequest) -> StoragePolicy { request.storagePolicy ?? configuration.storagePolicy }

  /// Returns true if the original bytes of an image are to be stored.
  final func keepsOriginal(of request: ImageRequest) -> Bool {
    request.cacheAccess.contains(.diskWrites) && storage(of: request).keepsOriginal(isChanged: request.isChanged)
  }

  /// Returns the fields to send for a request, without conditions such as `If-None-Match`.
  final func fields(of request: ImageRequest) -> HTTPFields {
    guard !request.headers.isEmpty else { return plainFields }
    var fields = request.headers
    if fields["Accept"] == nil { fields["Accept"] = plainFields["Accept"] }
    return fields
  }

  /// Returns the plan for the bytes of a request.
  final func bytesPlan(_ request: ImageRequest, _ source: String, _ findings: CacheLookup, now: Date) -> BytesPlan {
    BytesPlan(request, source, findings, fields: fields(of: request), by: configuration.freshness, now: now)
  }

  /// Returns the validity of the bytes of a response.
  final func validity(of stored: StoredResponse, at now: Date) -> Validity {
    Validity(of: stored, by: configuration.freshness, at: now)
  }

  /// Returns the validity of the bytes of a request's response, with the head if the request does not look on disk.
  final func validity(of stored: StoredResponse, _ request: ImageRequest, at now: Date) -> Validity {
    var validity = validity(of: stored, at: now)
    guard disk(for: request, .diskReads) == nil, validity.isKept, !stored.conditions.isEmpty else { return validity }
    let head = stored.encoded
    if head.count <= Validity.responseLimit { validity.response = Shared(head) }
    return validity
  }

  /// Returns the head of the response of which an image in memory was made, if the request can look for it nowhere else.
  final func head(of known: LoadedImage, _ request: ImageRequest) -> StoredOriginal? {
    guard request.cachePolicy != .reload, disk(for: request, .diskReads) == nil, let head = known.validity.response,
      !known.contentID.isOfPartialBody
    else { return nil }
    return .head(CachedData(data: Data(), metadata: head.value, contentID: known.contentID, stored: clock.now))
  }

  /// Returns the caches that a request uses; a cache that does not exist keeps no two requests apart.
  final func caches(of request: ImageRequest) -> CacheAccess {
    var caches = request.cacheAccess
    if memoryCache == nil { caches.formUnion(.memory) }
    if diskCache == nil { caches.formUnion(.disk) }
    return caches
  }

  /// Returns the memory cache, if the request uses it in this way.
  final func memory(for request: ImageRequest, _ use: CacheAccess) -> MemoryCache<CachedImage>? {
    request.keepsEncodedData || !request.cacheAccess.contains(use) ? nil : memoryCache
  }

  /// Returns the data cache, if the request uses it in this way.
  final func disk(for request: ImageRequest, _ use: CacheAccess) -> (any DataCaching)? {
    request.cacheAccess.contains(use) ? diskCache : nil
  }

  final func decodeOptions(of request: ImageRequest) -> DecodeOptions {
    var options = DecodeOptions(size: request.size)
    options.quality = request.quality
    (options.frame, options.filter) = (request.frame, request.filter)
    (options.usesLinearLight, options.colorSpace) = (request.usesLinearLight, request.colorSpace)
    options.dynamicRange = request.dynamicRange
    (options.animates, options.acceptsPartial) = (request.animates, request.acceptsPartial)
    options.limits = configuration.decodeLimits
    return options
  }

  /// Returns the smallest image in memory from which the requested one can be made.
  final func largerVariant(
    of request: ImageRequest,
    among variants: [MemoryCache<CachedImage>.Variant],
    at now: Date,
  ) -> LargerVariant? {
    let options = decodeOptions(of: request)
    return variants.lazy.map(\.value.loaded)
      .filter { $0.validity.isFresh(at: now, request) && $0.validity.answers(self.fields(of: request)) }
      .compactMap { LargerVariant($0, for: options) }
      .min { $0.image.cost < $1.image.cost }
  }

  /// Returns the image of a prepared request, if it is in memory.
  final func imageInMemory(_ request: ImageRequest) -> ImageResponse? {
    guard request.cachePolicy != .reload, let memory = memory(for: request, .memoryReads) else { return nil }
    let request = varied(request)
    if let image = memory.value(for: request.imageKey)?.loaded {
      guard image.validity.answers(fields(of: request)) else {
        if request.variation.isEmpty { variations.note(image.validity.variation, under: request.keys.plain) }
        return nil
      }
      return ImageResponse(image, from: .memory, isStale: !image.validity.isFresh(at: clock.now, request))
    }
    return request.alternatives?.lazy.compactMap(imageInMemory).first
  }
}

extension PlanContext {
  /// Returns a request after the delegate's changes, with its keys; every look-up and load begins with this call.
  func prepared(_ request: ImageRequest) -> ImageRequest {
    let request = request.prepared(by: delegate)
    return variations.isEmpty ? request : varied(request).prepared(by: nil)
  }

  /// Returns a request with the keys of its variant.
  func varied(_ request: ImageRequest) -> ImageRequest {
    guard !variations.isEmpty else { return request }
    var request = request
    if let alternatives = request.alternatives {
      request.setAlternatives(alternatives.map { varied($0) })
    } else if request.keys.url != nil {
      let variation = variations.variation(of: fields(of: request), under: request.keys.plain)
      if variation != request.variation { request.variation = variation }
    }
    return request
  }

  /// Returns a request with the keys of another variant than the one found; `nil` if there is no other.
  func otherVariant(than found: HTTPFields, of request: ImageRequest) -> ImageRequest? {
    if request.variation.isEmpty { variations.note(found, under: request.keys.plain) }
    let other = varied(request)
    return other.keys.fetch == request.keys.fetch ? nil : other
  }

  /// Returns a request with the keys of the variant to which its response belongs, and the record of these keys.
  ///
  /// If another variant took the plain keys during the load, the request gets keys of its own.
  func place(
    of variation: HTTPFields,
    _ request: ImageRequest,
    _ record: SourceRecord,
  ) -> (ImageRequest, SourceRecord) {
    guard !variation.isEmpty, request.variation.isEmpty else { return (request, record) }
    let first = record.first(variation)
    guard first != variation else { return (request, record) }
    variations.note(first, under: request.keys.plain)
    let place = variations.place(of: variation, request)
    return place.keys.fetch == request.keys.fetch ? (request, record) : (place, sources.record(of: place.keys.fetch))
  }
}

extension PlanContext {
  /// Finds the images in memory after some of a request's processors; does not count as use.
  func findingsInMemory(_ request: ImageRequest, step: Int, at now: Date) -> CacheLookup {
    var findings = CacheLookup()
    guard let memory = memory(for: request, .memoryReads) else { return findings }
    let keys = request.keys
    let variants = memory.variants(of: keys.fetch)
    guard !variants.isEmpty else { return findings }
    let isReload = request.cachePolicy == .reload
    for known in (0...step).reversed() where findings.known == nil {
      let key = keys.key(step: known)
      guard let variant = variants.first(where: { $0.key == key }),
        variant.value.validity.answers(fields(of: request)),
        !request.requiresExactPixels || !variant.value.loaded.isLossy,
        // A reload has no use for an image that cannot be revalidated.
        !isReload || variant.value.contentID != .none
      else { continue }
      findings.known = CacheLookup.InMemory(image: variant.value.loaded, step: known)
    }
    if !isReload, !request.requiresExactPixels, findings.known == nil {
      findings.larger = largerVariant(of: request, among: variants, at: now)
    }
    return findings
  }
}
