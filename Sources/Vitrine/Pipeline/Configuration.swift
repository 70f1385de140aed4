public import VitrineCaching
public import VitrineImaging
public import VitrineRuntime

extension ImagePipeline {
  /// What a pipeline is made of; every part can be replaced.
  public struct Configuration: Sendable {
    /// Decoded images; `nil` for none.
    ///
    /// Unless told, a cache of the pipeline's own that holds a fifth of the memory that the process may take up (what the
    /// machine has, or its control group allows), and no more than 768 MB.
    public var memoryCache: MemoryCache<CachedImage>?
    /// What tells that memory is scarce, which has ``memoryCache`` give up half of what it holds, or all that no view shows;
    /// the system unless told, `nil` for nothing.
    public var memoryPressure: (any MemoryPressureSource)? = .system
    /// Encoded bytes of addresses; `nil`, the default, for none.
    public var diskCache: (any DataCaching)?
    /// What decodes; `DecoderRegistry.standard` unless told.
    public var decoders = DecoderRegistry.standard
    /// What tells the time; the machine's clock unless told.
    public var clock: any TimeSource = .system
    /// Whether equal requests share the work; they do unless told.
    public var coalesces = true
    /// How many images are decoded at once; as many as there are cores, unless told.
    public var decodeWidth = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    /// How many encoded bytes may be in decoding at once: 64 MiB.
    ///
    /// An image that is larger is decoded alone.
    public var decodeByteBudget = 64 << 20
    /// How much may wait: so many fetches for the loader to begin them, and as many images to be read from files, decoded or
    /// processed; `nil`, the default, for any number.
    ///
    /// What would be one more fails at once with ``LoadError/Code/overloaded``, whatever its priority; what waits already, and
    /// whoever joins that, is served. Where an address has a stale answer that may stand in for errors, that is served. A fetch
    /// waits for a moment even where connections are free, so a useful limit is several times as many as there are. What is
    /// found fresh in memory, and bytes that are found fresh on disk, need no place. Low on the list of what is done, such as
    /// previews and writing finished images to disk, is left out without an error.
    public var pendingLimit: Int?
    /// The bounds for decoding.
    public var limits = DecodeLimits()
    /// What of images fetched from addresses is kept in ``diskCache``; `.automatic` by default.
    public var storage = StoragePolicy.automatic
    /// What rewrites requests, chooses decoders and says what is stored; `nil`, the default, for nobody.
    ///
    /// The pipeline keeps it.
    public var delegate: (any PipelineDelegate)?
    /// What stands around the loading of images, the first one outermost; nothing by default.
    public var interceptors: [any ImageInterceptor] = []
    /// Whether an address may be one of a `file:`; it may unless told.
    ///
    /// A server that loads the addresses of strangers says no. ``ImageSource/file(_:)`` is always allowed.
    public var allowsFileAddresses = true
    /// Who is told what requests go through; each part has a property of its own.
    var observation = ObservationParts()
    /// Where what is awaited runs, in a test that takes every step itself and in which the queues have no threads; `nil`, the
    /// default, for threads of the pipeline's own and where Swift runs tasks.
    package var stepper: (any TaskExecutor)?
    /// What fetches addresses, and when; each part has a property of its own.
    var network = NetworkParts()

    /// Whether an image of a few bytes is decoded where its bytes have come, which costs less than waking a thread for it.
    ///
    /// Not where a test takes the steps, or bounds say how much may wait.
    var decodesTinyImagesInline: Bool { stepper == nil && pendingLimit == nil }

    init() {
      memoryCache = MemoryCache(costLimit: PlatformDefaults.memoryCostLimit(of: MemoryLimit.bytes), clock: clock)
    }
  }
}
