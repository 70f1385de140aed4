import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// The faces and subjects that files name.
struct SubjectRegionTests {
  /// The patch that stands for a face, in a stored picture of 80 x 60 pixels.
  private static let patch = (x: 48..<64, y: 6..<18)

  private static func isPatch(_ pixel: SIMD4<UInt8>) -> Bool { pixel.x > 180 && pixel.y < 100 }

  /// A picture as it is stored, with a red patch.
  private static let stored = Bitmap.pixels(width: 80, height: 60, alpha: .opaque) { x, y in
    patch.x.contains(x) && patch.y.contains(y) ? SIMD4(255, 0, 0, 255) : SIMD4(40, 200, 60, 255)
  }

  /// XMP with one region, in the form of Adobe's programs.
  private static func packet(
    _ type: String = "Face",
    area: String = #"stArea:x="0.7" stArea:y="0.2" stArea:w="0.2" stArea:h="0.2" stArea:unit="normalized""#,
    orientation: Int = 1,
  ) -> [UInt8] {
    list(
      orientation: orientation,
      #"<rdf:li><rdf:Description mwg-rs:Name="Zoë" mwg-rs:Type="\#(type)"><mwg-rs:Area \#(area)/>"#
        + "</rdf:Description></rdf:li>",
    )
  }

  private static func list(orientation: Int = 1, prefix: String = "mwg-rs", _ items: String) -> [UInt8] {
    .text(
      """
      <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
      <rdf:Description tiff:Orientation="\(orientation)" xmlns:tiff="http://ns.adobe.com/tiff/1.0/"
        xmlns:\(prefix)="http://www.metadataworkinggroup.com/schemas/regions/"
        xmlns:stDim="http://ns.adobe.com/xap/1.0/sType/Dimensions#" xmlns:stArea="http://ns.adobe.com/xmp/sType/Area#">
      <\(prefix):Regions rdf:parseType="Resource"><\(prefix):AppliedToDimensions stDim:w="80" stDim:h="60" stDim:unit="pixel"/>
      <\(prefix):RegionList><rdf:Bag>\(items)</rdf:Bag></\(prefix):RegionList></\(prefix):Regions>
      </rdf:Description></rdf:RDF></x:xmpmeta>
      """
    )
  }

  /// EXIF with an area of the main subject.
  private static func exif(_ numbers: [Int], sides: (Int, Int)? = (80, 60), littleEndian: Bool = false) -> [UInt8] {
    func two(_ value: Int) -> [UInt8] { littleEndian ? .little16(value) : .big16(value) }
    func four(_ value: Int) -> [UInt8] { littleEndian ? .little32(value) : .big32(value) }
    let count = sides == nil ? 1 : 3
    let end = 26 + 2 + 12 * count + 4
    let values = numbers.flatMap(two)
    var entries: [UInt8] = two(0x9214)
    entries += two(3)
    entries += four(numbers.count)
    entries += values.count > 4 ? four(end) : values + [UInt8](repeating: 0, count: 4 - values.count)
    for (tag, side) in sides.map({ [(0xA002, $0.0), (0xA003, $0.1)] }) ?? [] {
      entries += two(tag)
      entries += two(4)
      entries += four(1)
      entries += four(side)
    }
    var block: [UInt8] = .text(littleEndian ? "II" : "MM")
    block += two(42)
    block += four(8)
    // A directory with nothing but the place of the next.
    block += two(1)
    block += two(0x8769)
    block += two(4)
    block += four(1)
    block += four(26)
    block += four(0)
    block += two(count)
    block += entries
    block += four(0)
    return block + values
  }

  private static func jpeg(xmp: [UInt8]? = nil, exif: [UInt8]? = nil) throws -> Data {
    var file = try stored.encoded(as: ImageEncoding(.jpeg, quality: 95))
    if let exif { file = file.withJPEGSegment(0xE1, .text("Exif\0\0") + exif) }
    if let xmp { file = file.withJPEGSegment(0xE1, .text("http://ns.adobe.com/xap/1.0/\0") + xmp) }
    return file
  }

  private func subjects(xmp: [UInt8]? = nil, exif: [UInt8]? = nil) throws -> [SubjectRegion] {
    try decode(Self.jpeg(xmp: xmp, exif: exif)).subjects
  }

  private func expectPatch(_ region: SubjectRegion?) throws {
    let region = try #require(region)
    for (found, wanted) in [
      (region.x, 0.6), (region.y, 0.1), (region.width, 0.2), (region.height, 0.2),
    ] { #expect(abs(found - wanted) < 1e-9, "\(region)") }
  }

  /// The subject of an image is where the patch is.
  private func expectPatch(in image: ImageContainer) throws {
    let (bitmap, region) = (image.bitmap, try #require(image.subjects.first))
    let x = Int((region.x + region.width / 2) * Double(bitmap.width))
    let y = Int((region.y + region.height / 2) * Double(bitmap.height))
    #expect(Self.isPatch(bitmap[x, y]), "\(region) of \(bitmap.size)")
    let all = bitmap.pixels.count { Self.isPatch($0) }
    let (width, height) = (region.width * Double(bitmap.width), region.height * Double(bitmap.height))
    // Pixels at the edges have mixed colours.
    let difference = abs(Double(all) - width * height)
    #expect(difference < 0.1 * width * height + width + height, "\(all) pixels of \(width) x \(height)")
  }

  // MARK: XMP

  @Test(arguments: Shape.isApple ? ["jpeg", "png"] : ["jpeg", "png", "webp"], 1...8)
  func aFaceIsWhereItIsInTheUprightPicture(format: String, orientation: Int) throws {
    let packet = Self.packet(orientation: orientation)
    let file =
      switch format {
      case "jpeg": try Self.jpeg(xmp: packet)
      case "png": try Self.stored.encoded(as: .png).withPNGChunk("iTXt", .text("XML:com.adobe.xmp\0\0\0\0\0") + packet)
      default: try Self.stored.encoded(as: .webp).withWebPChunk("XMP ", packet)
      }
    let image = try decode(file)
    #expect(image.subjects.map(\.kind) == [.face])
    #expect(image.info.orientation.rawValue == orientation)
    try expectPatch(in: image)
    // And in a part of it, in few pixels.
    let options = DecodeOptions(size: .pixels(50, 50, .fill))
    try expectPatch(in: DecoderRegistry.standard.decode(Self.jpeg(xmp: packet), options))
  }

  @Test(arguments: [
    #"<rdf:li rdf:parseType="Resource"><mwg-rs:Type>Face</mwg-rs:Type><mwg-rs:Area rdf:parseType="Resource"><stArea:x>0.7</stArea:x><stArea:y> 0.2 </stArea:y><stArea:w>0.2</stArea:w><stArea:h>0.2</stArea:h></mwg-rs:Area></rdf:li>"#,
    #"<rdf:li mwg-rs:Type="Face"><mwg-rs:Area stArea:x="56" stArea:y="12" stArea:w="16" stArea:h="12" stArea:unit="pixel"/></rdf:li>"#,
    #"<rdf:li><rdf:Description mwg-rs:Type="BarCode"><mwg-rs:Area stArea:x="0.1" stArea:y="0.1" stArea:w="0.1" stArea:h="0.1"/></rdf:Description></rdf:li><rdf:li><rdf:Description mwg-rs:Type="Face"><mwg-rs:Extensions><rdf:Bag><rdf:li>other</rdf:li></rdf:Bag></mwg-rs:Extensions><mwg-rs:Area stArea:x="0.7" stArea:y="0.2" stArea:w="0.2" stArea:h="0.2"/></rdf:Description></rdf:li>"#,
  ])
  func itIsReadInEveryForm(items: String) throws {
    let found = try subjects(xmp: Self.list(items))
    #expect(found.count == 1)
    try expectPatch(found.first)
  }

  @Test
  func namesCountAndNotTheirPrefixes() throws {
    let items = #"<rdf:li r:Type="Face"><r:Area stArea:x="0.7" stArea:y="0.2" stArea:w="0.2" stArea:h="0.2"/></rdf:li>"#
    try expectPatch(try subjects(xmp: Self.list(prefix: "r", items)).first)
  }

  @Test
  func aCircleIsRelativeToTheShorterSide() throws {
    let found = try #require(
      try subjects(xmp: Self.packet(area: #"stArea:x="0.7" stArea:y="0.2" stArea:d="0.2""#)).first
    )
    #expect(abs(found.width * 80 - found.height * 60) < 1e-9 && abs(found.height - 0.2) < 1e-9)
  }

  @Test
  func kindsAreToldApart() throws {
    #expect(try subjects(xmp: Self.packet("Pet")).map(\.kind) == [.pet])
    #expect(try subjects(xmp: Self.packet("Focus")).map(\.kind) == [.subject])
    #expect(try subjects(xmp: Self.packet("BarCode")) == [])
  }

  @Test(arguments: [
    #"stArea:x="nan" stArea:y="0.2" stArea:w="0.2" stArea:h="0.2""#, #"stArea:x="0.7" stArea:w="0.2" stArea:h="0.2""#,
    #"stArea:x="1e400" stArea:y="0" stArea:w="1" stArea:h="1""#,
    #"stArea:x="7" stArea:y="7" stArea:w="0.1" stArea:h="0.1""#,
    #"stArea:x="0.5" stArea:y="0.5" stArea:w="-1" stArea:h="1""#,
  ])
  func nonsenseIsNoFace(area: String) throws {
    #expect(try subjects(xmp: Self.packet(area: area)) == [])
  }

  @Test
  func thousandsOfFacesAreBounded() throws {
    let item =
      #"<rdf:li mwg-rs:Type="Face"><mwg-rs:Area stArea:x="0.7" stArea:y="0.2" stArea:w="0.2" stArea:h="0.2"/></rdf:li>"#
    #expect(try subjects(xmp: Self.list(String(repeating: item, count: 500))).count == 64)
  }

  @Test
  func aDamagedPacketIsNoReasonToFail() throws {
    let packet = Self.packet()
    let plain = try Self.jpeg()
    for count in stride(from: 0, to: packet.count, by: 7) {
      let file = plain.withJPEGSegment(0xE1, .text("http://ns.adobe.com/xap/1.0/\0") + packet.prefix(count))
      #expect(try decode(file).subjects == [], "\(count)")
    }
  }

  // MARK: EXIF

  @Test(arguments: [true, false])
  func theAreaOfEXIFIsRead(littleEndian: Bool) throws {
    let rectangle = try subjects(exif: Self.exif([56, 12, 16, 12], littleEndian: littleEndian))
    #expect(rectangle.map(\.kind) == [.subject])
    try expectPatch(rectangle.first)
    let circle = try #require(try subjects(exif: Self.exif([56, 12, 12], littleEndian: littleEndian)).first)
    #expect(abs(circle.width - 0.15) < 1e-9 && abs(circle.height - 0.2) < 1e-9)
    let point = try #require(try subjects(exif: Self.exif([56, 12], littleEndian: littleEndian)).first)
    #expect(abs(point.x - 0.65) < 1e-9 && abs(point.width - 0.1) < 1e-9)
  }

  @Test
  func theAreaIsInPixelsOfTheCamera() throws {
    try expectPatch(try subjects(exif: Self.exif([560, 120, 160, 120], sides: (800, 600))).first)
    try expectPatch(try subjects(exif: Self.exif([56, 12, 16, 12], sides: nil)).first)
    // Of a picture that was shrunk since.
    #expect(try subjects(exif: Self.exif([560, 120, 160, 120])) == [])
    #expect(try subjects(exif: Self.exif([56])) == [])
    #expect(try subjects(exif: Self.exif([56, 12, 0, 12])) == [])
  }

  @Test
  func facesComeBeforeTheArea() throws {
    let area = Self.exif([10, 40, 8, 8])
    #expect(try subjects(xmp: Self.packet(), exif: area).map(\.kind) == [.face])
    #expect(try subjects(xmp: Self.packet("BarCode"), exif: area).map(\.kind) == [.subject])
  }

  @Test
  func damagedEXIFHasNone() throws {
    let block = Self.exif([56, 12, 16, 12])
    for count in 0..<block.count {
      #expect(throws: Never.self) { try subjects(exif: Array(block.prefix(count))) }
    }
  }

  // MARK: Processors

  private static let moving: [ImageProcessor] = [
    .flip(.horizontal), .flip(.vertical), .rotate(quarterTurns: 1), .rotate(quarterTurns: 2), .rotate(degrees: 270),
    .resize(.pixels(40, 40)), .resize(.pixels(50, 20, .exact)), .resize(width: .fraction(0.5)),
    .crop(x: .fraction(0.1), y: .fraction(0.05), width: .fraction(0.85), height: .fraction(0.9)), .crop(aspectRatio: 1),
    .grayscale(), .chain([]),
  ]

  @Test
  func itMovesWithThePixels() throws {
    let image = try decode(Self.jpeg(xmp: Self.packet()))
    for first in Self.moving {
      for second in Self.moving {
        let result = try ImageProcessor.chain([first, second]).process(image)
        guard !"\(first)\(second)".contains("gray") else {
          #expect(result.subjects.count == 1)
          continue
        }
        try expectPatch(in: result)
      }
    }
  }

  @Test
  func itIsLostWhereThePlaceIsUnknown() throws {
    let image = try decode(Self.jpeg(xmp: Self.packet()))
    let custom = ImageProcessor.custom(id: "same") { $0.map { $0 } }
    for step in [.rotate(degrees: 10), .padding(top: 5), custom] as [ImageProcessor] {
      #expect(try step.process(image).subjects == [], "\(step)")
    }
    // Another part has none of it.
    #expect(try ImageProcessor.crop(x: 0, y: 30, width: 20, height: 20).process(image).subjects == [])
  }

  @Test
  func aProgramMayNameItsOwn() throws {
    var image = ImageContainer(Self.stored)
    image.subjects = [
      SubjectRegion(.face, x: 0.6, y: 0.1, width: 0.2, height: 0.2),
      SubjectRegion(.pet, x: .nan, y: 0, width: 1, height: 1),
    ]
    #expect(image.subjects.map(\.kind) == [.face])
    image.bitmap = Self.stored
    #expect(image.subjects == [])
  }

  // MARK: Lines

  @Test
  func aLineIsReadAsItWasWritten() throws {
    let regions = [
      SubjectRegion(.face, x: 0.1, y: 1.0 / 3, width: 0.25, height: 0.5),
      SubjectRegion(.subject, x: 0, y: 0, width: 1, height: 1),
    ]
    let read = try #require([SubjectRegion](line: regions.line))
    #expect(read.map(\.kind) == regions.map(\.kind))
    for (one, other) in zip(read, regions) {
      #expect(abs(one.x - other.x) + abs(one.y - other.y) + abs(one.width - other.width) < 1e-12)
    }
    #expect([SubjectRegion](line: "") == [])
    for line in ["face", "face 0 0 1", "ghost 0 0 1 1", "face 0 0 nan 1", "face 2 2 1 1"] {
      #expect([SubjectRegion](line: line) == nil, "\(line)")
    }
  }
}

extension Bitmap {
  /// Other pixels with the same colours.
  fileprivate func map(_ change: (SIMD4<UInt8>) -> SIMD4<UInt8>) -> Bitmap {
    .pixels(width: width, height: height, alpha: alpha) { x, y in change(self[x, y]) }
  }
}
