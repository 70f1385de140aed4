import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport

/// A packet of XMP made by hand.
enum XMPFile {
  static let namespaces = [
    "tiff": "http://ns.adobe.com/tiff/1.0/", "exif": "http://ns.adobe.com/exif/1.0/",
    "xmp": "http://ns.adobe.com/xap/1.0/", "dc": "http://purl.org/dc/elements/1.1/",
    "photoshop": "http://ns.adobe.com/photoshop/1.0/", "xmpMM": "http://ns.adobe.com/xap/1.0/mm/",
    "xmpNote": "http://ns.adobe.com/xmp/note/", "xmpGImg": "http://ns.adobe.com/xap/1.0/g/img/",
    "hdrgm": "http://ns.adobe.com/hdr-gain-map/1.0/", "t": "http://ns.adobe.com/tiff/1.0/",
    "Container": "http://ns.google.com/photos/1.0/container/", "Camera": "http://ns.google.com/photos/1.0/camera/",
    "Device": "http://example.com/device/",
  ]

  static func packet(attributes: String = "", _ elements: String = "", padding: Int = 0) -> String {
    let names = namespaces.sorted { $0.key < $1.key }.map { "xmlns:\($0.key)=\"\($0.value)\"" }
    return """
      <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF \
      xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" \
      \(names.joined(separator: " "))\(attributes.isEmpty ? "" : " \(attributes)")>\(elements)</rdf:Description>\
      </rdf:RDF></x:xmpmeta>\n\(String(repeating: " ", count: padding))<?xpacket end="w"?>
      """
  }
}

struct WrittenXMPTests {
  static func keep(_ packet: String) -> String? { keep(Data(packet.utf8)) }

  static func keep(_ packet: Data) -> String? {
    var metadata = ImageMetadata()
    (metadata.xmp, metadata.extendedXMP) = (packet, Data("<more/>".utf8))
    return MetadataPolicy.keep.written(metadata, width: 30, height: 20).xmp.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(arguments: [
    ("tiff:Orientation=\"6\"", "tiff:Orientation=\"1\""), ("t:Orientation = '6'", "t:Orientation = '1'"),
    ("tiff:ImageWidth=\"4000\" tiff:ImageLength='3000'", "tiff:ImageWidth=\"30\" tiff:ImageLength='20'"),
    (
      "exif:PixelXDimension=\"4000\" exif:PixelYDimension=\"\"",
      "exif:PixelXDimension=\"30\" exif:PixelYDimension=\"20\"",
    ),
    ("xmpNote:HasExtendedXMP=\"0123\" xmp:Rating=\"3\"", "xmp:Rating=\"3\""),
    ("hdrgm:Version=\"1.0\" Camera:MotionPhoto=\"1\" Camera:Other=\"2\"", "Camera:Other=\"2\""),
    (
      "xmp:Label=\"tiff:Width &lt; 1 &#169;\" Device:Name=\"x\"",
      "xmp:Label=\"tiff:Width &lt; 1 &#169;\" Device:Name=\"x\"",
    ),
  ])
  func attributesChange(before: String, after: String) {
    #expect(Self.keep(XMPFile.packet(attributes: before)) == XMPFile.packet(attributes: after))
  }

  @Test(arguments: [
    ("<tiff:Orientation>6</tiff:Orientation>", "<tiff:Orientation>1</tiff:Orientation>"),
    ("<t:Orientation\n>6<!-- 6 --></t:Orientation >", "<t:Orientation\n>1</t:Orientation >"),
    ("<tiff:Orientation rdf:value='6'/>", "<tiff:Orientation>1</tiff:Orientation>"),
    (
      "<tiff:Orientation rdf:parseType='Resource'><rdf:value>6</rdf:value></tiff:Orientation>",
      "<tiff:Orientation>1</tiff:Orientation>",
    ),
    (
      "<tiff:ImageWidth>4000</tiff:ImageWidth><exif:PixelYDimension>1</exif:PixelYDimension>",
      "<tiff:ImageWidth>30</tiff:ImageWidth><exif:PixelYDimension>20</exif:PixelYDimension>",
    ),
    (
      "a<xmp:Thumbnails><rdf:Alt><rdf:li xmpGImg:image='/9j/'><xmp:Thumbnails/></rdf:li></rdf:Alt></xmp:Thumbnails>b",
      "ab",
    ),
    ("<xmpNote:HasExtendedXMP>01</xmpNote:HasExtendedXMP><xmp:Rating>3</xmp:Rating>", "<xmp:Rating>3</xmp:Rating>"),
    ("<Container:Directory><rdf:Seq/></Container:Directory><Camera:MicroVideo/>", ""),
    (
      "<dc:title><![CDATA[<tiff:ImageWidth>4</tiff:ImageWidth>]]></dc:title>",
      "<dc:title><![CDATA[<tiff:ImageWidth>4</tiff:ImageWidth>]]></dc:title>",
    ),
    (
      "<xmpMM:Pantry><rdf:Bag tiff:ImageWidth='7'/></xmpMM:Pantry>",
      "<xmpMM:Pantry><rdf:Bag tiff:ImageWidth='7'/></xmpMM:Pantry>",
    ),
    (
      "<xmpMM:Pantry><rdf:Bag tiff:Orientation='7'/></xmpMM:Pantry>",
      "<xmpMM:Pantry><rdf:Bag tiff:Orientation='1'/></xmpMM:Pantry>",
    ),
  ])
  func elementsChange(before: String, after: String) {
    #expect(Self.keep(XMPFile.packet(before)) == XMPFile.packet(after))
  }

  @Test
  func thePaddingGoes() {
    #expect(
      Self.keep(XMPFile.packet("<dc:format>x</dc:format>", padding: 2000)) == XMPFile.packet("<dc:format>x</dc:format>")
    )
    #expect(Self.keep(Data((XMPFile.packet() + "\0\0").utf8)) == XMPFile.packet())
  }

  @Test(arguments: [
    "", " ", "x", "<", "<a", "<a>", "<a></b>", "</a>", "<a/><b/>", "<a/>x", "<a b/>", "<a b=c/>", "<a b='1' b='2'/>",
    "<a b='<'/>", "<a>&b;</a>", "<a>&</a>", "<a>&#0;</a>", "<a>\u{1}</a>", "<!DOCTYPE a><a/>", "<!-- --", "<?a",
    "<a><![CDATA[</a>", "<1/>", "<a b='1'c='2'/>", "<a b='&#xD800;'/>", "<a><!-- -- --></a>", "<hdrgm:a/>",
    "<a>tiff:Orientation=\"6\"</a>",
  ])
  func whatIsNoXMLIsLeftOut(text: String) {
    #expect(Self.keep(text) == nil)
  }

  @Test
  func whatIsNotUTF8IsLeftOut() {
    #expect(Self.keep(Data([0x3C, 0x61, 0x3E, 0xFF, 0x3C, 0x2F, 0x61, 0x3E])) == nil)
    #expect(Self.keep(Data("<a/>".utf16.flatMap { [UInt8(0), UInt8($0)] })) == nil)
    #expect(Self.keep(Data([0xEF, 0xBB, 0xBF] + Array("<a/>".utf8))) == "\u{FEFF}<a/>")
  }

  @Test
  func nestingHasAnEnd() {
    func nested(_ depth: Int) -> String {
      String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
    }

    #expect(Self.keep(nested(200)) != nil)
    #expect(Self.keep(nested(100_000)) == nil)
  }

  @Test
  func spoiledPacketsAreReadWithoutHarm() throws {
    let packet = Data(
      XMPFile.packet(
        attributes: "tiff:Orientation='6' dc:rights='&amp;'",
        "<tiff:ImageWidth>4</tiff:ImageWidth><xmp:Thumbnails><rdf:Alt/></xmp:Thumbnails><dc:creator>x</dc:creator>"
          + "<!-- x --><![CDATA[y]]>",
      ).utf8
    )
    var generator = SplitMix64(seed: 8)
    let end = try #require(packet.firstRange(of: Data("</x:xmpmeta>".utf8))).upperBound
    for count in 0..<end { #expect(Self.keep(packet.prefix(count)) == nil) }
    for _ in 0..<2000 {
      var spoiled = packet
      for _ in 0..<2 {
        let place = Int.random(in: 0..<packet.count, using: &generator)
        spoiled[place] = Array("<>/='\"&; :-!?[]x\u{1}".utf8).randomElement(using: &generator) ?? 0
      }
      if let result = Self.keep(spoiled) {
        try #require(!result.contains("tiff:Orientation='6'"))
        try #require(Self.keep(result) == result)
      }
      let metadata = ImageMetadata.made(xmp: String(decoding: spoiled, as: UTF8.self))
      _ = MetadataPolicy.only(.author, .copyright).written(metadata, width: 1, height: 1)
    }
  }
}
