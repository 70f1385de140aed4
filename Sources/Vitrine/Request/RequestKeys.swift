package import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// What names the results of a request, one key for each stage, each made of the one before.
final class RequestKeys: Sendable {
  /// The image that is asked for; first, since a look-up in memory needs no other.
  let image: CacheKey
  /// Whether the source is several, each of which has keys of its own.
  let hasAlternatives: Bool
  /// The bytes: source, and for an address whatever changes the answer.
  let fetch: CacheKey
  /// The decoded image before any processing.
  let decode: CacheKey
  /// The image after each processor.
  let steps: [CacheKey]

  /// What the keys of all images begin with that are made of the bytes.
  var images: CacheKey { fetch.extended { $0.append(Self.imageMark) } }

  private static let imageMark = "decode"

  /// What was done to an image of the same bytes, by its key; `nil` if it is of another frame, in other colours, or no image.
  func processors(ofVariant key: CacheKey) -> [CacheKey.Part]? {
    guard key.isExtension(of: fetch), let own = Self.parts(of: decode, after: fetch),
      let parts = Self.parts(of: key, after: fetch), parts.count >= own.count
    else { return nil }
    let isAlike = [0, Self.frameIndex, own.count - 1].allSatisfy { parts[$0] == own[$0] }
    return isAlike ? Array(parts[own.count...]) : nil
  }

  private static func parts(of key: CacheKey, after source: CacheKey) -> [CacheKey.Part]? {
    CacheKey(bytes: Array(key.bytes[source.bytes.count...])).parts
  }

  /// Where the frame stands among the parts that `decode` adds; the first is the mark, the last the colours.
  private static let frameIndex = 8

  /// That of the image after its first `step` processors.
  func key(step: Int) -> CacheKey { step == 0 ? decode : steps[step - 1] }

  init(_ fields: ImageRequest.Fields) {
    let fetch = CacheKey { key in
      key.append(fields.scope)
      Self.append(fields.source.resolved(for: fields.size), fields, &key)
    }
    let decode = fetch.extended { key in
      key.append(Self.imageMark)
      key.append(fields.size?.width.map(CacheKey.Part.number) ?? .none)
      key.append(fields.size?.height.map(CacheKey.Part.number) ?? .none)
      key.append(fields.size?.mode.rawValue)
      key.append(fields.size?.enlarges ?? false)
      key.append(fields.size.map { .number($0.anchor.x) } ?? .none)
      key.append(fields.size.map { .number($0.anchor.y) } ?? .none)
      key.append(fields.quality.rawValue)
      key.append(fields.frame)
      key.append(fields.filter.rawValue)
      key.append(fields.linearLight)
      key.append(fields.colorSpace.rawValue)
    }
    var steps: [CacheKey] = []
    for processor in fields.processors {
      steps.append((steps.last ?? decode).extended { $0.append(processor.identifier) })
    }
    hasAlternatives = fields.source.alternatives != nil
    (self.fetch, self.decode, self.steps) = (fetch, decode, steps)
    image = steps.last ?? decode
  }

  private static func append(_ source: ImageSource, _ fields: ImageRequest.Fields, _ key: inout CacheKey.Builder) {
    switch source.kind {
    case .url(let address):
      key.append("url")
      key.append(fields.identity ?? (try? HTTPURL(address))?.string ?? address)
      for header in fields.headers.sorted(by: { $0.name.lowercased() < $1.name.lowercased() }) {
        let name = header.name.lowercased()
        guard name == "authorization" || fields.significantHeaders.contains(where: { $0.lowercased() == name }) else {
          continue
        }
        key.append(name)
        key.append(header.value)
      }
    case .file(let path, _):
      key.append("file")
      key.append(path)
    case .resource(let name, let folder):
      key.append("resource")
      key.append(name)
      key.append(folder)
    case .data(_, let id):
      key.append("data")
      key.append(id)
    case .inline(let address, let hash):
      key.append("inline")
      key.append(address.utf8.count)
      key.append(Int(truncatingIfNeeded: hash.low))
      key.append(Int(truncatingIfNeeded: hash.high))
    case .closure(let id, _):
      key.append("closure")
      key.append(id)
    case .sized(let address):
      append(.url(address(fields.size)), fields, &key)
    case .first(let sources):
      key.append("first")
      key.append(sources.count)
      if let alternatives = fields.alternatives {
        for alternative in alternatives { key.append(alternative.keys.fetch) }
      } else {
        for source in sources { append(source.resolved(for: fields.size), fields, &key) }
      }
    }
  }
}

extension CacheKey {
  /// The address, or what stands for it, whose bytes a pipeline keeps under this key; `nil` for a key of anything else.
  package var address: String? {
    // The first part is the scope.
    guard let parts, parts.count >= 3, parts[1] == .text("url"), case .text(let address) = parts[2] else { return nil }
    return address
  }
}
