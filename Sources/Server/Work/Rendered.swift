import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// An image, or facts about one, ready to be sent to any number of clients, each by its own ``AnswerTerms``.
final class Rendered: Sendable {
  let body: Body
  let mediaType: String
  /// The extension of the file's name, without the dot.
  let fileExtension: String
  /// The entity tag, in quotes; `nil` for none.
  let tag: String?
  /// The time at which the source changed, by its server's word, or else at which this server first had the image; `nil`
  /// for none.
  let modified: Date?
  /// The end of freshness; `nil` for ever.
  let expires: Date?
  let usableWhileRevalidatingUntil: Date?
  let usableOnErrorUntil: Date?
  let isStale: Bool
  /// False if no cache may store it.
  let isStorable: Bool
  /// True if no shared cache may store it.
  let isPrivate: Bool
  /// The kind of the source's damage; `nil` if the image is whole.
  let damage: ImageError.Code?
  let tier: String
  /// The times of the stages that made it; `nil` if there were none.
  let times: StageTimes?
  /// The fields `Link`, in order.
  let links: [String]
  /// The source, for purges.
  let source: CacheKey

  /// Returns `nil` if there is no room for its body.
  init?(
    _ image: EncodedImage,
    for order: Order,
    at now: Date,
    _ times: StageTimes? = nil,
    links: [String] = [],
    _ bodies: BodyBudget,
  ) {
    tag = image.contentID.map { Self.tag($0, order.key, image.format.name) }
    guard let body = bodies.body(image.data, tag: tag) else { return nil }
    self.body = body
    // None is later than its answer (RFC 9110, section 8.8.2.1).
    modified = min(image.modified ?? now, now)
    (isPrivate, damage, self.times) = (image.isPrivate, image.damage?.code, times)
    (mediaType, fileExtension) = (image.format.mediaType, image.format.fileExtension)
    expires = image.expires
    usableWhileRevalidatingUntil = image.usableWhileRevalidatingUntil
    usableOnErrorUntil = image.usableOnErrorUntil
    (isStale, isStorable, tier) = (image.isStale, image.isStorable, image.origin.rawValue)
    (source, self.links) = (order.request.fetchKey, links)
  }

  /// Makes facts about an image, which are not stored.
  init(json: String, for order: Order, tier: String) {
    (body, mediaType, fileExtension, tag, modified) = (Body(json), "application/json", "json", nil, nil)
    expires = nil
    (usableWhileRevalidatingUntil, usableOnErrorUntil, isStale, isStorable) = (nil, nil, false, false)
    (isPrivate, damage, times, links) = (false, nil, nil, [])
    (self.tier, source) = (tier, order.request.fetchKey)
  }

  /// The tag says which bytes of which source these are, so that it is the same on every machine.
  private static func tag(_ content: ContentID, _ key: ByteString, _ format: String) -> String {
    var hash = ContentHash()
    hash.append(Data(key.bytes))
    hash.append(Data("\n\(format)".utf8))
    let (name, variant) = (content.high.hexDigits() + content.low.hexDigits(), hash.value.low.hexDigits())
    return "\"\(name)-\(variant)\""
  }

  /// True if another request may have it without a look at its source.
  func isFresh(at now: Date) -> Bool { !isStale && (expires.map { now < $0 } ?? true) }
}

/// The fields of a request that make it conditional.
struct Conditions: Sendable {
  var ifNoneMatch: String?
  var ifModifiedSince: String?

  /// Returns true if the client has the image already (RFC 9110, section 13.1).
  func isMet(by rendered: Rendered) -> Bool {
    guard let list = ifNoneMatch else {
      guard let modified = rendered.modified,
        let since = ifModifiedSince.flatMap({ HTTPDate.parseStrictly($0, now: modified) })
      else { return false }
      // The field has whole seconds.
      return modified.timeIntervalSince1970.rounded(.down) <= since.timeIntervalSince1970
    }
    guard let tag = rendered.tag else { return false }
    return list.split(separator: ",").contains { item in
      let item = item.trimmingSpaces
      // The comparison is weak.
      return item == "*" || item == tag || (item.hasPrefix("W/") && item.dropFirst(2) == tag)
    }
  }
}

extension Substring {
  /// The text without spaces and tabs around it.
  var trimmingSpaces: Substring {
    var text = self
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text
  }
}

/// The rules for the fields of answers.
struct AnswerRules: Sendable {
  var minAge: Int
  var maxAge: Int
  /// The fields of every answer.
  let harmless: [(name: String, value: String)]

  init(_ configuration: ThumbnailServer.Configuration) {
    minAge = Int(configuration.minAge.components.seconds)
    maxAge = Int(configuration.maxAge.components.seconds)
    var harmless = [("X-Content-Type-Options", "nosniff"), ("Content-Security-Policy", Self.policy)]
    if let origin = configuration.sharedOrigin { harmless.append(("Access-Control-Allow-Origin", origin)) }
    self.harmless = harmless.map { (name: $0.0, value: $0.1) }
  }

  /// The policy that makes every answer harmless as a page: an SVG of a stranger's may have scripts.
  static let policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

  /// Returns the answer that carries an image.
  func answer(
    _ rendered: Rendered,
    _ terms: AnswerTerms,
    _ conditions: Conditions,
    at now: Date,
    tier: String? = nil,
  ) -> Answer {
    let isKnown = conditions.isMet(by: rendered)
    var answer = Answer(status: isKnown ? 304 : 200, body: isKnown ? nil : rendered.body)
    answer.tier = tier ?? rendered.tier
    var fields: [(name: String, value: String)] = []
    fields.reserveCapacity(12)
    if !isKnown { fields.append(("Content-Type", rendered.mediaType)) }
    fields.append(("Cache-Control", cacheControl(rendered, terms, at: now)))
    if let tag = rendered.tag { fields.append(("ETag", tag)) }
    if let modified = rendered.modified { fields.append(("Last-Modified", HTTPTime.http(modified))) }
    if let vary = Self.vary(terms) { fields.append(vary) }
    for link in rendered.links { fields.append(("Link", link)) }
    if let damage = rendered.damage { fields.append(("Vitrine-Damage", damage.description)) }
    if let name = terms.fileName {
      let file = "\(name).\(rendered.fileExtension)"
      fields.append(("Content-Disposition", ContentDisposition.text(file, isAttachment: terms.isAttachment)))
    }
    fields += harmless
    answer.fields = fields
    return answer
  }

  /// Returns `Vary`, if other requests for the same URL may have another answer.
  static func vary(_ terms: AnswerTerms) -> (name: String, value: String)? {
    terms.vary.isEmpty ? nil : ("Vary", terms.vary.joined(separator: ", "))
  }

  /// Returns `Cache-Control`, from the freshness of the source.
  func cacheControl(_ rendered: Rendered, _ terms: AnswerTerms, at now: Date) -> String {
    guard rendered.isStorable else { return "no-store" }
    let left = rendered.expires.map { Int(clamping: max(0, min($0.timeIntervalSince(now), 1e9))) } ?? maxAge
    var age = min(max(left, minAge), max(maxAge, minAge))
    // A damaged source may be mended.
    if rendered.damage != nil { age = min(age, minAge) }
    var isPublicForever = rendered.damage == nil
    if let end = terms.expires {
      // No client may show it for longer than the URL says.
      age = min(age, Int(clamping: max(0, end.timeIntervalSince(now))))
      isPublicForever = false
    }
    var text = "\(rendered.isPrivate ? "private" : "public"), max-age=\(age)"
    guard isPublicForever, let expires = rendered.expires else { return text }
    if let seconds = Self.seconds(from: expires, to: rendered.usableWhileRevalidatingUntil) {
      text += ", stale-while-revalidate=\(seconds)"
    }
    if let seconds = Self.seconds(from: expires, to: rendered.usableOnErrorUntil) {
      text += ", stale-if-error=\(seconds)"
    }
    return text
  }

  private static func seconds(from start: Date, to end: Date?) -> Int? {
    guard let end, end > start else { return nil }
    return Int(clamping: min(end.timeIntervalSince(start), 1e9))
  }
}

/// `Content-Disposition` (RFC 6266).
enum ContentDisposition {
  static func text(_ name: String, isAttachment: Bool) -> String {
    let plain = name.unicodeScalars.map { scalar -> Character in
      let isPlain =
        scalar.isASCII && scalar.value >= 32 && scalar.value < 127 && !"\"\\%;/".unicodeScalars.contains(scalar)
      return isPlain ? Character(scalar) : "_"
    }
    let encoded = name.utf8.map { byte -> String in
      let isPlain =
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
        || [45, 46, 95].contains(byte)
      return isPlain ? String(UnicodeScalar(byte)) : "%" + byte.hexDigits(uppercase: true)
    }
    let kind = isAttachment ? "attachment" : "inline"
    return "\(kind); filename=\"\(String(plain))\"; filename*=UTF-8''\(encoded.joined())"
  }
}
