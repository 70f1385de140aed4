import Synchronization
package import VitrineCaching
public import VitrineHTTP
public import VitrineImaging
public import VitrineRuntime

/// A request for an image: its source, size, processing and caching.
///
/// ```swift
/// let request = ImageRequest(url: url, size: .pixels(300, 300, .fill), priority: .high)
/// ```
/// A request is one pointer wide, and cheap to copy. Its keys are computed once, at the first use, and shared by
/// copies.
public struct ImageRequest: Sendable {
  private var shared: Storage

  /// Creates a request for a URL.
  public init(
    url: URL,
    size: TargetSize? = nil,
    processors: [ImageProcessor] = [],
    priority: Priority = .normal,
  ) {
    self.init(.url(url), size: size, processors: processors, priority: priority)
  }

  /// Creates a request for a URL given as text; loading text that is not a URL fails with
  /// ``LoadError/Code/invalidURL``.
  public init(
    url: String,
    size: TargetSize? = nil,
    processors: [ImageProcessor] = [],
    priority: Priority = .normal,
  ) {
    self.init(.url(url), size: size, processors: processors, priority: priority)
  }

  /// Creates a request for any source.
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
    // Each alternative has keys of its own, which are made once.
    fields.alternatives = sources.map { source in
      var alternative = fields
      alternative.source = source
      return ImageRequest(alternative)
    }
    shared = Storage(fields)
  }

  /// The source of the bytes.
  public var source: ImageSource {
    get { shared.fields.source }
    set {
      var fields = shared.fields
      (fields.source, fields.alternatives) = (newValue, nil)
      self = ImageRequest(fields)
    }
  }

  /// The http or https URL from which the image is loaded at its size; `nil` for any other source, and for several
  /// sources.
  public var url: URL? {
    guard case .url(let url) = keys.source.kind else { return nil }
    return URL(string: url)
  }

  /// The size at which the image is shown; defaults to `nil`, the image's own size.
  public var size: TargetSize? {
    get { shared.fields.size }
    set { change { $0.size = newValue } }
  }

  /// The number of pixels in a point, for the lengths of ``processors``.
  ///
  /// Images differ by scale only if a processor has a length in points. Defaults to the scale of a ``size`` in points,
  /// or to the view's scale if a slot chooses the size, otherwise to 1.
  public var scale: Double {
    get { shared.fields.pointScale }
    set { change { $0.scale = newValue } }
  }

  /// The processors, applied in order; defaults to none.
  public var processors: [ImageProcessor] {
    get { shared.fields.processors }
    set { change { $0.processors = newValue } }
  }

  /// The priority of the load, which a task can change while it runs; defaults to `.normal`.
  public var priority: Priority {
    get { shared.fields.priority }
    set { change(keepsKeys: true) { $0.priority = newValue } }
  }

  /// Values for the program's own hooks.
  ///
  /// They do not affect the image: requests that differ only in these share work and result. Defaults to none.
  public var userInfo: [String: any Sendable] {
    get { shared.fields.userInfo }
    set { change(keepsKeys: true) { $0.userInfo = newValue } }
  }

  /// The content of a slot until the image arrives, in place of the slot's own placeholder.
  ///
  /// It suits a hash that comes with the URL. It does not affect the image. Defaults to `nil`, the slot's placeholder.
  /// ```swift
  /// var request = ImageRequest(url: photo.url)
  /// request.placeholder = .thumbHash(base64: photo.hash)
  /// ```
  public var placeholder: Placeholder? {
    get { shared.fields.placeholder }
    set { change(keepsKeys: true) { $0.placeholder = newValue } }
  }

  /// The frequency of previews during the transfer.
  ///
  /// Previews are made only if a task's events are read or a slot shows them, only of images fetched from a URL, and
  /// only if all processors process previews. Requests that share work have the first one's policy. Defaults to
  /// `PreviewPolicy()`.
  public var previews: PreviewPolicy {
    get { shared.fields.previews }
    set { change(keepsKeys: true) { $0.previews = newValue } }
  }

  /// The required freshness of the image; defaults to `.standard`.
  public var cachePolicy: CachePolicy {
    get { shared.fields.cachePolicy }
    set { change(keepsKeys: true) { $0.cachePolicy = newValue } }
  }

  /// A Boolean value that indicates whether the image may be fetched over an expensive network.
  ///
  /// If it is `false` and `ImagePipeline.Configuration.networkAccess` is expensive, a stored image of any age is
  /// served; without one, the request fails with ``LoadError/Code/offline``. This also applies to prefetches. Defaults
  /// to `true`.
  public var allowsExpensiveNetworkAccess: Bool {
    get { shared.fields.allowsExpensiveNetworkAccess }
    set { change(keepsKeys: true) { $0.allowsExpensiveNetworkAccess = newValue } }
  }

  /// A Boolean value that indicates whether a download continues at the lowest priority after its last caller has left.
  ///
  /// The bytes are fetched without decoding, and stored if they have the header of an image. A download that has not
  /// begun does not continue, nor does one whose bytes may not be stored on disk (``cacheAccess``). Defaults to
  /// `false`.
  public var continuesDownload: Bool {
    get { shared.fields.continuesDownload }
    set { change(keepsKeys: true) { $0.continuesDownload = newValue } }
  }

  /// The forms of the image that are stored in the data cache; defaults to `nil`, the pipeline's policy.
  ///
  /// Images of a file are stored only if this is set, and ``cachePartition`` names the version of the file, such as its
  /// time of change: an image of that version is then read in place of the file. The file's bytes are never stored.
  public var storagePolicy: StoragePolicy? {
    get { shared.fields.storagePolicy }
    set { change(keepsKeys: true) { $0.storagePolicy = newValue } }
  }

  /// The caches that the request may read and write.
  ///
  /// It does not restrict explicit calls of ``ImagePipeline/cache``. Defaults to ``CacheAccess/all``.
  public var cacheAccess: CacheAccess {
    get { shared.fields.cacheAccess }
    set { change(keepsKeys: true) { $0.cacheAccess = newValue } }
  }

  /// The header fields to send, in order.
  ///
  /// Defaults to none. `Cache-Control` (`no-cache`, `no-store`, `max-age`, `max-stale`, `min-fresh`, `only-if-cached`)
  /// also holds for the pipeline's caches, in addition to ``cachePolicy`` and ``cacheAccess``.
  /// ```swift
  /// request.headers["Accept-Language"] = "eo"
  /// ```
  public var headers: HTTPFields {
    get { shared.fields.headers }
    set { change { $0.headers = newValue } }
  }

  /// The parts of an HTTP request besides its URL and header fields.
  var http: HTTPOptions {
    get { shared.fields.http }
    set { change { $0.http = newValue } }
  }

  /// The names of the ``headers`` whose values change the response, so that responses are cached separately.
  ///
  /// `Authorization` always counts. Defaults to none.
  public var significantHeaders: Set<String> {
    get { shared.fields.significantHeaders }
    set { change { $0.significantHeaders = newValue } }
  }

  /// The user or group for whom the image is loaded, or the version of a file: different partitions never share a
  /// response; defaults to `nil`.
  public var cachePartition: String? {
    get { shared.fields.cachePartition }
    set { change { $0.cachePartition = newValue } }
  }

  /// The replacement for the URL in keys, for URLs that change while the image does not, such as signed URLs.
  ///
  /// Defaults to `nil`, the URL itself.
  public var cacheID: String? {
    get { shared.fields.cacheID }
    set { change { $0.cacheID = newValue } }
  }

  /// The values of the fields that `Vary` names, if the plain key belongs to another variant; see ``VaryVariants``.
  var variation: HTTPFields {
    get { shared.fields.variation }
    set { change { $0.variation = newValue } }
  }

  /// A Boolean value that indicates whether the response also has the encoded bytes; the image is then neither read
  /// from memory nor stored there.
  package var keepsEncodedData: Bool {
    get { shared.fields.keepsEncodedData }
    set { change(keepsKeys: true) { $0.keepsEncodedData = newValue } }
  }

  /// A Boolean value that indicates whether no stale image may be served during revalidation, since the caller already
  /// shows it.
  package var revalidates: Bool {
    get { shared.fields.revalidates }
    set { change(keepsKeys: true) { $0.revalidates = newValue } }
  }

  /// A Boolean value that indicates whether the pixels must be an exact decode of the bytes.
  ///
  /// Encoding needs this, since its result must not depend on the contents of the caches.
  var requiresExactPixels: Bool {
    get { shared.fields.requiresExactPixels }
    set { change(keepsKeys: true) { $0.requiresExactPixels = newValue } }
  }

  /// The lane in which the image waits to be made for encoding: the name of a server's client.
  package var lane: ByteString {
    get { shared.fields.lane }
    set { change(keepsKeys: true) { $0.lane = newValue } }
  }

  var keys: RequestKeys { shared.keys }

  /// Makes all keys at once, whereas a look-up in memory would make its own key and drop it.
  func makeKeys() { _ = shared.keys }

  var fields: Fields { shared.fields }

  /// The name of the request in messages.
  package var name: String { keys.source.description }

  /// The requests to be tried in order, if there are several sources.
  var alternatives: [ImageRequest]? { shared.fields.alternatives }

  /// The index of the alternative whose error is reported if all fail; a missing thumbnail is not a failure.
  var primarySource: Int {
    alternatives?.firstIndex { !$0.source.isThumbnail } ?? 0
  }

  /// Returns a request that loads a small picture of its file if there is one, and the file otherwise.
  ///
  /// Such images are cached separately from the file's own, and no images are made from them, but both are removed
  /// together.
  ///
  /// - Parameter read: A closure that returns the encoded picture for the request's size, or throws. It is called on a
  ///   thread that may block.
  /// - Returns: The request, unchanged unless its source is a file.
  package func preferring(thumbnail read: @escaping @Sendable () throws -> Data) -> ImageRequest {
    guard case .file(let path, let isURL) = source.kind else { return self }
    var request = self
    request.source = .first(of: [ImageSource(kind: .thumbnail(of: path, isURL: isURL, read)), source])
    return request
  }

  /// Replaces the requests for the several sources after each has been rewritten.
  mutating func setAlternatives(_ alternatives: [ImageRequest]) {
    var fields = shared.fields
    fields.alternatives = alternatives
    shared = Storage(fields)
  }

  /// A Boolean value that indicates whether the download may stop once its beginning suffices for the size.
  var allowsPartialBody: Bool { quality == .fast && !animates && !keepsEncodedData && !continuesDownload && isPlainGet }

  /// A Boolean value that indicates whether a pipeline's delegate has rewritten the request.
  var isPrepared: Bool {
    get { shared.fields.isPrepared }
    set { change(keepsKeys: true) { $0.isPrepared = newValue } }
  }

  /// Returns `true` if one is a copy of the other, and neither has been changed since.
  func isCopy(of other: ImageRequest) -> Bool { shared === other.shared }

  /// The key of the image in memory.
  package var imageKey: CacheKey { shared.imageKey }

  /// The key of the bytes on disk.
  package var fetchKey: CacheKey { keys.fetch }

  /// Returns `true` if both request the same image, at any priority.
  package func isSame(as other: ImageRequest) -> Bool {
    shared === other.shared
      || (imageKey == other.imageKey && cachePolicy == other.cachePolicy && cacheAccess == other.cacheAccess)
  }

  /// Changes the fields; a change that affects no key keeps the keys, if they have been made.
  mutating func change(keepsKeys: Bool = false, _ body: (inout Fields) -> Void) {
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
    // These come first, so that a look-up in memory finds them beside the keys.
    var cachePolicy = CachePolicy.standard
    var cacheAccess = CacheAccess.all
    var keepsEncodedData = false
    var revalidates = false
    var requiresExactPixels = false
    var source: ImageSource
    var size: TargetSize?
    var processors: [ImageProcessor]
    var scale: Double?
    var priority: Priority
    var decoding = RequestKeys.Decoding()
    var userInfo: [String: any Sendable] = [:]
    var previews = PreviewPolicy()
    var placeholder: Placeholder?
    var continuesDownload = false
    var allowsExpensiveNetworkAccess = true
    var storagePolicy: StoragePolicy?
    var headers: HTTPFields = [:]
    var significantHeaders: Set<String> = []
    var variation: HTTPFields = [:]
    var http = HTTPOptions()
    var cachePartition: String?
    var cacheID: String?
    var isPrepared = false
    var lane = ByteString("")
    /// The requests for the several sources.
    var alternatives: [ImageRequest]?

    /// The number of pixels in a point.
    var pointScale: Double { scale ?? size?.scale ?? 1 }
    /// The names of the processors at that scale.
    var processorNames: [String] { processors.map { $0.identifier(atScale: pointScale) } }
  }

  @safe
  private final class Storage: Sendable {
    // The keys are read at every look-up and written once: a lock would cost more than the look-up. The atomic holds
    // one retain, released in `deinit`, and is never replaced, so a loaded reference lives as long as `self`.
    private let cachedKeys = unsafe Atomic<Unmanaged<RequestKeys>?>(nil)
    private let wasAsked = Atomic(false)
    let fields: Fields

    init(_ fields: consuming Fields, keys: RequestKeys? = nil) {
      self.fields = fields
      if let keys { keep(keys) }
    }

    deinit { unsafe cachedKeys.load(ordering: .acquiring)?.release() }

    /// Stores the keys unless others are stored already, and returns the stored keys.
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

    /// The key of the image; a request made for a single look-up in memory needs no other.
    var imageKey: CacheKey {
      if let keys = knownKeys { return keys.image }
      guard wasAsked.exchange(true, ordering: .relaxed) else { return RequestKeys.Parts(fields).image }
      return keys.image
    }

    // If two threads make the keys at once, the first thread's keys are kept.
    var keys: RequestKeys { knownKeys ?? keep(RequestKeys(fields)) }
  }
}
