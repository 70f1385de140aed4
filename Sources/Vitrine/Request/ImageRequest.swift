import Synchronization
package import VitrineCaching
public import VitrineHTTP
public import VitrineImaging
public import VitrineRuntime

/// What is wanted: which image, at what size, processed how, cached how.
///
/// ```swift
/// let request = ImageRequest(url: url, size: .pixels(300, 300, .fill), priority: .high)
/// ```
/// A value one pointer wide, cheap to copy. Its keys are computed once, at its first use, and shared by its copies.
public struct ImageRequest: Sendable {
  private var shared: Storage

  /// A request for an address.
  public init(
    url: URL,
    size: TargetSize? = nil,
    processors: [ImageProcessor] = [],
    priority: Priority = .normal,
  ) {
    self.init(.url(url), size: size, processors: processors, priority: priority)
  }

  /// A request for an address given as text; where it is none, loading fails with ``LoadError/Code/invalidURL``.
  public init(
    url: String,
    size: TargetSize? = nil,
    processors: [ImageProcessor] = [],
    priority: Priority = .normal,
  ) {
    self.init(.url(url), size: size, processors: processors, priority: priority)
  }

  /// A request for any source.
  public init(
    _ source: ImageSource,
    size: TargetSize? = nil,
    processors: [ImageProcessor] = [],
    priority: Priority = .normal,
  ) {
    self.init(Fields(source: source, size: size, processors: processors, priority: priority))
  }

  private init(_ fields: consuming Fields) {
    guard let sources = fields.source.alternatives else {
      shared = Storage(fields)
      return
    }
    var fields = fields
    // Each has keys of its own, which are made once.
    fields.alternatives = sources.map { source in
      var alternative = fields
      alternative.source = source
      return ImageRequest(alternative)
    }
    shared = Storage(fields)
  }

  /// Where the bytes come from.
  public var source: ImageSource {
    get { shared.fields.source }
    set {
      var fields = shared.fields
      (fields.source, fields.alternatives) = (newValue, nil)
      self = ImageRequest(fields)
    }
  }

  /// The http or https address that it is loaded from at its size; `nil` for other sources, and for several.
  public var address: String? {
    guard case .url(let address) = keys.source.kind else { return nil }
    return address
  }

  /// The size that is shown; `nil`, the default, for the image's own.
  public var size: TargetSize? {
    get { shared.fields.size }
    set { change { $0.size = newValue } }
  }

  /// What is done to the pixels, in order; nothing by default.
  public var processors: [ImageProcessor] {
    get { shared.fields.processors }
    set { change { $0.processors = newValue } }
  }

  /// How urgent it is; `.normal` by default.
  ///
  /// A task's priority can be changed while it runs.
  public var priority: Priority {
    get { shared.fields.priority }
    set { change(keepsKeys: true) { $0.priority = newValue } }
  }

  /// The care taken over pixels when shrinking; `.balanced` by default.
  ///
  /// With `.fast` a download stops when its beginning shows what is asked for: a thumbnail in the file that is large enough, or
  /// the first scans of a progressive JPEG where at most an eighth of its size is wanted (a tenth to a third of its bytes). It stops only
  /// where the rest, 128 KB or more, can be fetched later (a strong `ETag`, a known length), and goes on where the request says that originals are
  /// kept (``StoragePolicy/original``, ``StoragePolicy/both``) or with ``continuesDownload``. What has come is kept on disk,
  /// and who needs all of it later has the rest fetched.
  public var quality: DecodeQuality {
    get { shared.fields.decoding.quality }
    set { change { $0.decoding.quality = newValue } }
  }

  /// Which frame of an animation, from 0, the default.
  public var frame: Int {
    get { shared.fields.decoding.frame }
    set { change { $0.decoding.frame = newValue } }
  }

  /// How the pixels of the size asked for are made of the decoder's; `.lanczos3` by default.
  public var filter: ResamplingFilter {
    get { shared.fields.decoding.filter }
    set { change { $0.decoding.filter = newValue } }
  }

  /// Whether pixels are added up as light instead of as the numbers that stand for it; `false` by default, since the decoder
  /// does all the work then.
  public var usesLinearLight: Bool {
    get { shared.fields.decoding.usesLinearLight }
    set { change { $0.decoding.usesLinearLight = newValue } }
  }

  /// What colours the image is in: sRGB by default, Display P3 to keep those that sRGB lacks (wide colour).
  ///
  /// Images of different colour spaces are never made of one another.
  public var colorSpace: ColorSpace {
    get { shared.fields.decoding.colorSpace }
    set { change { $0.decoding.colorSpace = newValue } }
  }

  /// What a program wants to know of its requests, for its own hooks; empty by default.
  ///
  /// It changes nothing of the image: requests that differ in it alone share the work and the result.
  public var userInfo: [String: any Sendable] {
    get { shared.fields.userInfo }
    set { change(keepsKeys: true) { $0.userInfo = newValue } }
  }

  /// How often previews are made while the bytes arrive, for those who watch: `PreviewPolicy()` by default.
  ///
  /// They cost nothing where nobody listens to the task's events or a slot shows none, and there are none of images that
  /// are processed or not fetched from an address. Where several requests share the work, the first one says.
  public var previews: PreviewPolicy {
    get { shared.fields.previews }
    set { change(keepsKeys: true) { $0.previews = newValue } }
  }

  /// How fresh the answer must be; `.standard` by default.
  public var cachePolicy: CachePolicy {
    get { shared.fields.cachePolicy }
    set { change(keepsKeys: true) { $0.cachePolicy = newValue } }
  }

  /// Whether it is fetched over a network that costs; `true` by default.
  ///
  /// If not, and `ImagePipeline.Configuration.networkAccess` says that it does, what is stored is served however old it is, and
  /// else the request fails with ``LoadError/Code/offline``. Requests that a prefetcher makes are asked like any other.
  public var allowsExpensiveNetworkAccess: Bool {
    get { shared.fields.allowsExpensiveNetworkAccess }
    set { change(keepsKeys: true) { $0.allowsExpensiveNetworkAccess = newValue } }
  }

  /// Whether its download goes on when nobody waits for it any more, at the lowest priority, to be on disk the next time.
  ///
  /// `false` by default. Only its bytes are fetched then, and kept if their header is that of an image. It does nothing
  /// for a download that has not begun, nor where nothing of it is to be kept on disk (``cacheAccess``).
  public var continuesDownload: Bool {
    get { shared.fields.continuesDownload }
    set { change(keepsKeys: true) { $0.continuesDownload = newValue } }
  }

  /// What of it is kept in the cache of bytes; `nil`, the default, for what the pipeline does.
  public var storagePolicy: StoragePolicy? {
    get { shared.fields.storagePolicy }
    set { change(keepsKeys: true) { $0.storagePolicy = newValue } }
  }

  /// Which caches it is looked for in, and which keep it; ``CacheAccess/all`` by default.
  ///
  /// ``ImagePipeline/cache`` is asked by name, so that it goes by what it is told and not by this.
  public var cacheAccess: CacheAccess {
    get { shared.fields.cacheAccess }
    set { change(keepsKeys: true) { $0.cacheAccess = newValue } }
  }

  /// The header fields to send, in order.
  ///
  /// Defaults to none.
  /// ```swift
  /// request.headers["Accept-Language"] = "eo"
  /// ```
  public var headers: HTTPFields {
    get { shared.fields.headers }
    set { change { $0.headers = newValue } }
  }

  /// The method, the body and the bounds of loads of a URL.
  var http: HTTPOptions {
    get { shared.fields.http }
    set { change { $0.http = newValue } }
  }

  /// The names of those ``headers`` whose values change what comes back, so that their answers are kept apart.
  ///
  /// `Authorization` always does.
  public var significantHeaders: Set<String> {
    get { shared.fields.significantHeaders }
    set { change { $0.significantHeaders = newValue } }
  }

  /// On whose behalf: users of one address with different scopes never share an answer.
  ///
  /// `nil` by default.
  public var cachePartition: String? {
    get { shared.fields.cachePartition }
    set { change { $0.cachePartition = newValue } }
  }

  /// What stands for the address in keys, for addresses that change while the image does not (signed ones).
  public var cacheID: String? {
    get { shared.fields.cacheID }
    set { change { $0.cacheID = newValue } }
  }

  /// Whether the response brings the encoded bytes, too; then the image is neither looked for nor kept in memory.
  package var keepsEncodedData: Bool {
    get { shared.fields.keepsEncodedData }
    set { change(keepsKeys: true) { $0.keepsEncodedData = newValue } }
  }

  /// Whether what may be served while its server is asked is not: for who has shown it and waits for the answer.
  package var revalidates: Bool {
    get { shared.fields.revalidates }
    set { change(keepsKeys: true) { $0.revalidates = newValue } }
  }

  var keys: RequestKeys { shared.keys }

  /// What messages call it.
  var name: String { keys.source.description }

  /// The requests to be tried one after the other, if its source is several.
  var alternatives: [ImageRequest]? { shared.fields.alternatives }

  /// Says what its several sources are, after each has been rewritten.
  mutating func setAlternatives(_ alternatives: [ImageRequest]) {
    var fields = shared.fields
    fields.alternatives = alternatives
    shared = Storage(fields)
  }

  /// Whether it is content with the beginning of its bytes where that shows enough.
  var stopsEarly: Bool { quality == .fast && !keepsEncodedData && !continuesDownload && isPlainGet }

  /// Whether it is as a pipeline's delegate has rewritten it.
  var isPrepared: Bool {
    get { shared.fields.isPrepared }
    set { change(keepsKeys: true) { $0.isPrepared = newValue } }
  }

  /// Whether nothing was changed since one was copied from the other.
  func isCopy(of other: ImageRequest) -> Bool { shared === other.shared }

  /// What the image is found by in memory.
  package var imageKey: CacheKey { shared.imageKey }

  /// What its bytes are found by on disk.
  package var fetchKey: CacheKey { keys.fetch }

  /// Whether this asks for what the other one asks for, however urgent either is.
  package func isSame(as other: ImageRequest) -> Bool {
    shared === other.shared
      || (imageKey == other.imageKey && cachePolicy == other.cachePolicy && cacheAccess == other.cacheAccess)
  }

  /// Changes what is asked for; what names no result keeps the keys, if they have been made.
  private mutating func change(keepsKeys: Bool = false, _ body: (inout Fields) -> Void) {
    var fields = shared.fields
    body(&fields)
    fields.alternatives = fields.alternatives?.map { alternative in
      var alternative = alternative
      alternative.change(keepsKeys: keepsKeys, body)
      return alternative
    }
    shared = Storage(fields, keys: keepsKeys ? shared.knownKeys : nil)
  }

  struct Fields: Sendable {
    // First, so that a look-up in memory finds them beside the keys.
    var cachePolicy = CachePolicy.standard
    var cacheAccess = CacheAccess.all
    var keepsEncodedData = false
    var revalidates = false
    var source: ImageSource
    var size: TargetSize?
    var processors: [ImageProcessor]
    var priority: Priority
    var decoding = RequestKeys.Decoding()
    var userInfo: [String: any Sendable] = [:]
    var previews = PreviewPolicy()
    var continuesDownload = false
    var allowsExpensiveNetworkAccess = true
    var storagePolicy: StoragePolicy?
    var headers: HTTPFields = [:]
    var significantHeaders: Set<String> = []
    var http = HTTPOptions()
    var cachePartition: String?
    var cacheID: String?
    var isPrepared = false
    /// The requests for its several sources.
    var alternatives: [ImageRequest]?
  }

  @safe
  private final class Storage: Sendable {
    // Read at every look-up, and written once: a lock would cost more than the look-up. It is one retain that is given
    // back in `deinit`, and never replaced, so that what is loaded lives as long as `self`.
    private let cachedKeys = unsafe Atomic<Unmanaged<RequestKeys>?>(nil)
    private let wasAsked = Atomic(false)
    let fields: Fields

    init(_ fields: consuming Fields, keys: RequestKeys? = nil) {
      self.fields = fields
      if let keys { keep(keys) }
    }

    deinit { unsafe cachedKeys.load(ordering: .acquiring)?.release() }

    /// Keeps the keys unless there are some, and returns those that are kept.
    @discardableResult
    private func keep(_ keys: RequestKeys) -> RequestKeys {
      let made = unsafe Unmanaged.passRetained(keys)
      let (isKept, known) = unsafe cachedKeys.compareExchange(
        expected: nil,
        desired: made,
        ordering: .acquiringAndReleasing,
      )
      guard !isKept, let known = unsafe known else { return keys }
      unsafe made.release()
      return unsafe known.takeUnretainedValue()
    }

    var knownKeys: RequestKeys? { unsafe cachedKeys.load(ordering: .acquiring)?.takeUnretainedValue() }

    /// The key of the image: of a request that is made for one look into memory nothing else is made.
    var imageKey: CacheKey {
      if let keys = knownKeys { return keys.image }
      guard wasAsked.exchange(true, ordering: .relaxed) else { return RequestKeys.Parts(fields).image }
      return keys.image
    }

    // Where two threads make them at once, the first counts for both.
    var keys: RequestKeys { knownKeys ?? keep(RequestKeys(fields)) }
  }
}
