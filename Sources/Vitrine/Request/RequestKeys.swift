package import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// The cache keys of a request: one for each stage, each an extension of the one before, all in one buffer.
final class RequestKeys: Sendable {
  /// The key of the image; it comes first, since a look-up in memory needs no other key.
  let image: CacheKey
  /// The source to load, for the requested size.
  let source: ImageSource
  /// The http or https URL of the source, if there is one.
  let url: HTTPURL?
  /// A Boolean value that indicates whether a download may continue: a plain `GET` without a `Range` field.
  let allowsResuming: Bool
  /// The keys of each of several sources; `nil` for a single source.
  private let alternatives: [RequestKeys]?
  /// A Boolean value that indicates whether there are several sources, each with keys of its own.
  var hasAlternatives: Bool { alternatives != nil }
  /// The key of the bytes: the source and, for a URL, everything that changes the response.
  let fetch: CacheKey
  /// The key of the bytes without the values of the fields that `Vary` names; see ``VaryVariants``.
  let plain: CacheKey
  /// The key of the decoded image before any processing.
  let decode: CacheKey
  /// The ends of the keys after each processor.
  private let stepEnds: [Int]

  init(_ fields: ImageRequest.Fields) {
    let parts = Parts(fields)
    (image, source, url, stepEnds) = (parts.image, parts.source, parts.url, parts.stepEnds)
    fetch = image.prefix(parts.fetchEnd)
    plain = parts.plainEnd == parts.fetchEnd ? fetch : image.prefix(parts.plainEnd)
    decode = parts.stepEnds.isEmpty ? image : image.prefix(parts.decodeEnd)
    alternatives = fields.alternatives?.map(\.keys)
    allowsResuming = fields.http.isPlainGet && fields.headers["Range"] == nil
  }

  /// Returns the key of the image after its first `step` processors.
  func key(step: Int) -> CacheKey {
    if step == stepEnds.count { return image }
    return step == 0 ? decode : image.prefix(stepEnds[step - 1])
  }

  /// Returns `true` if both load from the same URL; sizes, processors, header fields and users may differ.
  func hasSource(of other: RequestKeys) -> Bool {
    switch (source.kind, other.source.kind) {
    // Text that is not a URL is compared as it is.
    case (.url(let text), .url(let otherText)): url == other.url && (url != nil || text == otherText)
    case (.inline(_, let hash), .inline(_, let otherHash)): hash == otherHash
    default: source.filePath.map { $0 == other.source.filePath } ?? false
    }
  }

  /// Returns `true` if an image of this source may be made from the other's bytes.
  func mayUse(_ other: RequestKeys) -> Bool {
    if let alternatives { return alternatives.contains { $0.mayUse(other) } }
    return fetch == other.fetch || hasSource(of: other)
  }

  /// The common prefix of the keys of all images made from the bytes.
  var images: CacheKey { Self.images(of: fetch) }

  /// Returns the common prefix of the keys of all images made from the bytes of a key.
  static func images(of fetch: CacheKey) -> CacheKey { fetch.extended { $0.append(imageMark) } }

  private static let imageMark = "decode"
  static let variationMark = "vary"

  static func append(_ variation: HTTPFields, _ key: inout CacheKey.Builder) {
    guard !variation.isEmpty else { return }
    key.append(variationMark)
    for field in variation {
      key.append(field.name)
      key.append(field.value)
    }
  }

  /// Returns the processors of a variant by its key; `nil` for another frame or colour space, and for keys that are not
  /// of an image.
  func processors(ofVariant key: CacheKey) -> [CacheKey.Part]? {
    guard key.isExtension(of: fetch), let own = Self.parts(of: decode, after: fetch),
      let parts = Self.parts(of: key, after: fetch), parts.count > Self.colorSpaceIndex
    else { return nil }
    let isAlike = [0, Self.frameIndex, Self.colorSpaceIndex].allSatisfy { parts[$0] == own[$0] }
    return isAlike ? Array(parts[(Self.colorSpaceIndex + 1)...].drop(while: Decoding.extras.contains)) : nil
  }

  private static func parts(of key: CacheKey, after source: CacheKey) -> [CacheKey.Part]? {
    CacheKey(bytes: Array(key.bytes[source.bytes.count...])).parts
  }

  // The indices of the frame and of the colour space among the parts that `decode` adds. The first part is the mark.
  private static let (frameIndex, colorSpaceIndex) = (8, 11)

  /// The key of a request's image, and the ends of earlier stages within it.
  struct Parts {
    let image: CacheKey
    let source: ImageSource
    let url: HTTPURL?
    let plainEnd: Int
    let fetchEnd: Int
    let decodeEnd: Int
    private(set) var stepEnds: [Int] = []

    init(_ fields: ImageRequest.Fields) {
      let source = fields.source.resolved(for: fields.size)
      var url: HTTPURL?
      if case .url(let text) = source.kind { url = try? HTTPURL(text) }
      var key = CacheKey.Builder(reserving: 160 + (url?.string.utf8.count ?? 64))
      key.append(fields.cachePartition)
      RequestKeys.append(source, url, fields, &key)
      plainEnd = key.count
      RequestKeys.append(fields.variation, &key)
      fetchEnd = key.count
      key.append(RequestKeys.imageMark)
      key.append(fields.size?.width)
      key.append(fields.size?.height)
      key.append(fields.size?.mode.rawValue)
      key.append(fields.size?.enlarges ?? false)
      key.append(fields.size?.anchor.x)
      key.append(fields.size?.anchor.y)
      if fields.size?.rules != nil { key.append(fields.size?.description) }
      fields.decoding.append(to: &key)
      if source.isThumbnail { key.append(Decoding.thumbnailMark) }
      decodeEnd = key.count
      for processor in fields.processors {
        key.append(processor.identifier(atScale: fields.pointScale))
        stepEnds.append(key.count)
      }
      (self.source, self.url, image) = (source, url, key.key())
    }
  }

  /// The parameters of a decode, except the size.
  struct Decoding: Equatable, Sendable {
    var quality = DecodeQuality.balanced
    var frame = 0
    var filter = ResamplingFilter.lanczos3
    var usesLinearLight = false
    var colorSpace = ColorSpace.sRGB
    var dynamicRange = DynamicRange.standard
    var animates = false
    var acceptsPartial = false

    func append(to key: inout CacheKey.Builder) {
      if self == Decoding() {
        key.append(raw: Self.usual)
      } else if self == Decoding(animates: true) {
        key.append(raw: Self.usualMoving)
      } else {
        appendParts(to: &key)
      }
    }

    private func appendParts(to key: inout CacheKey.Builder) {
      key.append(quality.rawValue)
      key.append(frame)
      key.append(filter.rawValue)
      key.append(usesLinearLight)
      key.append(colorSpace.rawValue)
      // Keys on disk, from earlier versions, must stay valid.
      if dynamicRange != .standard { key.append(dynamicRange.rawValue) }
      if animates { key.append(Self.motionMark) }
      if acceptsPartial { key.append(Self.partialMark) }
    }

    private static let motionMark = "animates"
    private static let partialMark = "partial"
    /// The mark is not text, so that it is not taken for a processor.
    static let thumbnailMark = CacheKey.Part.flag(true)

    /// The parts that may follow the colour space; no processor has such a name.
    static let extras: Set<CacheKey.Part> = [
      .text(DynamicRange.high.rawValue), .text(motionMark), .text(partialMark), thumbnailMark,
    ]

    /// The bytes for the parameters of nearly all requests.
    private static let usual = CacheKey { Decoding().appendParts(to: &$0) }.bytes
    /// The bytes for the parameters of nearly all requests by views.
    private static let usualMoving = CacheKey { Decoding(animates: true).appendParts(to: &$0) }.bytes
  }

  private static func append(
    _ source: ImageSource,
    _ url: HTTPURL?,
    _ fields: ImageRequest.Fields,
    _ key: inout CacheKey.Builder,
  ) {
    switch source.kind {
    case .url(let address):
      let isPlain = fields.http.isPlainGet
      key.append(isPlain ? "url" : "request")
      key.append(fields.cacheID ?? url?.string ?? address)
      if !isPlain { append(fields.http, &key) }
      for header in fields.headers.sorted(by: { $0.name.lowercased() < $1.name.lowercased() }) {
        let name = header.name.lowercased()
        guard name == "authorization" || fields.significantHeaders.contains(where: { $0.lowercased() == name }) else {
          continue
        }
        key.append(name)
        key.append(header.value)
      }
    // A thumbnail has other bytes than its file, but a request for all images of the file includes it.
    case .file(let path, _), .thumbnail(let path, _, _):
      key.append("file")
      key.append(path)
    case .resource(let name, let folder):
      key.append("resource")
      key.append(name)
      key.append(folder)
    case .data(let data, let id, let hash):
      key.append("data")
      key.append(id)
      if let hash { append(hash, length: data.count, &key) }
    case .inline(let address, let hash):
      key.append("inline")
      append(hash, length: address.utf8.count, &key)
    case .closure(let id, _):
      key.append("closure")
      key.append(id)
    // A source that depends on the size has been resolved before.
    case .sized: break
    case .first(let sources):
      key.append("first")
      key.append(sources.count)
      for alternative in fields.alternatives ?? [] { key.append(alternative.keys.fetch) }
    }
  }

  private static func append(_ hash: ContentID, length: Int, _ key: inout CacheKey.Builder) {
    key.append(length)
    key.append(Int(truncatingIfNeeded: hash.low))
    key.append(Int(truncatingIfNeeded: hash.high))
  }

  /// Appends method and body.
  ///
  /// The body is appended as a hash without known collisions, since it may be long, secret, or chosen by an attacker.
  private static func append(_ http: HTTPOptions, _ key: inout CacheKey.Builder) {
    key.append(http.method.name)
    key.append(http.body.flatMap { $0.isEmpty ? nil : .bytes(SHA256.hash($0)) } ?? CacheKey.Part.none)
  }
}

extension CacheKey {
  /// The URL, or its replacement, whose bytes a pipeline stores under this key; `nil` for any other key.
  package var address: String? {
    // The first part is the cache partition.
    guard let parts, parts.count >= 3, [.text("url"), .text("request")].contains(parts[1]),
      case .text(let address) = parts[2]
    else { return nil }
    return ObjectURL(standIn: address)?.text ?? address
  }
}
