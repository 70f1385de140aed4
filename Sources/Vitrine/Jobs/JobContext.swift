import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// What the jobs of a pipeline share: the engine's lock, the queues, the decoders, the clock.
final class JobContext: Sendable {
  let engine = Engine()
  let decodeQueue: WorkQueue
  let processQueue: WorkQueue
  let fileQueue: WorkQueue
  let decoders: DecoderRegistry
  let delegate: (any PipelineDelegate)?
  let clock: any TimeSource
  let memoryCache: MemoryCache<CachedImage>?
  let diskCache: (any DataCaching)?
  let partials: Partials?
  let network: NetworkContext
  let pendingWrites: PendingWrites
  /// Where what is awaited runs; `nil` for where Swift runs it.
  let stepper: (any TaskExecutor)?
  let allowsFileAddresses: Bool
  private let storage: StoragePolicy
  let recorder: StageRecorder?
  /// What the decoders can read, for the `Accept` field.
  let accept: String

  init(_ configuration: ImagePipeline.Configuration) {
    decoders = configuration.decoders
    delegate = configuration.delegate
    clock = configuration.clock
    memoryCache = configuration.memoryCache
    diskCache = configuration.diskCache
    let pendingLimit = configuration.pendingLimit
    // What a delegate has not seen is not kept, so not in part either.
    partials = configuration.delegate == nil ? Partials(in: configuration.diskCache) : nil
    recorder = StageRecorder(configuration)
    network = NetworkContext(
      configuration.network,
      pendingLimit: pendingLimit,
      clock: configuration.clock,
      log: recorder?.feed,
    )
    storage = configuration.storage
    allowsFileAddresses = configuration.allowsFileAddresses
    let types = configuration.decoders.formats.map(\.mediaType)
    accept = (types + ["image/*;q=0.8", "*/*;q=0.5"]).joined(separator: ", ")
    decodeQueue = WorkQueue(
      label: "decode",
      width: configuration.decodeWidth,
      byteBudget: configuration.decodeByteBudget,
      pendingLimit: pendingLimit,
      hasThreads: configuration.stepper == nil,
    )
    processQueue = WorkQueue(
      label: "process",
      width: configuration.decodeWidth,
      pendingLimit: pendingLimit,
      hasThreads: configuration.stepper == nil,
    )
    fileQueue = WorkQueue(label: "files", width: 2, pendingLimit: pendingLimit)
    (stepper, pendingWrites) = (configuration.stepper, PendingWrites(configuration.stepper))
  }

  func storage(of request: ImageRequest) -> StoragePolicy { request.storage ?? storage }

  /// Whether the bytes of an image are to be kept.
  func keepsOriginal(of request: ImageRequest) -> Bool {
    request.caches.contains(.diskWrites) && storage(of: request).keepsOriginal(isChanged: request.isChanged)
  }

  /// The fields that are sent for a request, before those that make it conditional.
  func fields(of request: ImageRequest) -> HTTPFields {
    var fields = HTTPFields()
    for header in request.headers { fields.append(name: header.name, value: header.value) }
    if fields["Accept"] == nil { fields["Accept"] = accept }
    return fields
  }

  /// Brings what was made of a source into line with what its server has just said.
  ///
  /// Images of the content that it named are good for longer, images of any other are gone. What somebody put there is
  /// left alone.
  func settle(_ source: CacheKey, _ contentID: ContentID, _ validity: Validity) {
    memoryCache?.updateVariants(of: source) { variant in
      switch variant.value.contentID {
      case .none: variant.value
      case contentID: variant.value.with(validity)
      default: nil
      }
    }
  }
}
