import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// The JPEG decoder of our own against libjpeg's 1/4 of progressive files.
struct QuarterTests {
  private static func picture(_ file: Data, _ decoder: JPEGDecoder) throws(ImageError) -> EighthDecoding.Picture {
    try EighthDecoding.picture(file, decoder, scale: 0.2)
  }

  private static func expectEqual(_ file: Data, _ comment: String) throws {
    let own = try picture(file, EighthDecoding.own)
    let system = try picture(file, EighthDecoding.system)

    #expect(own.isOwn, "\(comment)")
    #expect(!system.isOwn)
    #expect(own.damage == nil)
    #expect(own.bitmap.size == system.bitmap.size)
    #expect(own.bitmap.largestDifference(from: system.bitmap) == 0, "\(comment)")
  }

  @Test(arguments: [JPEGFile.usualScans, JPEGFile.unusualScans])
  func aProgressiveFileGivesTheBitsOfLibjpeg(scans: [JPEGFile.Scan]) throws {
    for file in EighthTests.files(scans) { try Self.expectEqual(file.data, file.description) }
  }

  @Test(arguments: ["progressive-420", "grey-progressive"])
  func aFixtureGivesTheBitsOfLibjpeg(name: String) throws {
    try Self.expectEqual(Fixture.data("\(name).jpg"), name)
  }

  @Test(arguments: ["red-barn-progressive", "lighthouse-progressive"])
  func aPhotographGivesTheBitsOfLibjpeg(name: String) throws {
    try Self.expectEqual(try Photograph.data("\(name).jpg"), name)
  }

  @Test
  func baselineFilesAndOtherScalesAreLeftToLibjpeg() throws {
    let baseline = JPEGFile(width: 300, height: 200, sampling: EighthTests.quarter).data
    let progressive = JPEGFile(
      width: 300,
      height: 200,
      sampling: EighthTests.quarter,
      scans: JPEGFile.usualScans,
    ).data

    #expect(try !Self.picture(baseline, EighthDecoding.own).isOwn)
    #expect(try !EighthDecoding.picture(progressive, EighthDecoding.own, scale: 0.3).isOwn)
    #expect(try Self.picture(progressive, EighthDecoding.own).bitmap.size == [75, 50])
  }

  @Test(arguments: EighthTests.layouts.indices)
  func otherLayoutsAreNoWorseThanLibjpegMakesThem(layout: Int) throws {
    let file = JPEGFile(width: 96, height: 64, sampling: EighthTests.layouts[layout], scans: JPEGFile.usualScans).data
    let whole = try Bitmap(decoding: file)
    let means = Bitmap.pixels(width: 24, height: 16, alpha: .opaque) { x, y in
      var sum = SIMD4<UInt32>(repeating: 8)
      for index in 0..<16 { sum &+= SIMD4(truncatingIfNeeded: whole[x * 4 + index % 4, y * 4 + index / 4]) }
      return SIMD4(truncatingIfNeeded: sum / 16)
    }

    let own = try Self.picture(file, EighthDecoding.own)
    let system = try Self.picture(file, EighthDecoding.system)

    // Halved in one direction, or in both by other components; eight cells of a block in a row are left to libjpeg.
    #expect(own.isOwn == [0, 1, 4, 5].contains(layout))
    if own.isOwn {
      #expect(means.psnr(against: own.bitmap) >= means.psnr(against: system.bitmap))
    } else {
      #expect(own.bitmap.largestDifference(from: system.bitmap) == 0)
    }
  }

  @Test
  func everyPrefixIsWhatLibjpegMakesOfIt() throws {
    let file = JPEGFile(
      width: 83,
      height: 61,
      sampling: EighthTests.quarter,
      restartInterval: 7,
      scans: JPEGFile.usualScans,
    ).data

    for count in stride(from: 2, to: file.count, by: 3) {
      Self.expectSameResult(file.prefix(count), "\(count) bytes")
    }
  }

  private static func expectSameResult(_ file: Data, _ comment: String) {
    let own = Result { () throws(ImageError) in try picture(file, EighthDecoding.own) }
    let system = Result { () throws(ImageError) in try picture(file, EighthDecoding.system) }
    switch (own, system) {
    case (.success(let own), .success(let system)):
      #expect(own.bitmap.largestDifference(from: system.bitmap) == 0, "\(comment)")
      #expect(own.damage == system.damage, "\(comment)")
    case (.failure(let own), .failure(let system)): #expect(own.code == system.code, "\(comment)")
    default: Issue.record("\(comment): \(own), \(system)")
    }
  }

  @Test
  func damageNeverReachesBeyondThePicture() throws {
    let file = JPEGFile(
      width: 83,
      height: 61,
      sampling: EighthTests.quarter,
      restartInterval: 7,
      scans: JPEGFile.usualScans,
    ).data
    let data = try #require(file.firstRange(of: Data([0xFF, 0xDA]))).upperBound
    var generator = SplitMix64(seed: 6)
    var pictureCount = 0

    for _ in 0..<400 {
      var spoiled = file
      for _ in 0..<3 {
        spoiled[.random(in: data..<file.count, using: &generator)] = .random(in: 0...255, using: &generator)
      }
      guard let own = try? Self.picture(spoiled, EighthDecoding.own) else { continue }
      #expect(own.bitmap.size == [21, 16])
      pictureCount += 1
    }

    #expect(pictureCount > 0)
  }

  @Test(.needsCorpus)
  func aCorpusFileLooksAsLibjpegShowsIt() throws {
    var ownCount = 0
    for path in Corpus.files(in: "", ending: ".jpg") + Corpus.files(in: "", ending: ".jpeg") {
      let file = try Corpus.data(path)
      guard let system = try? Self.picture(file, EighthDecoding.system) else {
        #expect((try? Self.picture(file, EighthDecoding.own)) == nil, "\(path)")
        continue
      }
      let own = try Self.picture(file, EighthDecoding.own)
      // Chroma that libjpeg repeats may differ.
      #expect(own.bitmap.psnr(against: system.bitmap) > 25, "\(path)")
      #expect(own.damage == system.damage)
      ownCount += own.isOwn ? 1 : 0
    }
    #expect(ownCount > 0)
  }
}
