import VitrineRuntime

/// A scanner of a packet of XMP (ISO 16684-1), which knows the names of properties whatever their prefixes.
struct XMPScanner {
  /// What a tag stands for.
  enum Role {
    /// A `rdf:Description` of the image; its attributes are properties.
    case description
    /// A property of the image.
    case property
    /// Anything else, such as a part of a property.
    case other
  }

  /// A tag with its name, and the names of its attributes, in the prefixes of the specification.
  struct Tag {
    let name: String
    let attributes: [(name: String, attribute: XMLScanner.Attribute)]
    let role: Role
    let xml: XMLScanner.Tag
  }

  enum Token {
    case open(Tag)
    case close(Range<Int>)
    case text(Range<Int>)
    case literal(Range<Int>)
  }

  private(set) var xml: XMLScanner
  /// The number of elements that are open.
  private(set) var depth = 0
  /// The prefix of the specification for each prefix of the packet.
  private var prefixes: [Substring: String] = [:]
  /// The depth of the element `rdf:RDF`.
  private var root: Int?

  private static let namespaces = [
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#": "rdf", "http://ns.adobe.com/tiff/1.0/": "tiff",
    "http://ns.adobe.com/exif/1.0/": "exif", "http://ns.adobe.com/xap/1.0/": "xmp",
    "http://ns.adobe.com/xap/1.0/g/img/": "xmpGImg", "http://ns.adobe.com/xmp/note/": "xmpNote",
    "http://purl.org/dc/elements/1.1/": "dc", "http://ns.adobe.com/photoshop/1.0/": "photoshop",
    "http://ns.adobe.com/hdr-gain-map/1.0/": "hdrgm", "http://ns.apple.com/HDRGainMap/1.0/": "HDRGainMap",
    "http://ns.google.com/photos/1.0/camera/": "GCamera", "http://ns.google.com/photos/1.0/container/": "Container",
    "http://ns.google.com/photos/1.0/image/": "GImage", "http://ns.google.com/photos/1.0/depthmap/": "GDepth",
    "http://www.metadataworkinggroup.com/schemas/regions/": "mwg-rs", "http://ns.adobe.com/xmp/sType/Area#": "stArea",
    "http://ns.adobe.com/xap/1.0/sType/Dimensions#": "stDim",
    "http://ns.google.com/photos/1.0/audio/": "GAudio", "http://ns.google.com/photos/dd/1.0/device/": "Device",
  ]

  /// Returns `nil` if the packet is not in UTF-8.
  init?(_ packet: Data) {
    // Some writers end the packet with zeros.
    let bytes = Array(packet.prefix((packet.lastIndex { $0 != 0 } ?? packet.startIndex - 1) + 1 - packet.startIndex))
    guard String(decoding: bytes, as: UTF8.self).utf8.elementsEqual(bytes) else { return nil }
    xml = XMLScanner(bytes)
  }

  mutating func next() -> Token? {
    switch xml.next() {
    case nil: return nil
    case .text(let range): return .text(range)
    case .literal(let range): return .literal(range)
    case .close(let range):
      depth -= 1
      if depth == root { root = nil }
      return .close(range)
    case .open(let tag):
      let result = resolved(tag)
      if !tag.isEmpty {
        // Directly inside x:xmpmeta, or alone.
        if result.name == "rdf:RDF", depth <= 1, root == nil { root = depth }
        depth += 1
      }
      return .open(result)
    }
  }

  private mutating func resolved(_ tag: XMLScanner.Tag) -> Tag {
    for attribute in tag.attributes where attribute.name.hasPrefix("xmlns:") {
      let namespace = xml.string(attribute.value)
      prefixes[attribute.name.dropFirst(6)] = Self.namespaces[namespace] ?? "{\(namespace)}"
    }
    let role: Role = root.map { depth == $0 + 1 ? .description : depth == $0 + 2 ? .property : .other } ?? .other
    return Tag(
      name: canonical(tag.name),
      attributes: tag.attributes.map { (canonical($0.name), $0) },
      role: role,
      xml: tag,
    )
  }

  /// Names of other namespaces get these in the place of a prefix, since a known namespace may have the same prefix.
  private func canonical(_ name: String) -> String {
    guard let colon = name.firstIndex(of: ":"), let prefix = prefixes[name[..<colon]] else { return name }
    return prefix + name[colon...]
  }
}
