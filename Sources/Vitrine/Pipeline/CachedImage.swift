import VitrineCaching
import VitrineHTTP
public import VitrineImaging
import VitrineRuntime

/// An image in the memory cache, with what its freshness depends on.
///
/// It carries the content id and the expiry of the bytes that it was made of, so it is never served as fresh for longer
/// than they may be.
public struct CachedImage: Sendable, ObjectValue {
  // Alone, so that the cache keeps the object itself.
  let loaded: LoadedImage

  init(_ loaded: LoadedImage) { self.loaded = loaded }

  /// The pixels.
  public var image: Bitmap { loaded.image }

  /// As it was loaded.
  var response: ImageResponse { ImageResponse(loaded) }
  var info: ImageInfo { loaded.info }
  var validity: Validity { loaded.validity }
  var rendition: Rendition? { loaded.rendition }
  var contentID: ContentID { loaded.contentID }

  func isFresh(at now: @autoclosure () -> Date, _ policy: CachePolicy) -> Bool {
    validity.isFresh(at: now(), policy)
  }

  /// The same for other pixels, made of these.
  func processed(_ image: Bitmap) -> CachedImage { CachedImage(LoadedImage(loaded, image: image, nil)) }

  /// The same in another size, made in memory.
  func resampled(_ image: Bitmap, _ rendition: Rendition) -> CachedImage {
    CachedImage(LoadedImage(loaded, image: image, rendition, from: .memory))
  }

  /// The same image, after its bytes were found to be these still.
  func confirmed(by bytes: FetchedBytes) -> CachedImage { CachedImage(LoadedImage(image, info, of: bytes, rendition)) }

  /// The same image, as it is served from memory.
  func fromMemory() -> CachedImage { CachedImage(LoadedImage(loaded, rendition, from: .memory)) }

  /// The same image, served although its time is over.
  func stale(from origin: ImageResponse.Origin = .memory, isRevalidationDue: Bool = false) -> CachedImage {
    CachedImage(LoadedImage(loaded, rendition, from: origin, isStale: true, isRevalidationDue: isRevalidationDue))
  }

  func with(_ validity: Validity) -> CachedImage { CachedImage(LoadedImage(loaded, rendition, validity: validity)) }
}

/// For how long bytes, and whatever is made of them, may be served without asking.
struct Validity: Sendable, Hashable {
  /// Until when; `nil` for ever.
  let expires: Date?
  /// When their server last confirmed them; `nil` where there is nobody to ask.
  let confirmed: Date?
  /// Until when it may be served if its server cannot be reached or fails; `nil` for not at all.
  let usableOnErrorUntil: Date?
  /// Until when it may be served while its server is asked; `nil` for not at all.
  var usableWhileRevalidatingUntil: Date?
  /// What the request said in the fields that `Vary` named; empty for most.
  var variation: HTTPFields = [:]
  /// Whether a cache may keep it at all.
  let isKept: Bool

  init(
    expires: Date?,
    confirmed: Date?,
    usableOnErrorUntil: Date?,
    usableWhileRevalidatingUntil: Date? = nil,
    variation: HTTPFields = [:],
    isKept: Bool,
  ) {
    (self.expires, self.confirmed, self.isKept) = (expires, confirmed, isKept)
    (self.usableOnErrorUntil, self.variation) = (usableOnErrorUntil, variation)
    self.usableWhileRevalidatingUntil = usableWhileRevalidatingUntil
  }

  /// That of bytes which came with a response.
  init(of stored: StoredResponse, at now: Date) {
    let decision = Freshness().decide(stored, for: stored.variation, now: now)
    self.init(
      // What is to be asked for every time is over from the start, whatever its age says.
      expires: decision.action == .serve ? decision.expires : decision.expires.map { min($0, now) },
      confirmed: stored.received,
      usableOnErrorUntil: decision.usableOnErrorUntil,
      usableWhileRevalidatingUntil: decision.usableWhileRevalidatingUntil,
      variation: stored.variation,
      isKept: stored.isStorable,
    )
  }

  /// That of sources that do not say.
  static let unlimited = Validity(expires: nil, confirmed: nil, usableOnErrorUntil: nil, isKept: true)

  /// Whether it may be served for now, if its server is asked behind it.
  func isUsableWhileRevalidating(at now: @autoclosure () -> Date, _ request: ImageRequest) -> Bool {
    guard request.policy == .standard, !request.revalidates, let until = usableWhileRevalidatingUntil else {
      return false
    }
    return now() < until
  }

  /// Whether a request that says this would have had the same answer.
  func answers(_ fields: @autoclosure () -> HTTPFields) -> Bool {
    guard !variation.isEmpty else { return true }
    let fields = fields()
    return variation.allSatisfy { (fields[$0.name] ?? "") == $0.value }
  }

  /// Whether what is fresh for a policy is so against what its server said.
  ///
  /// An age that the request names takes the place of that.
  func isOverdue(at now: Date, _ policy: CachePolicy) -> Bool {
    if case .maxAge = policy { return false }
    return expires.map { $0 <= now } ?? false
  }

  /// `now` is asked for only where it matters.
  func isFresh(at now: @autoclosure () -> Date, _ policy: CachePolicy) -> Bool {
    switch policy {
    case .cacheFirst, .cacheOnly: true
    case .standard, .reload: expires.map { now() < $0 } ?? true
    case .maxAge(let age): confirmed.map { now() < $0.addingTimeInterval(age / .seconds(1)) } ?? true
    }
  }
}

/// What makes one decoded image of a source serve a request for another: all but its size, which its pixels say.
struct Rendition: Sendable, Hashable {
  let frame: Int
  let quality: DecodeQuality
  /// Whether it shows all of the source, in its aspect.
  let isWhole: Bool
  var filter = ResamplingFilter.lanczos3
  var linearLight = false
  var colorSpace = ColorSpace.sRGB

  init(frame: Int, quality: DecodeQuality, isWhole: Bool) {
    (self.frame, self.quality, self.isWhole) = (frame, quality, isWhole)
  }

  /// Whether it has the same colours of the same frame, made the same way; sizes and care aside.
  func isLike(_ other: Rendition) -> Bool {
    frame == other.frame && filter == other.filter && linearLight == other.linearLight
      && colorSpace == other.colorSpace
  }

  init(of info: ImageInfo, _ options: DecodeOptions) {
    (frame, quality) = (options.frame, options.quality)
    (filter, linearLight, colorSpace) = (options.filter, options.linearLight, options.colorSpace)
    let plan = try? SamplingPlan(options.size, width: info.width, height: info.height)
    let whole = SamplingPlan(width: info.width, height: info.height).crop
    isWhole = plan?.crop == whole && options.size?.mode != .exact
  }
}
