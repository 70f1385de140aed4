import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// Gain maps from a file through the steps of a picture and into another file.
struct GainMapTests {
  private static let formula = GainMapFormula(minimum: -0.5, maximum: 2)

  /// A picture of 160x120, and a map that looks like it at half its size.
  private func picture(_ formula: GainMapFormula = formula) -> ImageContainer {
    var image = ImageContainer(.testPattern(width: 160, height: 120))
    image.gainMap = GainMap(.testPattern(width: 80, height: 60), formula)
    return image
  }

  private func file(_ formula: GainMapFormula = formula, _ metadata: MetadataPolicy = .keep) throws -> Data {
    try encode(picture(formula), metadata)
  }

  private func encode(_ image: ImageContainer, _ metadata: MetadataPolicy = .keep) throws -> Data {
    let encoding = ImageEncoding.jpeg(quality: 95, subsampling: .yuv444).metadata(metadata)
    return try EncoderRegistry.standard.encode(image, as: encoding).data
  }

  private func decode(_ data: Data, _ change: (inout DecodeOptions) -> Void = { _ in }) throws -> ImageContainer {
    var options = DecodeOptions()
    options.dynamicRange = .high
    change(&options)
    return try DecoderRegistry.standard.decode(data, options)
  }

  /// Expects a map that shows what the picture does.
  private func expectMatch(
    _ image: ImageContainer,
    size: [Int]? = nil,
    sourceLocation: SourceLocation = #_sourceLocation,
  )
    throws
  {
    let map = try #require(image.gainMap, sourceLocation: sourceLocation).bitmap
    if let size { #expect(map.size == size, sourceLocation: sourceLocation) }
    let small = try image.bitmap.resized(to: .pixels(Double(map.width), Double(map.height), .exact))
    #expect(map.psnr(against: small) > 26, sourceLocation: sourceLocation)
  }

  // MARK: Files

  @Test
  func aFileHasTheMapAgain() throws {
    let image = try decode(file(GainMapFormulaTests.varied.atRest))
    try expectMatch(image, size: [80, 60])
    #expect(image.gainMap?.formula == GainMapFormulaTests.varied.atRest)
    #expect(try DecoderRegistry.standard.decode(file(), DecodeOptions()).gainMap == nil)
  }

  @Test
  func whoKnowsNoMapsSeesThePictureAlone() throws {
    let plain = try encode(ImageContainer(picture().bitmap))
    #expect(
      try DecoderRegistry.standard.decode(file()).bitmap.content
        == DecoderRegistry.standard.decode(plain).bitmap.content
    )
  }

  @Test(
    arguments: [
      (.strip, false), (.keep, true), (.only(.gainMap), true), (.only(.author, .gainMap), true),
      (.only(.author), false),
    ] as [(MetadataPolicy, Bool)]
  )
  func thePolicyDecides(policy: MetadataPolicy, keeps: Bool) throws {
    #expect((try decode(file(Self.formula, policy)).gainMap != nil) == keeps)
  }

  /// CIPA DC-007 and the container of Ultra HDR: lengths and places lead to the map.
  @Test
  func bothListsLeadToTheMap() throws {
    let data = try file()
    let index = try #require(data.firstRange(of: Data("MPF\0".utf8))).upperBound - data.startIndex
    func number(_ place: Int) -> Int { data.reading { Int($0.bigEndian32(at: place) ?? 0) } }
    let (first, second, offset) = (number(index + 54), number(index + 70), number(index + 74))
    #expect(first + second == data.count)
    #expect(index + offset == first)
    #expect(data.dropFirst(first).starts(with: [0xFF, 0xD8, 0xFF]))
    #expect(data.prefix(first).suffix(2).elementsEqual([0xFF, 0xD9]))
    #expect(data.firstRange(of: Data("Item:Length=\"\(second)\"".utf8)) != nil)
  }

  /// Readers before ISO 21496-1 know the one form, those after it may know the other alone.
  @Test(arguments: [[Array("http://ns.adobe.com".utf8)], [Array("urn:iso:std".utf8)]])
  func eachFormIsEnough(removed: [[UInt8]]) throws {
    var data = try file()
    for name in removed {
      while let range = data.firstRange(of: Data(name)) { data[range.lowerBound] = UInt8(ascii: "x") }
    }
    let image = try decode(data)
    try expectMatch(image)
    #expect(image.gainMap?.formula == Self.formula)
  }

  @Test
  func otherPropertiesStayInTheFile() throws {
    var image = picture()
    image.metadata = ImageMetadata()
    image.metadata?.xmp = XMP.packet(
      "<rdf:Description xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:hdrgm=\"\(GainMapFormula.namespace)\""
        + " hdrgm:Version=\"9\" dc:creator=\"Ada\"/>"
    )
    let metadata = try DecoderRegistry.standard.metadata(of: encode(image))
    let xmp = String(decoding: try #require(metadata.xmp), as: UTF8.self)
    #expect(xmp.contains("dc:creator=\"Ada\""))
    #expect(xmp.contains("hdrgm:Version=\"1.0\""))
    #expect(!xmp.contains("hdrgm:Version=\"9\""))
    #expect(try decode(encode(image)).gainMap != nil)
  }

  /// The map's file has the profile of the colour space whose gains it has.
  @Test(arguments: ColorSpace.allCases)
  func theColorSpaceOfGainsIsKept(space: ColorSpace) throws {
    var formula = GainMapFormulaTests.varied.atRest
    formula.colorSpace = space
    let image = try decode(file(formula)) { $0.colorSpace = space }
    #expect(image.gainMap?.formula == formula)
    // Gains are no colours: the profile does not change them.
    try expectMatch(image, size: [80, 60])
  }

  // MARK: Decoding

  @Test(arguments: [
    (TargetSize.pixels(40), [20, 15]), (.pixels(80, 40, .fill), [40, 20]), (.pixels(60, 60, .fill), [30, 30]),
    (.pixels(30, 70, .exact), [15, 35]), (.pixels(1_000), [80, 60]), (.pixels(1), [1, 1]),
  ])
  func theMapHasItsOwnScale(size: TargetSize, expected: [Int]) throws {
    let image = try decode(file()) { $0.size = size }
    #expect(image.gainMap?.bitmap.size == expected)
    if expected[0] > 1 { try expectMatch(image) }
  }

  @Test
  func aRegionHasItsPartOfTheMap() throws {
    let image = try decode(file()) { $0.region = PixelRegion(x: 80, y: 0, width: 60, height: 100) }
    try expectMatch(image, size: [30, 50])
  }

  @Test(arguments: Orientation.allCases)
  func theMapIsTurnedWithThePicture(orientation: Orientation) throws {
    let data = try file().withEXIF(orientation)
    // The list counts from its own place.
    for size in [nil, TargetSize.pixels(50, 50, .fill)] {
      let image = try decode(data) { $0.size = size }
      try expectMatch(image, size: size == nil ? (orientation.swapsAxes ? [60, 80] : [80, 60]) : [25, 25])
    }
  }

  // MARK: Steps

  @Test(
    arguments: [
      (.resize(.pixels(80)), [40, 30]), (.resize(.pixels(320, 240, .exact, enlarges: true)), [80, 60]),
      (.resize(width: .fraction(0.5)), [40, 30]),
      (.crop(PixelRegion(x: 20, y: 10, width: 100, height: 80)), [50, 40]),
      (.crop(width: 60, height: 60, anchor: .bottomRight), [30, 30]), (.crop(aspectRatio: 1), [60, 60]),
      (.smartCrop(width: 60, height: 60), [30, 30]), (.smartCrop(aspectRatio: 0.5), [30, 60]),
      (.flip(.horizontal), [80, 60]), (.flip(.vertical), [80, 60]), (.rotate(degrees: 90), [60, 80]),
      (.rotate(degrees: 180), [80, 60]), (.rotate(quarterTurns: -1), [60, 80]), (.rotate(degrees: 0), [80, 60]),
      (.chain([.crop(aspectRatio: 1), .rotate(degrees: 90), .resize(.pixels(60))]), [30, 30]),
    ] as [(ImageProcessor, [Int])]
  )
  func stepsThatMovePixelsMoveTheMap(step: ImageProcessor, expected: [Int]) throws {
    try expectMatch(try step.process(picture()), size: expected)
  }

  @Test
  func trimmingTrimsTheMap() throws {
    let frame = Bitmap.pixels(width: 160, height: 120, alpha: .opaque) { x, y in
      (40..<120).contains(x) && (20..<100).contains(y) ? SIMD4(200, 30, 60, 255) : SIMD4(repeating: 255)
    }
    var image = ImageContainer(frame)
    image.gainMap = GainMap(try frame.resized(to: .pixels(80)), Self.formula)
    let result = try ImageProcessor.trim().process(image)
    #expect(result.bitmap.size == [80, 80])
    #expect(result.gainMap?.bitmap.size == [40, 40])
    #expect(result.gainMap?.bitmap[20, 20].isWithin(3, of: SIMD4(200, 30, 60, 255)) == true)
  }

  /// A map of other colours would be wrong.
  @Test(
    arguments: [
      .grayscale(), .blur(radius: 2), .exposure(1), .roundedCorners(radius: 4), .rotate(degrees: 30), .sepia(),
      .padding(top: 4, right: 4), .custom(id: "same size") { try $0.resized(to: .pixels(10)) },
    ] as [ImageProcessor]
  )
  func stepsThatChangeColorsLeaveNone(step: ImageProcessor) throws {
    #expect(try step.process(picture()).gainMap == nil)
  }

  @Test(arguments: [
    ("rs:fill:60:40", [30, 20]), ("rs:fill:60:40|g:sm", [30, 20]), ("w:80|rot:90", [40, 54]),
    ("c:100:80|w:50", [25, 20]),
    ("w:40|dpr:2", [40, 30]), ("rs:fill-down:80:80|mw:20", [40, 40]),
  ])
  func operationsKeepTheMap(text: String, expected: [Int]) throws {
    let plan = try ImageOperations(text).plan()
    var image = try decode(file()) { $0.size = plan.size }
    for step in plan.processors { image = try step.process(image) }
    try expectMatch(image, size: expected)
  }

  // MARK: Damage and limits

  @Test
  func aDamagedMapIsNone() throws {
    let data = try file()
    let start = try #require(secondStart(data))
    // Its frame says a precision that does not exist.
    var broken = data
    let frame = try #require(data.dropFirst(start).firstRange(of: Data([0xFF, 0xC0]))).upperBound
    broken[frame + 2] = 77
    let image = try decode(broken)
    #expect(image.gainMap == nil)
    #expect(image.bitmap.size == [160, 120])
    // Without its end, or all of it.
    #expect(try decode(data.prefix(start + 100)).bitmap.size == [160, 120])
    #expect(try decode(data.prefix(start)).gainMap == nil)
  }

  /// The gains of missing rows would be gains of nothing.
  @Test
  func aDamagedPictureHasNone() throws {
    let data = try file()
    let start = try #require(secondStart(data))
    var broken = data
    // The picture's file ends within its scan, and the list still leads to the map.
    broken.replaceSubrange(start * 3 / 4..<start * 3 / 4 + 2, with: [0xFF, 0xD9])
    let image = try decode(broken) { $0.acceptsPartial = true }
    #expect(image.damage != nil)
    #expect(image.gainMap == nil)
  }

  @Test
  func numbersThatMakeNoSenseAreErrors() throws {
    let changes: [(inout GainMapFormula) -> Void] = [
      { $0.gamma.x = 0 }, { $0.alternateHeadroom = 0 }, { $0.maximum.y = .nan },
    ]
    for change in changes {
      var formula = Self.formula
      change(&formula)
      let written = #expect(throws: ImageError.self) { try file(formula) }
      #expect(written?.code == .notEncodable)
      let image = picture(formula)
      let map = try #require(image.gainMap)
      let made = #expect(throws: ImageError.self) { _ = try HighRangeBitmap(image.bitmap, map) }
      #expect(made?.code == .processingFailed)
    }
  }

  @Test
  func aListThatLeadsBackIsNone() throws {
    let data = try file()
    let index = try #require(data.firstRange(of: Data("MPF\0".utf8))).upperBound
    for offset in [0, 1, -8, Int(Int32.max), -1] {
      var broken = data
      broken.replaceSubrange(index + 74..<index + 78, with: [UInt8].big32(offset))
      #expect(try decode(broken).gainMap == nil)
    }
    var endless = data
    endless.replaceSubrange(index + 4..<index + 8, with: [0xFF, 0xFF, 0xFF, 0xFF])
    #expect(try decode(endless).gainMap == nil)
  }

  /// The file is small, and its map says 30,000x30,000 pixels.
  @Test
  func aMapBeyondTheLimitsIsRefusedByItsHeader() throws {
    var data = try file()
    let start = try #require(secondStart(data))
    let frame = try #require(data.dropFirst(start).firstRange(of: Data([0xFF, 0xC0]))).upperBound
    data.replaceSubrange(frame + 3..<frame + 7, with: [UInt8].big16(30_000) + .big16(30_000))
    #expect(#expect(throws: ImageError.self) { try decode(data) }?.limit == .pixelCount)
    let error = #expect(throws: ImageError.self) { try decode(data) { $0.limits.pixelCount = 500_000_000 } }
    #expect(error?.code == .overLimit)
    #expect(error?.detail.hasPrefix("gain map: ") == true)
    // The picture alone is as it was.
    #expect(try decode(data) { $0.dynamicRange = .standard }.bitmap.size == [160, 120])
  }

  /// What the picture has taken is not there for the map.
  @Test
  func picturesAndMapsShareTheLimits() throws {
    let data = try file()
    #expect(try decode(data) { $0.limits.pixelCount = 160 * 120 + 80 * 60 }.gainMap != nil)
    #expect(throws: ImageError.self) { try decode(data) { $0.limits.pixelCount = 160 * 120 + 80 * 60 - 1 } }
    #expect(try decode(data) { $0.limits.outputByteCount = 4 * (160 * 120 + 80 * 60) }.gainMap != nil)
    #expect(throws: ImageError.self) { try decode(data) { $0.limits.outputByteCount = 4 * (160 * 120 + 80 * 60) - 1 } }
  }

  private func secondStart(_ data: Data) -> Int? {
    data.firstRange(of: Data([0xFF, 0xD9, 0xFF, 0xD8]))?.lowerBound.advanced(by: 2)
  }
}

extension GainMapFormula {
  /// The same for a picture that every display can show.
  fileprivate var atRest: GainMapFormula {
    var other = self
    other.baseHeadroom = 0
    return other
  }
}
