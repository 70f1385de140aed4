import Testing
import VitrineAVIF
import VitrineHEIF
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// Gain maps of AVIF and HEIC, which other programs wrote.
@Suite(.needsCorpus)
struct GainMapTests {
  private func decode(_ path: String, _ size: TargetSize? = nil) throws -> ImageContainer {
    try decode(try Corpus.data(path), size)
  }

  private func decode(_ data: Data, _ size: TargetSize? = nil) throws -> ImageContainer {
    var decoders = DecoderRegistry.standard
    decoders.add(AVIFDecoder())
    decoders.add(HEIFDecoder())
    var options = DecodeOptions(size: size)
    options.dynamicRange = .high
    return try decoders.decode(data, options)
  }

  /// The same picture is there as JPEG, from which libavif made these.
  @Test(arguments: [
    ("seine_sdr_gainmap_srgb", [400, 300]), ("seine_sdr_gainmap_srgb_icc", [400, 300]),
    ("seine_sdr_gainmap_big_srgb", [400, 300]), ("seine_sdr_gainmap_notmapbrand", [400, 300]),
  ])
  func mapsOfAVIFAreThoseOfTheJPEG(name: String, size: [Int]) throws {
    let jpeg = try #require(try decode("avif/tests/data/seine_sdr_gainmap_srgb.jpg").gainMap)
    let map = try #require(try decode("avif/tests/data/\(name).avif").gainMap)
    #expect(map.bitmap.size == size)
    #expect(map.bitmap.psnr(against: jpeg.bitmap) > 25)
    for (own, other) in [(map.formula.minimum, jpeg.formula.minimum), (map.formula.maximum, jpeg.formula.maximum)] {
      #expect((0..<3).allSatisfy { abs(own[$0] - other[$0]) < 1e-5 })
    }
  }

  /// The bright picture has its own primaries; a flag of the numbers says whether the gains are for those.
  @Test(arguments: [(0xC0, ColorSpace.sRGB), (0x80, .displayP3)] as [(UInt8, ColorSpace)])
  func gainsAreOfTheColorsThatTheFileSays(flags: UInt8, space: ColorSpace) throws {
    var file = Array(try Corpus.data("avif/tests/data/seine_sdr_gainmap_srgb.avif").reading { $0.copy() })
    // Primaries of Display P3 in place of sRGB's, before PQ.
    let color = Array("nclx".utf8) + [0, 1, 0, 16]
    let numbers: [UInt8] = [0, 0, 0, 0, 0, 0xC0]
    let places = try [color, numbers].map { part in
      try #require((0..<file.count - part.count).first { file[$0..<$0 + part.count].elementsEqual(part) })
    }
    (file[places[0] + 5], file[places[1] + 5]) = (12, flags)
    #expect(try decode(Data(file)).gainMap?.formula.colorSpace == space)
  }

  @Test
  func aFormulaWithoutGammaIsNone() throws {
    #expect(try decode("avif/tests/data/seine_sdr_gainmap_gammazero.avif").gainMap == nil)
  }

  /// They are in PQ; some have maps that make them darker, and some have numbers of a later version.
  @Test(arguments: [
    "colors_hdr_srgb", "colors_hdr_p3", "colors_hdr_rec2020", "seine_hdr_srgb", "seine_hdr_gainmap_srgb",
    "seine_hdr_gainmap_small_srgb", "seine_hdr_gainmap_wrongaltr", "unsupported_gainmap_version",
  ])
  func picturesOfHighRangeGetAMapOfTheirOwn(name: String) throws {
    let image = try decode("avif/tests/data/\(name).avif")
    let map = try #require(image.gainMap)
    #expect(image.info.dynamicRange == .high)
    #expect(map.bitmap.size == [(image.bitmap.width + 1) / 2, (image.bitmap.height + 1) / 2])
    if let headroom = image.info.headroom { #expect(abs(map.formula.headroom / headroom - 1) < 0.001) }
    // In another file it is the same.
    let file = try EncoderRegistry.standard.encode(image, as: .jpeg().metadata(.only(.gainMap))).data
    var options = DecodeOptions()
    options.dynamicRange = .high
    let again = try #require(try DecoderRegistry.standard.decode(file, options).gainMap)
    #expect(abs(again.formula.headroom / map.formula.headroom - 1) < 0.001)
    #expect(again.bitmap.psnr(against: map.bitmap) > 25)
  }

  @Test
  func aMapOfHEICIsTheAuxiliaryPicture() throws {
    let image = try decode("photos/heic/mobile/iphone_13_pro_max.HEIC", .pixels(400))
    let map = try #require(image.gainMap)
    #expect(image.bitmap.size == [300, 400])
    #expect(map.bitmap.size == [150, 200])
    #expect(map.formula.headroom > 1.5 && map.formula.headroom < 9)
    // What is brightened is bright: the map is not turned against the picture.
    let gray = try image.bitmap.resized(to: .pixels(150, 200, .exact))
    var (bright, dark) = ([Int](), [Int]())
    for y in 0..<200 {
      for x in 0..<150 {
        if map.bitmap[x, y].x > 200 { bright.append(Int(gray[x, y].y)) }
        if map.bitmap[x, y].x < 20 { dark.append(Int(gray[x, y].y)) }
      }
    }
    #expect(bright.isEmpty || bright.reduce(0, +) / bright.count > dark.reduce(0, +) / max(1, dark.count) + 50)
  }
}
