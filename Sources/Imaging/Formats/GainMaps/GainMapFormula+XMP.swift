import VitrineRuntime

// The older form, as properties of XMP in the map's own file (Adobe, "Gain Map Specification", 2023; Android, "Ultra HDR
// Image Format v1.1").
extension GainMapFormula {
  static let namespace = "http://ns.adobe.com/hdr-gain-map/1.0/"

  /// Reads the properties; returns `nil` if there are none, or if the numbers make no sense.
  init?(xmp: Data) {
    guard let texts = XMP.texts(of: Self.names, in: xmp), texts["hdrgm:Version"] != nil,
      texts["hdrgm:BaseRenditionIsHDR"]?.first?.lowercased() != "true"
    else { return nil }
    func values(_ name: String, else standard: Double?) -> SIMD3<Double>? {
      guard let list = texts["hdrgm:\(name)"] else { return standard.map { SIMD3(repeating: $0) } }
      let numbers = list.map { Double($0) }
      guard let first = numbers.first ?? nil else { return nil }
      guard numbers.count >= 3, let second = numbers[1], let third = numbers[2] else { return SIMD3(repeating: first) }
      return SIMD3(first, second, third)
    }
    guard let maximum = values("GainMapMax", else: nil), let minimum = values("GainMapMin", else: 0),
      let gamma = values("Gamma", else: 1), let before = values("OffsetSDR", else: 1 / 64),
      let after = values("OffsetHDR", else: 1 / 64), let least = values("HDRCapacityMin", else: 0),
      let most = values("HDRCapacityMax", else: nil)
    else { return nil }
    self.init(maximum: most.x)
    (self.minimum, self.maximum, self.gamma) = (minimum, maximum, gamma)
    (baseOffset, alternateOffset, baseHeadroom) = (before, after, least.x)
  }

  private static let names: Set<String> = [
    "hdrgm:Version", "hdrgm:BaseRenditionIsHDR", "hdrgm:GainMapMin", "hdrgm:GainMapMax", "hdrgm:Gamma",
    "hdrgm:OffsetSDR",
    "hdrgm:OffsetHDR", "hdrgm:HDRCapacityMin", "hdrgm:HDRCapacityMax",
  ]

  /// Returns the packet of the map's file.
  var xmp: Data {
    var attributes = ""
    var lists = ""
    func add(_ name: String, _ values: SIMD3<Double>) {
      if values.x == values.y, values.y == values.z {
        attributes += " hdrgm:\(name)=\"\(Self.text(values.x))\""
      } else {
        let items = (0..<3).map { "<rdf:li>\(Self.text(values[$0]))</rdf:li>" }.joined()
        lists += "<hdrgm:\(name)><rdf:Seq>\(items)</rdf:Seq></hdrgm:\(name)>"
      }
    }
    add("GainMapMin", minimum)
    add("GainMapMax", maximum)
    add("Gamma", gamma)
    add("OffsetSDR", baseOffset)
    add("OffsetHDR", alternateOffset)
    add("HDRCapacityMin", SIMD3(repeating: baseHeadroom))
    add("HDRCapacityMax", SIMD3(repeating: alternateHeadroom))
    return XMP.packet(
      "<rdf:Description rdf:about=\"\" xmlns:hdrgm=\"\(Self.namespace)\" hdrgm:Version=\"1.0\""
        + " hdrgm:BaseRenditionIsHDR=\"False\"\(attributes)>\(lists)</rdf:Description>"
    )
  }

  /// Returns the packet of the picture's file, which says that a map of so many bytes follows.
  ///
  /// - Parameters:
  ///   - length: The bytes of the map's file.
  ///   - other: Other properties of the picture; `nil` for none.
  /// - Returns: The packet.
  static func xmp(ofPictureBefore length: Int, adding other: Data?) -> Data {
    let name = "http://ns.google.com/photos/1.0/container/"
    func item(_ text: String) -> String {
      "<rdf:li rdf:parseType=\"Resource\"><Container:Item \(text) Item:Mime=\"image/jpeg\"/></rdf:li>"
    }
    let items = item("Item:Semantic=\"Primary\"") + item("Item:Semantic=\"GainMap\" Item:Length=\"\(length)\"")
    let description =
      "<rdf:Description rdf:about=\"\" xmlns:hdrgm=\"\(namespace)\" xmlns:Container=\"\(name)\" xmlns:Item=\"\(name)item/\""
      + " hdrgm:Version=\"1.0\"><Container:Directory><rdf:Seq>\(items)</rdf:Seq></Container:Directory></rdf:Description>"
    return other.flatMap { XMP.adding(description, to: $0) } ?? XMP.packet(description)
  }

  /// Returns a number with up to six places behind the point.
  private static func text(_ value: Double) -> String {
    let millionths = Int((value * 1e6).rounded())
    let rest = String(abs(millionths) % 1_000_000 + 1_000_000).dropFirst()
    return "\(millionths < 0 ? "-" : "")\(abs(millionths) / 1_000_000).\(rest)"
  }
}

extension XMP {
  /// Returns a packet with one description.
  static func packet(_ description: String) -> Data {
    let names = "xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\""
    return Data("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF \(names)>\(description)</rdf:RDF></x:xmpmeta>".utf8)
  }

  /// Returns a packet with one more description; `nil` if it is not written as most are.
  fileprivate static func adding(_ description: String, to packet: Data) -> Data? {
    let end = Data("</rdf:RDF>".utf8)
    guard let place = packet.firstRange(of: end)?.lowerBound,
      packet.firstRange(of: Data("xmlns:rdf=".utf8)) != nil
    else { return nil }
    return packet[packet.startIndex..<place] + Data(description.utf8) + packet[place...]
  }
}
